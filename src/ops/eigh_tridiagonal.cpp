#include "ops/eigh_tridiagonal.hpp"

#include <cmath>

#include <adit/kernel/builder.hpp>

#include "ops/factor_product.hpp"
#include "ops/factor_writer.hpp"
#include "ops/matrix_scale.hpp"
#include "ops/qr_blocks.hpp"
#include "ops/tridiagonal.hpp"
#include "ops/tridiagonal_merge.hpp"
#include "ops/waiting.hpp"

namespace adit::ops {

using namespace kernel;

namespace eigh_by_reflections {
namespace {

// An invocation an eigenvalue. Buffers: values, scale, the result; numbers: n, size.
Program unscaled(const FactorPlan& plan) {
  Builder k("eigh_values", Team::one());
  const Array values = k.buffer("values", Type::f64, Access::read),
              scale = k.buffer("scale", plan.type, Access::read),
              to = k.buffer("to", plan.type, Access::write);
  const Value n = convert(k.scalar("n", Type::u32), Type::u64),
              size = convert(k.scalar("size", Type::u32), Type::u64);
  const Value at = k.team(Type::u64), matrix = at / n, x = values[matrix * size + at % n];
  to[at] = convert(x * convert(scale[matrix].get(), Type::f64), plan.type);
  return k.finish();
}

// An invocation a number of the vectors [size, size], of which n by n are taken. Buffers: these, scale (a NaN
// makes all such), the result; numbers: n, size.
Program as_complex(const FactorPlan& plan) {
  Builder k("eigh_vectors", Team::one());
  const Array vectors = k.buffer("vectors", plan.type, Access::read),
              scale = k.buffer("scale", plan.type, Access::read),
              to = k.buffer("to", plan.type, Access::write);
  const Value n = convert(k.scalar("n", Type::u32), Type::u64),
              size = convert(k.scalar("size", Type::u32), Type::u64);
  const Value at = k.team(Type::u64), row = at / n % n, matrix = at / n / n;
  const Value by = scale[matrix], x = vectors[(matrix * size + row) * size + at % n];
  store_number(to, at, chosen(is_nan(by), {by, by}, {x, x.like(0)}, true), true);
  return k.finish();
}

class Passes {
 public:
  Passes(const FactorPlan& plan, const Limits& limits) : plan_(plan), limits_(limits) {}

  Factor build() {
    const tridiagonal::Teams teams = tridiagonal::teams_for(plan_, limits_);
    const uint32_t n = plan_.n;
    const uint8_t largest = numbers(n), scale = numbers(1), diagonal = numbers(n), beside = numbers(n),
                  tau = numbers(n * parts());
    const uint8_t reflections = numbers(uint64_t{tridiagonal::panel_rows(n)} * tridiagonal::width * parts());
    const uint8_t triangles =
        numbers(tridiagonal::panels_of(n).size() * tridiagonal::width * tridiagonal::width * parts());
    pass(largest_of_rows(plan_, true), plan_.batch * n, {x, largest});
    pass(scale_of(plan_), plan_.batch, {largest, scale});
    std::vector<uint8_t> told;
    if (const uint64_t words = tridiagonal::words_of(plan_, teams)) {
      made_.scratch.push_back({(words + 1) / 2 * 16});
      told = {static_cast<uint8_t>(own + made_.scratch.size() - 1)};
      pass(clear_words(), (words + 1) / 2, told);
    }
    std::vector<uint8_t> buffers{x, scale};
    buffers.insert(buffers.end(), told.begin(), told.end());
    if (teams.stored()) buffers.push_back(numbers(teams.stored_numbers() * parts()));
    buffers.insert(buffers.end(), {reflections, tau, diagonal, beside});
    pass(tridiagonal::reduce(plan_, teams), plan_.batch * teams.teams, buffers);
    pass(tridiagonal::triangles(plan_), plan_.batch * tridiagonal::panels_of(n).size(),
         {reflections, tau, triangles}, {n});
    const uint32_t size = tridiagonal::division_of(n).size();
    const tridiagonal::Solved solved =
        tridiagonal::add_division(made_, own, plan_, diagonal, beside, limits_);
    pass(unscaled(plan_), plan_.batch * n, {solved.values, scale, values}, {n, size});
    if (plan_.complex) {
      turn_back(solved.vectors, scale, reflections, triangles, size);
      return std::move(made_);
    }
    const uint64_t square = uint64_t{n} * n;
    const uint8_t rough = numbers(square), error = numbers(square);
    pass(tridiagonal::go_back(plan_), plan_.batch * tridiagonal::back_teams(plan_),
         {solved.vectors, scale, reflections, triangles, rough}, {n, size});
    straighten(rough, error);
    return std::move(made_);
  }

 private:
  enum Tensors : uint8_t { x, values, vectors, own };

  uint32_t parts() const { return plan_.complex ? 2 : 1; }
  // Of real numbers, of a matrix.
  uint8_t numbers(uint64_t of_each) {
    made_.scratch.push_back({plan_.batch * of_each * size_of(plan_.type)});
    return static_cast<uint8_t>(own + made_.scratch.size() - 1);
  }
  uint32_t add(Program program) {
    made_.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }
  void pass(Program program, uint64_t teams, std::vector<uint8_t> buffers,
            std::vector<uint32_t> numbers = {}) {
    made_.passes.push_back({add(std::move(program)), teams, std::move(buffers), std::move(numbers)});
  }

  // The reflections of all panels, from the last to the first, as QR applies them to make q.
  void turn_back(uint8_t solved, uint8_t scale, uint8_t reflections, uint8_t triangles, uint32_t size) {
    const uint32_t n = plan_.n;
    pass(as_complex(plan_), plan_.batch * n * n, {solved, scale, vectors}, {n, size});
    const std::vector<tridiagonal::Panel> panels = tridiagonal::panels_of(n);
    const uint32_t program = add(qr_apply(plan_, tridiagonal::width, false, limits_));
    const QrShape shape{n, n, tridiagonal::panel_rows(n), static_cast<uint32_t>(panels.size())};
    const uint32_t tiles = (n + qr_tile - 1) / qr_tile;
    for (auto p = static_cast<uint32_t>(panels.size()); p-- > 0;) {
      const QrLevel level{panels[p].start, tridiagonal::width, panels[p].rows, 1, panels[p].first, p};
      FactorPass one{
          program, plan_.batch * tiles, {vectors, vectors, reflections, triangles}, qr_numbers(shape, level)};
      one.numbers.insert(one.numbers.end(), {0, tiles, level.rows, 0});
      made_.passes.push_back(std::move(one));
    }
  }

  // A step of Newton and Schulz, v + v (1 - v^T v) / 2: what all those products have left of being
  // orthonormal.
  void straighten(uint8_t rough, uint8_t error) {
    MatmulHooks apart, onward;
    // A sum of squares is rounded itself: lengths are left as they are unless they are further off than that.
    const double unit = plan_.type == Type::f32 ? 0x1p-23 : 0x1p-52,
                 rounding = unit * (1 + 0.25 * std::sqrt(plan_.n));
    apart.epilogue = [=](Builder&, Value sum, Value, Value row, Value column) {
      const Value length = 1 - sum, kept = select(abs(length) > rounding || is_nan(sum), length, sum.like(0));
      return select(row == column, kept, -sum);
    };
    Array before;
    onward.declare = [&](Builder& k) { before = k.buffer("before", plan_.type, Access::read); };
    onward.epilogue = [&](Builder&, Value sum, Value matrix, Value row, Value column) {
      const Value line = convert(matrix, Type::u64) * plan_.n + convert(row, Type::u64);
      return fma(sum, 0.5, before[line * plan_.n + convert(column, Type::u64)].get());
    };
    multiply(true, apart, {rough, rough, error});
    multiply(false, onward, {rough, error, vectors, rough});
  }
  // Tensors: a, b, the result and those of the hooks.
  void multiply(bool turned, const MatmulHooks& hooks, std::vector<uint8_t> tensors) {
    MatmulShape of;
    of.type = of.result = plan_.type;
    of.m = of.n = of.k = plan_.n;
    of.batch = static_cast<uint32_t>(plan_.batch);
    of.transpose_a = turned;
    append_product(made_, own, of, limits_, std::move(tensors), hooks);
  }

  const FactorPlan& plan_;
  const Limits& limits_;
  Factor made_;
};

}  // namespace
}  // namespace eigh_by_reflections

bool has_eigh_tridiagonal(const FactorPlan& plan, const Limits& limits) {
  return plan.n > 32 && plan.batch > 0 && plan.batch * plan.n < uint64_t{1} << 31 &&
         tridiagonal::teams_for(plan, limits).teams > 0 &&
         (plan.complex ? can_apply_qr(plan, tridiagonal::width, limits)
                       : tridiagonal::can_go_back(plan, limits)) &&
         tridiagonal::shared_bytes_of(tridiagonal::division_of(plan.n)) <= limits.shared_bytes;
}

Factor eigh_tridiagonal(const FactorPlan& plan, const Limits& limits) {
  return eigh_by_reflections::Passes(plan, limits).build();
}

}  // namespace adit::ops
