#include "ops/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/eigh_tridiagonal.hpp"
#include "ops/factor_writer.hpp"
#include "ops/jacobi_by_blocks.hpp"
#include "ops/jacobi_hands.hpp"
#include "ops/svd_gram.hpp"

namespace adit::ops {

using namespace kernel;

namespace jacobi {
namespace {

constexpr uint32_t sweeps = 16;  // six to ten are taken; graded matrices take more

// The turned columns lie one after the other: column j of matrix b at (b * columns + j) * length.
struct Shape {
  uint32_t length = 0, columns = 0;
  uint32_t longest() const { return std::max(length, columns); }
};

uint32_t lanes_for(uint32_t length, uint32_t most) {
  return length <= 32 ? 32 : length <= 64 ? 64 : std::min(most, length <= 128 ? 128U : 256U);
}

// What all kernels here have.
class Kernel {
 protected:
  Kernel(const char* name, const FactorPlan& plan, const Shape& shape)
      : type_(plan.type),
        complex_(plan.complex),
        shape_(shape),
        k_(name, Team::many(lanes_for(shape.longest(), plan.lanes))) {
    team_ = k_.team(Type::u64);
  }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  MatrixView columns_in(const Array& memory) {
    return {memory, team_ * (uint64_t{shape_.columns} * shape_.length), shape_.length, complex_};
  }
  MatrixView square_in(const Array& memory) {
    return {memory, team_ * (uint64_t{shape_.columns} * shape_.columns), shape_.columns, complex_};
  }
  Value largest_part(Number x) const { return complex_ ? max(abs(x.re), abs(x.im)) : abs(x.re); }
  Value squared(Number x) const { return complex_ ? fma(x.re, x.re, x.im * x.im) : x.re * x.re; }
  Value infinity() { return k_.constant(type_, std::numeric_limits<double>::infinity()); }

  Type type_;
  bool complex_;
  Shape shape_;
  Builder k_;
  Value team_;
};

// Facts of a matrix: what it was divided by, the shift, the largest cosine of the last sweep.
constexpr uint32_t scale = 0, shift = 1, cosine = 2, facts_count = 3;

// What a team has to do with one column of one matrix.
class OfColumn : protected Kernel {
 protected:
  OfColumn(const char* name, const FactorPlan& plan, const Shape& shape) : Kernel(name, plan, shape) {
    column_ = convert(team_ % shape.columns, Type::u32);
    number_ = team_;
    team_ = team_ / shape.columns;
  }
  Value fact_place(uint32_t which) { return team_ * uint64_t{facts_count} + which; }
  Value column_, number_;  // the column's among its matrix's, and among all
};

// Reads elements of the columns that are to be turned.
class Begin : protected OfColumn {
 public:
  Begin(const char* name, const FactorPlan& plan, const Shape& shape, bool is_turned, bool is_hermitian)
      : OfColumn(name, plan, shape), is_turned_(is_turned), is_hermitian_(is_hermitian) {
    const Array x = k_.buffer("x", type_, Access::read);
    x_ = {x, team_ * (uint64_t{plan.m} * plan.n), plan.n, complex_};
  }

  // The largest number of each column, and the sum of all.
  Program measured() {
    const Array largest = k_.buffer("largest", type_, Access::write),
                sums = k_.buffer("sums", type_, Access::write);
    const std::vector<Value> found =
        k_.reduce(word(shape_.length), {Reduction::max, Reduction::add}, [&](Value i) {
          const Number x = element(i);
          // NaN must not be lost by a comparison.
          const Value bad = is_nan(x.re) || (complex_ ? is_nan(x.im) : is_nan(x.re));
          const Value size = select(bad, infinity(), largest_part(x));
          return std::vector<Value>{size, complex_ ? abs(x.re) + abs(x.im) : abs(x.re)};
        });
    k_.once([&] {
      largest[number_] = found[0];
      sums[number_] = found[1];
    });
    return k_.finish();
  }

  // The columns, scaled so that squares neither overflow nor vanish, and the identity beside them.
  Program filled(bool with_vectors) {
    const MatrixView w = columns_in(k_.buffer("columns", type_, Access::write));
    const Array facts = k_.buffer("facts", type_, Access::read);
    MatrixView v;
    if (with_vectors) v = square_in(k_.buffer("vectors", type_, Access::write));
    const Value by = facts[fact_place(scale)], up = facts[fact_place(shift)];
    k_.each(word(shape_.length), [&](Value i) {
      const Number x = element(i);
      Number scaled = {x.re / by, complex_ ? x.im / by : x.im};
      if (is_hermitian_) scaled.re = scaled.re + select(i == column_, up, up.like(0));
      w.put(column_, i, scaled);
    });
    if (with_vectors)
      k_.each(word(shape_.columns), [&](Value i) {
        const Value none = by - by;  // NaN where the scale is
        v.put(column_, i, {select(i == column_, none + 1, none), none});
      });
    return k_.finish();
  }

 private:
  // Element i of the column.
  Number element(Value i) {
    const Value j = column_;
    if (is_hermitian_) {
      const Value swap = j > i;
      const Number below = x_.get(select(swap, j, i), select(swap, i, j));
      return {below.re,
              complex_ ? select(i == j, below.im.like(0), select(swap, -below.im, below.im)) : below.im};
    }
    return is_turned_ ? conjugated(x_.get(j, i), complex_) : x_.get(i, j);
  }

  bool is_turned_, is_hermitian_;
  MatrixView x_;
};

// A team a matrix: its scale, NaN where a number is not finite, and a shift above its norm.
class Facts : protected Kernel {
 public:
  Facts(const FactorPlan& plan, const Shape& shape) : Kernel("rotations_facts", plan, shape) {}
  Program build() {
    const Array largest = k_.buffer("largest", type_, Access::read),
                sums = k_.buffer("sums", type_, Access::read),
                facts = k_.buffer("facts", type_, Access::write);
    const Value first = team_ * uint64_t{shape_.columns};
    const std::vector<Value> found =
        k_.reduce(word(shape_.columns), {Reduction::max, Reduction::max}, [&](Value j) {
          const Value at = first + convert(j, Type::u64);
          return std::vector<Value>{largest[at].get(), sums[at].get()};
        });
    const Value most = found[0];
    const Value by = select(most < infinity(), select(most > 0, most, most.like(1)), nan_like(most));
    k_.once([&] {
      const Value place = team_ * uint64_t{facts_count};
      facts[place + scale] = by;
      facts[place + shift] = found[1] / by * 1.5;
      facts[place + cosine] = 1;
    });
    return k_.finish();
  }
};

class Sweep : protected Kernel {
 public:
  Sweep(const FactorPlan& plan, const Shape& shape, bool with_vectors)
      : Kernel("rotations_sweep", plan, shape), with_vectors_(with_vectors) {
    w_ = columns_in(k_.buffer("columns", type_, Access::read_write));
    facts_ = k_.buffer("facts", type_, Access::read_write);
    if (with_vectors) v_ = square_in(k_.buffer("vectors", type_, Access::read_write));
    const double unit =
        type_ == Type::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    enough_ = unit * (4 + std::sqrt(shape.length));
  }

  Program build() {
    const uint32_t count = shape_.columns;
    const Value place = team_ * uint64_t{facts_count} + cosine;
    const Value before = facts_[place];
    k_.if_(before > enough_, [&] {
      const Variable worst = k_.variable(type_, 0.0);
      k_.for_(word(0), word(count - 1), word(1),
              [&](Value p) { k_.for_(p + 1, word(count), word(1), [&](Value q) { turn(p, q, worst); }); });
      const Value found = worst.get();
      k_.once([&] { facts_[place] = found; });
    });
    return k_.finish();
  }

 private:
  void turn(Value p, Value q, const Variable& worst) {
    const std::vector<Reduction> sums(complex_ ? 4 : 3, Reduction::add);
    const std::vector<Value> found = k_.reduce(word(shape_.length), sums, [&](Value i) {
      const Number x = w_.get(p, i), y = w_.get(q, i);
      std::vector<Value> list{squared(x), squared(y), complex_ ? fma(x.re, y.re, x.im * y.im) : x.re * y.re};
      if (complex_) list.push_back(fma(x.re, y.im, -(x.im * y.re)));
      return list;
    });
    const Value a = found[0], b = found[1];
    const Value g = complex_ ? sqrt(fma(found[2], found[2], found[3] * found[3])) : abs(found[2]);
    const Value product = sqrt(a) * sqrt(b);
    const Value cosine_now = select(product > 0, g / product, g.like(0));
    worst = max(worst.get(), cosine_now);
    k_.if_(cosine_now > enough_ * 0.5, [&] {
      const Value zeta = (b - a) / (2 * g), size = abs(zeta);
      const Value t =
          select(zeta < 0, zeta.like(-1), zeta.like(1)) / (size + sqrt(fma(zeta, zeta, zeta.like(1))));
      const Value c = 1 / sqrt(fma(t, t, t.like(1))), s = c * t;
      // The second column is first given the phase that makes the product of both real and positive.
      const Number phase = {found[2] / g, complex_ ? -(found[3] / g) : g};
      rotate(w_, shape_.length, p, q, c, s, phase);
      if (with_vectors_) rotate(v_, shape_.columns, p, q, c, s, phase);
    });
  }

  void rotate(const MatrixView& of, uint32_t length, Value p, Value q, Value c, Value s, Number phase) {
    k_.each(word(length), [&](Value i) {
      const Number x = of.get(p, i), y = of.get(q, i);
      const Number z =
          complex_ ? Number{fma(phase.re, y.re, -(phase.im * y.im)), fma(phase.re, y.im, phase.im * y.re)}
                   : Number{phase.re * y.re, y.im};
      of.put(p, i, {fma(c, x.re, -(s * z.re)), complex_ ? fma(c, x.im, -(s * z.im)) : x.im});
      of.put(q, i, {fma(s, x.re, c * z.re), complex_ ? fma(s, x.im, c * z.im) : x.im});
    });
  }

  bool with_vectors_;
  double enough_;
  Array facts_;
  MatrixView w_, v_;
};

class Lengths : protected OfColumn {
 public:
  Lengths(const FactorPlan& plan, const Shape& shape) : OfColumn("rotations_lengths", plan, shape) {}
  Program build() {
    const MatrixView w = columns_in(k_.buffer("columns", type_, Access::read));
    const Array lengths = k_.buffer("lengths", type_, Access::write);
    const Value sum =
        k_.reduce(word(shape_.length), Reduction::add, [&](Value i) { return squared(w.get(column_, i)); });
    k_.once([&] { lengths[number_] = sqrt(sum); });
    return k_.finish();
  }
};

// How many columns stand before each, in order; NaN are all equal, and keep theirs. And the values in order:
// lengths less the shift, times the scale.
class Ranks : protected OfColumn {
 public:
  Ranks(const FactorPlan& plan, const Shape& shape, bool descending, bool is_shifted)
      : OfColumn("rotations_ranks", plan, shape), descending_(descending), is_shifted_(is_shifted) {}
  Program build() {
    const Array lengths = k_.buffer("lengths", type_, Access::read),
                facts = k_.buffer("facts", type_, Access::read),
                ranks = k_.buffer("ranks", Type::u32, Access::write),
                values = k_.buffer("values", type_, Access::write);
    const Value first = team_ * uint64_t{shape_.columns}, mine = lengths[number_];
    const Value rank = k_.reduce(word(shape_.columns), Reduction::add, [&](Value i) {
      const Value other = lengths[first + convert(i, Type::u64)];
      const Value before = descending_ ? other > mine : other < mine;
      const Value after = descending_ ? other < mine : other > mine;
      return select(before || (!before && !after && i < column_), word(1), word(0));
    });
    k_.once([&] {
      ranks[number_] = rank;
      const Value value = is_shifted_ ? mine - facts[fact_place(shift)].get() : mine;
      values[first + convert(rank, Type::u64)] = value * facts[fact_place(scale)].get();
    });
    return k_.finish();
  }

 private:
  bool descending_, is_shifted_;
};

// Eigenvectors: the columns made as long as 1, each at its place.
class EighEnd : protected OfColumn {
 public:
  EighEnd(const FactorPlan& plan, const Shape& shape) : OfColumn("eigh_end", plan, shape) {}
  Program build() {
    const MatrixView w = columns_in(k_.buffer("columns", type_, Access::read));
    const Array lengths = k_.buffer("lengths", type_, Access::read),
                ranks = k_.buffer("ranks", Type::u32, Access::read);
    const MatrixView vectors = square_in(k_.buffer("vectors", type_, Access::write));
    const Value length = lengths[number_], rank = ranks[number_], none = length == 0;
    k_.each(word(shape_.length), [&](Value i) {
      const Number x = w.get(column_, i);
      // Of a matrix of zeros the shift is zero, and so are the columns: any vectors will do.
      const Value unit = select(none, select(i == column_, length.like(1), length.like(0)), x.re / length);
      vectors.put(i, rank, {unit, complex_ ? select(none, length.like(0), x.im / length) : unit});
    });
    return k_.finish();
  }
};

// Columns, longest first, as a matrix [length, columns], and the other side's vectors.
class SvdEnd : protected OfColumn {
 public:
  SvdEnd(const FactorPlan& plan, const Shape& shape, bool is_turned)
      : OfColumn("svd_end", plan, shape), is_turned_(is_turned) {}
  Program build() {
    const MatrixView w = columns_in(k_.buffer("columns", type_, Access::read));
    const Array sorted_memory = k_.buffer("sorted", type_, Access::write);
    const MatrixView sorted{sorted_memory, team_ * (uint64_t{shape_.length} * shape_.columns), shape_.columns,
                            complex_};
    const MatrixView v = square_in(k_.buffer("vectors", type_, Access::read));
    const MatrixView other = square_in(k_.buffer("other", type_, Access::write));
    const Array ranks = k_.buffer("ranks", Type::u32, Access::read);
    const Value rank = ranks[number_];
    k_.each(word(shape_.length), [&](Value i) { sorted.put(i, rank, w.get(column_, i)); });
    k_.each(word(shape_.columns), [&](Value i) {
      if (is_turned_)
        other.put(i, rank, v.get(column_, i));  // u of a wide matrix
      else
        other.put(rank, i, conjugated(v.get(column_, i), complex_));  // v^H
    });
    return k_.finish();
  }

 private:
  bool is_turned_;
};

// q of the sorted columns has their directions but for signs, which r tells: its diagonal is real. An
// invocation an element.
Program signs(const FactorPlan& plan, const Shape& shape, uint32_t q_columns, bool is_turned) {
  Builder k("svd_signs", Team::one());
  const Array q = k.buffer("q", plan.type, Access::read), r = k.buffer("r", plan.type, Access::read),
              to = k.buffer("to", plan.type, Access::write);
  const uint64_t numbers = uint64_t{shape.length} * q_columns;
  const Value team = k.team(Type::u64), matrix = team / numbers, place = team % numbers;
  const Value i = place / q_columns, j = place % q_columns;
  const Value at = min(j, j.like(shape.columns - 1));
  const Value diagonal = (matrix * q_columns + at) * shape.columns + at;
  const Value minus = j < shape.columns && load_number(r, diagonal, plan.complex).re < 0;
  const Number x = load_number(q, team, plan.complex);
  const Number signed_x = {select(minus, -x.re, x.re), plan.complex ? select(minus, -x.im, x.im) : x.im};
  if (is_turned)
    store_number(to, matrix * numbers + j * shape.length + i, conjugated(signed_x, plan.complex),
                 plan.complex);
  else
    store_number(to, team, signed_x, plan.complex);
  return k.finish();
}

// A sweep's pairs, each with a reduction and two updates.
uint64_t trips(const FactorPlan& plan, const Shape& shape) {
  const uint64_t n = shape.columns, lanes = lanes_for(shape.longest(), plan.lanes);
  const uint64_t across = (shape.longest() + lanes - 1) / lanes;
  return n * (n - 1) / 2 * (1 + 3 * (1 + across)) + n * (3 + n);
}

}  // namespace
}  // namespace jacobi

namespace jacobi {
namespace {

// The passes of both: they differ in what is turned, and in what is made of it.
class Passes {
 public:
  Passes(const FactorPlan& plan, const Limits& limits, const Shape& shape, bool is_turned, bool is_hermitian,
         bool with_vectors)
      : plan_(plan),
        limits_(limits),
        shape_(shape),
        is_turned_(is_turned),
        is_hermitian_(is_hermitian),
        with_vectors_(with_vectors) {}

  uint8_t scratch(uint64_t numbers, uint64_t bytes) {
    made.scratch.push_back({plan_.batch * numbers * bytes});
    return static_cast<uint8_t>(own_ + made.scratch.size() - 1);
  }
  uint64_t real() const { return size_of(plan_.type); }
  uint64_t number() const { return real() * (plan_.complex ? 2 : 1); }
  void pass(Program program, uint64_t teams, std::vector<uint8_t> buffers) {
    made.passes.push_back({static_cast<uint32_t>(made.programs.size()), teams, std::move(buffers)});
    made.programs.push_back(std::move(program));
  }
  uint64_t all_columns() const { return plan_.batch * shape_.columns; }

  // From x to columns that are orthogonal, their lengths, ranks and values. `own`: tensors of the operation.
  void turn(uint8_t own, uint8_t x, uint8_t values) {
    own_ = own;
    const uint64_t n = shape_.columns;
    columns = scratch(n * shape_.length, number());
    facts = scratch(facts_count, real());
    lengths = scratch(n, real());
    ranks = scratch(n, 4);
    const uint8_t largest = scratch(n, real()), sums = scratch(n, real());
    if (with_vectors_) vectors = scratch(n * n, number());
    pass(Begin("rotations_measure", plan_, shape_, is_turned_, is_hermitian_).measured(), all_columns(),
         {x, largest, sums});
    pass(Facts(plan_, shape_).build(), plan_.batch, {largest, sums, facts});
    pass(Begin("rotations_fill", plan_, shape_, is_turned_, is_hermitian_).filled(with_vectors_),
         all_columns(), with({x, columns, facts}));
    if (n > 1) sweep();
    pass(Lengths(plan_, shape_).build(), all_columns(), {columns, lengths});
    pass(Ranks(plan_, shape_, !is_hermitian_, is_hermitian_).build(), all_columns(),
         {lengths, facts, ranks, values});
  }

  Factor made;
  uint8_t columns = 0, facts = 0, lengths = 0, ranks = 0, vectors = 0;

 private:
  std::vector<uint8_t> with(std::vector<uint8_t> list) const {
    if (with_vectors_) list.push_back(vectors);
    return list;
  }

  void sweep() {
    const JacobiShape shape{shape_.length, shape_.columns, with_vectors_};
    if (sweeps_in_shared(plan_, shape, limits_)) {
      pass(sweeps_program(plan_, shape, limits_), plan_.batch, with({columns}));
      return;
    }
    made.loop_trips = trips(plan_, shape_);
    const auto program = static_cast<uint32_t>(made.programs.size());
    made.programs.push_back(Sweep(plan_, shape_, with_vectors_).build());
    for (uint32_t i = 0; i < sweeps; ++i)
      made.passes.push_back({program, plan_.batch, with({columns, facts})});
  }

  const FactorPlan& plan_;
  const Limits& limits_;
  Shape shape_;
  bool is_turned_, is_hermitian_, with_vectors_;
  uint8_t own_ = 0;
};

}  // namespace
}  // namespace jacobi

Factor eigh_by_rotations(const FactorPlan& plan, const Limits& limits) {
  using namespace jacobi;
  if (plan.n == 0 || plan.batch == 0) return {};
  if (has_eigh_tridiagonal(plan, limits)) return eigh_tridiagonal(plan, limits);
  if (!sweeps_in_shared(plan, {plan.n, plan.n, false}, limits) && has_jacobi_by_blocks(plan, limits))
    return eigh_by_blocks(plan, limits);
  const Shape shape{plan.n, plan.n};
  enum Tensors : uint8_t { x, values, vectors, own };
  Passes passes(plan, limits, shape, false, true, false);
  passes.turn(own, x, values);
  passes.pass(EighEnd(plan, shape).build(), passes.all_columns(),
              {passes.columns, passes.lengths, passes.ranks, vectors});
  return std::move(passes.made);
}

Factor svd_by_rotations(const FactorPlan& plan, SvdWanted wanted, const Limits& limits) {
  using namespace jacobi;
  if (plan.m == 0 || plan.n == 0 || plan.batch == 0) return {};
  const bool is_turned = plan.m < plan.n;
  const Shape shape{std::max(plan.m, plan.n), std::min(plan.m, plan.n)};
  const uint64_t length = shape.length, count = shape.columns;
  if (!sweeps_in_shared(plan, {shape.length, shape.columns, wanted.vectors}, limits)) {
    if (has_svd_gram(plan, limits)) return svd_gram(plan, wanted, limits);
    if (has_jacobi_by_blocks(plan, limits)) return svd_by_blocks(plan, wanted, limits);
  }
  const uint32_t q_columns = wanted.full ? shape.length : shape.columns;
  enum Tensors : uint8_t { x, u, values, v_h, own };
  Passes passes(plan, limits, shape, is_turned, false, wanted.vectors);
  passes.turn(own, x, values);
  if (!wanted.vectors) return std::move(passes.made);
  const uint8_t sorted = passes.scratch(length * count, passes.number()),
                q = passes.scratch(length * q_columns, passes.number()),
                r = passes.scratch(q_columns * count, passes.number());
  passes.pass(SvdEnd(plan, shape, is_turned).build(), passes.all_columns(),
              {passes.columns, sorted, passes.vectors, is_turned ? u : v_h, passes.ranks});
  FactorPlan inner = plan;
  inner.m = shape.length;
  inner.n = shape.columns;
  append(passes.made, own, qr(inner, q_columns, limits), {sorted, q, r});
  passes.pass(signs(plan, shape, q_columns, is_turned), plan.batch * length * q_columns,
              {q, r, is_turned ? v_h : u});
  return std::move(passes.made);
}

}  // namespace adit::ops
