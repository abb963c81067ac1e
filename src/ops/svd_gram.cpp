#include "ops/svd_gram.hpp"

#include <algorithm>

#include "ops/eigh_tridiagonal.hpp"
#include "ops/factor_product.hpp"
#include "ops/factor_writer.hpp"
#include "ops/matrix_scale.hpp"

namespace adit::ops {

using namespace kernel;

namespace svd_by_gram {
namespace {

// x, or x^H where it is wide.
struct Shape {
  uint32_t length = 0, count = 0;
  bool turned = false, complex = false;
  uint32_t parts() const { return complex ? 2 : 1; }
  Number right(Number x) const { return conjugated(x, complex && turned); }
};

FactorPlan inner_plan(const FactorPlan& plan) {
  FactorPlan inner = plan;
  inner.type = Type::f64;
  inner.m = inner.n = std::min(plan.m, plan.n);
  return inner;
}

// An invocation a number of the columns, scaled, with 32 and with 64 bits: rounded to 32 bits it would be
// another matrix, with small values of its own. Buffers: x, scale, columns, wide; of complex numbers a fifth.
// Their product with themselves is one of real matrices: below the real parts there are the imaginary ones,
// and `beside` has for each column that, and one of the imaginary parts and of the real ones, turned round.
Program filled(const Shape& shape) {
  Builder k("svd_fill", Team::one());
  const bool complex = shape.complex;
  const Array x = k.buffer("x", Type::f32, Access::read), scale = k.buffer("scale", Type::f32, Access::read),
              columns = k.buffer("columns", Type::f32, Access::write),
              wide = k.buffer("wide", Type::f64, Access::write);
  Array beside;
  if (complex) beside = k.buffer("beside", Type::f64, Access::write);
  const uint64_t numbers = uint64_t{shape.length} * shape.count;
  const Value at = k.team(Type::u64), matrix = at / numbers, row = at % numbers / shape.count,
              column = at % shape.count, by = scale[matrix];
  const Number given = shape.right(
      load_number(x, shape.turned ? matrix * numbers + column * shape.length + row : at, complex));
  const auto scaled = [&](Type type) {
    const auto of = [&](Value part) {
      const Value y = convert(part, type) / convert(by, type);
      return select(is_nan(by), y.like(0), y);
    };
    const Value re = of(given.re);
    return Number{re, complex ? of(given.im) : re};
  };
  store_number(columns, at, scaled(Type::f32), complex);
  const Number precise = scaled(Type::f64);
  if (!complex) {
    wide[at] = precise.re;
    return k.finish();
  }
  const Value upper = matrix * (2 * numbers) + row * shape.count + column, lower = upper + numbers;
  wide[upper] = precise.re;
  wide[lower] = precise.im;
  store_number(beside, upper, precise, true);
  store_number(beside, lower, {precise.im, -precise.re}, true);
  return k.finish();
}

// An invocation a singular value, largest first. Buffers: the squares, ascending, scale, values.
Program rooted(const Shape& shape) {
  Builder k("svd_values", Team::one());
  const Array squares = k.buffer("squares", Type::f64, Access::read),
              scale = k.buffer("scale", Type::f32, Access::read),
              to = k.buffer("to", Type::f32, Access::write);
  const Value at = k.team(Type::u64), matrix = at / shape.count, j = at % shape.count;
  const Value square = squares[matrix * shape.count + (shape.count - 1 - j)];
  const Value by = convert(scale[matrix].get(), Type::f64);
  to[at] = convert(sqrt(max(square, square.like(0))) * by, Type::f32);
  return k.finish();
}

// A team a row of v, whose columns are turned round; in rows of the result v^H, or in columns of u where x is
// wide. Complex numbers of v are real matrices of two rows. Buffers: vectors, scale, v, the result.
Program ordered(const Shape& shape) {
  Builder k("svd_order", Team::many(shape.count <= 128 ? 128 : 256));
  const bool complex = shape.complex;
  const Array from = k.buffer("vectors", Type::f64, Access::read),
              scale = k.buffer("scale", Type::f32, Access::read), v = k.buffer("v", Type::f32, Access::write),
              to = k.buffer("to", Type::f32, Access::write);
  const uint32_t count = shape.count;
  const Value team = k.team(Type::u64), matrix = team / count, row = team % count, by = scale[matrix];
  k.each(k.constant(Type::u32, count), [&](Value column) {
    const Value j = convert(column, Type::u64);
    const Number precise = load_number(from, team * count + (count - 1 - j), complex);
    const Value re = convert(precise.re, Type::f32);
    const Number x{re, complex ? convert(precise.im, Type::f32) : re};
    store_number(v, complex ? team * (2 * count) + j : team * count + j, x, complex);
    if (complex) store_number(v, team * (2 * count) + count + j, {-x.im, x.re}, true);
    store_number(to, shape.turned ? team * count + j : (matrix * count + j) * count + row,
                 chosen(is_nan(by), {by, by}, conjugated(x, complex && !shape.turned), complex), complex);
  });
  return k.finish();
}

// q has the directions but for signs, which r tells. An invocation a number. Buffers: q, r, scale, the
// result.
Program signed_directions(const Shape& shape, uint32_t q_columns) {
  Builder k("svd_signs", Team::one());
  const Array q = k.buffer("q", Type::f32, Access::read), r = k.buffer("r", Type::f32, Access::read),
              scale = k.buffer("scale", Type::f32, Access::read),
              to = k.buffer("to", Type::f32, Access::write);
  const uint64_t numbers = uint64_t{shape.length} * q_columns;
  const Value team = k.team(Type::u64), matrix = team / numbers, place = team % numbers;
  const Value i = place / q_columns, j = place % q_columns, at = min(j, j.like(shape.count - 1));
  // The diagonal of r is real.
  const Value diagonal = r[((matrix * q_columns + at) * shape.count + at) * shape.parts()];
  const Value minus = j < shape.count && diagonal < 0, by = scale[matrix];
  const Number x = shape.right(load_number(q, team, shape.complex));
  const Number turned = chosen(minus, opposite(x), x, shape.complex);
  store_number(to, shape.turned ? matrix * numbers + j * shape.length + i : team,
               chosen(is_nan(by), {by, by}, turned, shape.complex), shape.complex);
  return k.finish();
}

class Passes {
 public:
  Passes(const FactorPlan& plan, const Limits& limits)
      : plan_(plan),
        limits_(limits),
        shape_{std::max(plan.m, plan.n), std::min(plan.m, plan.n), plan.m < plan.n, plan.complex} {}

  Factor build(SvdWanted wanted) {
    const uint64_t length = shape_.length, count = shape_.count, batch = plan_.batch, parts = shape_.parts();
    const uint8_t largest = bytes(plan_.m * 4), scale = bytes(4), columns = bytes(length * count * 4 * parts),
                  wide = bytes(length * count * 8 * parts), gram = bytes(count * count * 8 * parts),
                  squares = bytes(count * 8), vectors = bytes(count * count * 8 * parts);
    pass(largest_of_rows(plan_, false), batch * plan_.m, {x, largest});
    pass(scale_of(plan_), batch, {largest, scale});
    std::vector<uint8_t> filled_buffers{x, scale, columns, wide};
    const uint8_t beside = plan_.complex ? bytes(length * count * 8 * 4) : wide;
    if (plan_.complex) filled_buffers.push_back(beside);
    pass(filled(shape_), batch * length * count, filled_buffers);
    MatmulShape with_itself, by_vectors;
    with_itself.type = with_itself.result = Type::f64;
    with_itself.m = shape_.count, with_itself.n = shape_.count * shape_.parts();
    with_itself.k = shape_.length * shape_.parts();
    with_itself.transpose_a = true;
    product(with_itself, wide, beside, gram);
    append(made_, own, eigh_tridiagonal(inner_plan(plan_), limits_), {gram, squares, vectors});
    pass(rooted(shape_), batch * count, {squares, scale, values});
    if (!wanted.vectors) return std::move(made_);
    const uint8_t v = bytes(count * count * 4 * parts * parts), turned = bytes(length * count * 4 * parts);
    pass(ordered(shape_), batch * count, {vectors, scale, v, shape_.turned ? u : v_h});
    by_vectors.m = shape_.length, by_vectors.n = by_vectors.k = shape_.count * shape_.parts();
    product(by_vectors, columns, v, turned);
    const uint32_t q_columns = wanted.full ? shape_.length : shape_.count;
    const uint8_t q = bytes(length * q_columns * 4 * parts), r = bytes(q_columns * count * 4 * parts);
    FactorPlan inner = plan_;
    inner.m = shape_.length, inner.n = shape_.count;
    append(made_, own, qr(inner, q_columns, limits_), {turned, q, r});
    pass(signed_directions(shape_, q_columns), batch * length * q_columns,
         {q, r, scale, shape_.turned ? v_h : u});
    return std::move(made_);
  }

 private:
  enum Tensors : uint8_t { x, u, values, v_h, own };

  uint8_t bytes(uint64_t of_each) {
    made_.scratch.push_back({plan_.batch * of_each});
    return static_cast<uint8_t>(own + made_.scratch.size() - 1);
  }
  uint32_t add(Program program) {
    made_.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }
  void pass(Program program, uint64_t teams, std::vector<uint8_t> buffers) {
    made_.passes.push_back({add(std::move(program)), teams, std::move(buffers)});
  }
  void product(MatmulShape of, uint8_t a, uint8_t b, uint8_t c) {
    of.batch = static_cast<uint32_t>(plan_.batch);
    append_product(made_, own, of, limits_, {a, b, c});
  }

  const FactorPlan& plan_;
  const Limits& limits_;
  Shape shape_;
  Factor made_;
};

}  // namespace
}  // namespace svd_by_gram

bool has_svd_gram(const FactorPlan& plan, const Limits& limits) {
  return plan.type == Type::f32 && has_eigh_tridiagonal(svd_by_gram::inner_plan(plan), limits);
}

Factor svd_gram(const FactorPlan& plan, SvdWanted wanted, const Limits& limits) {
  return svd_by_gram::Passes(plan, limits).build(wanted);
}

}  // namespace adit::ops
