#include "ops/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/factor_writer.hpp"

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

// Fills the columns, scaled by the largest number so that squares neither overflow nor vanish, and the
// identity. Facts of a matrix: its scale, the shift, the largest cosine of the last sweep.
constexpr uint32_t scale = 0, shift = 1, cosine = 2, facts_count = 3;

class Begin : protected Kernel {
 public:
  Begin(const FactorPlan& plan, const Shape& shape, bool is_turned, bool is_hermitian, bool with_vectors)
      : Kernel("rotations_begin", plan, shape),
        is_turned_(is_turned),
        is_hermitian_(is_hermitian),
        with_vectors_(with_vectors) {
    const Array x = k_.buffer("x", type_, Access::read), w = k_.buffer("columns", type_, Access::write);
    facts_ = k_.buffer("facts", type_, Access::write);
    if (with_vectors) v_ = square_in(k_.buffer("vectors", type_, Access::write));
    x_ = {x, team_ * (uint64_t{plan.m} * plan.n), plan.n, complex_};
    w_ = columns_in(w);
  }

  Program build() {
    const uint32_t length = shape_.length, count = shape_.columns;
    const Value largest = over_all(Reduction::max, [&](Number x) {
      // NaN must not be lost by a comparison.
      const Value size = largest_part(x);
      const Value bad = is_nan(x.re) || (complex_ ? is_nan(x.im) : is_nan(x.re));
      return select(bad, infinity(), size);
    });
    const Value finite = largest < infinity();
    const Value by = select(finite, select(largest > 0, largest, largest.like(1)), nan_like(largest));
    Value up = k_.constant(type_, 0);
    if (is_hermitian_) {
      const Variable most = k_.variable(type_, 0.0);
      k_.for_(word(count), [&](Value j) {
        const Value sum = k_.reduce(word(length), Reduction::add, [&](Value i) {
          const Number x = element(j, i);
          return (complex_ ? abs(x.re) + abs(x.im) : abs(x.re)) / by;
        });
        most = max(most.get(), sum);
      });
      up = most.get() * 1.5;
    }
    k_.for_(word(count), [&](Value j) {
      k_.each(word(length), [&](Value i) {
        const Number x = element(j, i);
        Number scaled = {x.re / by, complex_ ? x.im / by : x.im};
        if (is_hermitian_) scaled.re = scaled.re + select(i == j, up, up.like(0));
        w_.put(j, i, scaled);
      });
      if (with_vectors_)
        k_.each(word(count), [&](Value i) {
          const Value one = select(i == j, by / by, select(finite, by.like(0), by));
          v_.put(j, i, {one, select(finite, by.like(0), by)});
        });
    });
    k_.once([&] {
      const Value first = team_ * uint64_t{facts_count};
      facts_[first + scale] = by;
      facts_[first + shift] = up;
      facts_[first + cosine] = 1;
    });
    return k_.finish();
  }

 private:
  // Element i of column j.
  Number element(Value j, Value i) {
    if (is_hermitian_) {
      const Value swap = j > i;
      const Number below = x_.get(select(swap, j, i), select(swap, i, j));
      return {below.re,
              complex_ ? select(i == j, below.im.like(0), select(swap, -below.im, below.im)) : below.im};
    }
    return is_turned_ ? conjugated(x_.get(j, i), complex_) : x_.get(i, j);
  }
  Value over_all(Reduction how, const std::function<Value(Number)>& f) {
    const Variable most = k_.variable(type_, 0.0);
    k_.for_(word(shape_.columns), [&](Value j) {
      const Value found = k_.reduce(word(shape_.length), how, [&](Value i) { return f(element(j, i)); });
      most = max(most.get(), found);
    });
    return most.get();
  }

  bool is_turned_, is_hermitian_, with_vectors_;
  Array facts_;
  MatrixView x_, w_, v_;
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

// Lengths of the columns, and the place of each in order; then what is asked for goes there.
class End : protected Kernel {
 protected:
  End(const char* name, const FactorPlan& plan, const Shape& shape, bool descending)
      : Kernel(name, plan, shape), descending_(descending) {
    w_ = columns_in(k_.buffer("columns", type_, Access::read));
    facts_ = k_.buffer("facts", type_, Access::read);
    lengths_ = k_.buffer("lengths", type_, Access::read_write);
    values_ = k_.buffer("values", type_, Access::write);
  }
  Value number_at(Value j) { return team_ * uint64_t{shape_.columns} + convert(j, Type::u64); }
  Value fact(uint32_t which) { return facts_[team_ * uint64_t{facts_count} + which]; }

  void measure() {
    k_.for_(word(shape_.columns), [&](Value j) {
      const Value sum =
          k_.reduce(word(shape_.length), Reduction::add, [&](Value i) { return squared(w_.get(j, i)); });
      k_.once([&] { lengths_[number_at(j)] = sqrt(sum); });
    });
  }
  // How many stand before column j: NaN are all equal, and keep their order.
  Value rank_of(Value j) {
    const Value mine = lengths_[number_at(j)];
    const Variable rank = k_.variable(Type::u32, 0);
    k_.for_(word(shape_.columns), [&](Value i) {
      const Value other = lengths_[number_at(i)];
      const Value before = descending_ ? other > mine : other < mine;
      const Value after = descending_ ? other < mine : other > mine;
      const Value same = !before && !after && i < j;
      rank = rank.get() + select(before || same, word(1), word(0));
    });
    return rank.get();
  }

  bool descending_;
  Array facts_, lengths_, values_;
  MatrixView w_;
};

class EighEnd : protected End {
 public:
  EighEnd(const FactorPlan& plan, const Shape& shape) : End("eigh_end", plan, shape, false) {
    vectors_ = square_in(k_.buffer("vectors", type_, Access::write));
    ranks_ = k_.buffer("ranks", Type::u32, Access::read_write);
  }
  Program build() {
    measure();
    const Value by = fact(scale), up = fact(shift);
    k_.each(word(shape_.columns), [&](Value j) {
      const Value rank = rank_of(j);
      ranks_[number_at(j)] = rank;
      values_[number_at(rank)] = (lengths_[number_at(j)].get() - up) * by;
    });
    k_.for_(word(shape_.columns), [&](Value j) {
      k_.each(word(shape_.length), [&](Value i) {
        const Number x = w_.get(j, i);
        const Value length = lengths_[number_at(j)];
        // Of a matrix of zeros the shift is zero, and so are the columns: any vectors will do.
        const Value none = length == 0;
        const Value unit = select(none, select(i == j, length.like(1), length.like(0)), x.re / length);
        vectors_.put(i, ranks_[number_at(j)],
                     {unit, complex_ ? select(none, length.like(0), x.im / length) : unit});
      });
    });
    return k_.finish();
  }

 private:
  MatrixView vectors_;
  Array ranks_;
};

// Columns, longest first, as a matrix [length, columns], and the other side's vectors.
class SvdEnd : protected End {
 public:
  SvdEnd(const FactorPlan& plan, const Shape& shape, bool with_vectors, bool is_turned)
      : End("svd_end", plan, shape, true), with_vectors_(with_vectors), is_turned_(is_turned) {
    if (!with_vectors) return;
    const Array sorted = k_.buffer("sorted", type_, Access::write);
    sorted_ = {sorted, team_ * (uint64_t{shape.length} * shape.columns), shape.columns, complex_};
    v_ = square_in(k_.buffer("vectors", type_, Access::read));
    other_ = square_in(k_.buffer("other", type_, Access::write));
    ranks_ = k_.buffer("ranks", Type::u32, Access::read_write);
  }
  Program build() {
    measure();
    const Value by = fact(scale);
    k_.each(word(shape_.columns), [&](Value j) {
      const Value rank = rank_of(j);
      if (with_vectors_) ranks_[number_at(j)] = rank;
      values_[number_at(rank)] = lengths_[number_at(j)].get() * by;
    });
    if (with_vectors_)
      k_.for_(word(shape_.columns), [&](Value j) {
        k_.each(word(shape_.length), [&](Value i) { sorted_.put(i, ranks_[number_at(j)], w_.get(j, i)); });
        k_.each(word(shape_.columns), [&](Value i) {
          const Value rank = ranks_[number_at(j)];
          if (is_turned_)
            other_.put(i, rank, v_.get(j, i));  // u of a wide matrix
          else
            other_.put(rank, i, conjugated(v_.get(j, i), complex_));  // v^H
        });
      });
    return k_.finish();
  }

 private:
  bool with_vectors_, is_turned_;
  MatrixView sorted_, v_, other_;
  Array ranks_;
};

// q of the sorted columns has their directions but for signs, which r tells: its diagonal is real.
class Signs : protected Kernel {
 public:
  Signs(const FactorPlan& plan, const Shape& shape, uint32_t q_columns, bool is_turned)
      : Kernel("svd_signs", plan, shape), q_columns_(q_columns), is_turned_(is_turned) {
    const Array q = k_.buffer("q", type_, Access::read), r = k_.buffer("r", type_, Access::read),
                to = k_.buffer("to", type_, Access::write);
    const uint64_t numbers = uint64_t{shape.length} * q_columns;
    q_ = {q, team_ * numbers, q_columns, complex_};
    r_ = {r, team_ * (uint64_t{q_columns} * shape.columns), shape.columns, complex_};
    to_ = {to, team_ * numbers, is_turned ? shape.length : q_columns, complex_};
  }
  Program build() {
    k_.for_(word(shape_.length), [&](Value i) {
      k_.each(word(q_columns_), [&](Value j) {
        const Value at = min(j, word(shape_.columns - 1));
        const Value minus = j < shape_.columns && r_.get(at, at).re < 0;
        const Number x = q_.get(i, j);
        const Number signed_x = {select(minus, -x.re, x.re), complex_ ? select(minus, -x.im, x.im) : x.im};
        if (is_turned_)
          to_.put(j, i, conjugated(signed_x, complex_));
        else
          to_.put(i, j, signed_x);
      });
    });
    return k_.finish();
  }

 private:
  uint32_t q_columns_;
  bool is_turned_;
  MatrixView q_, r_, to_;
};

// A sweep's pairs, each with a reduction and two updates.
uint64_t trips(const FactorPlan& plan, const Shape& shape) {
  const uint64_t n = shape.columns, lanes = lanes_for(shape.longest(), plan.lanes);
  const uint64_t across = (shape.longest() + lanes - 1) / lanes;
  return n * (n - 1) / 2 * (1 + 3 * (1 + across)) + n * (3 + n);
}

}  // namespace
}  // namespace jacobi

Factor eigh_by_rotations(const FactorPlan& plan) {
  using namespace jacobi;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  const Shape shape{plan.n, plan.n};
  const uint64_t real = size_of(plan.type), number = real * (plan.complex ? 2 : 1), n = plan.n;
  enum Tensors : uint8_t { x, values, vectors, columns, facts, lengths, ranks };
  made.loop_trips = trips(plan, shape);
  made.scratch = {{plan.batch * n * n * number},
                  {plan.batch * facts_count * real},
                  {plan.batch * n * real},
                  {plan.batch * n * 4}};
  made.programs = {Begin(plan, shape, false, true, false).build(), Sweep(plan, shape, false).build(),
                   EighEnd(plan, shape).build()};
  made.passes.push_back({0, plan.batch, {x, columns, facts}});
  if (n > 1)
    for (uint32_t i = 0; i < sweeps; ++i) made.passes.push_back({1, plan.batch, {columns, facts}});
  made.passes.push_back({2, plan.batch, {columns, facts, lengths, values, vectors, ranks}});
  return made;
}

Factor svd_by_rotations(const FactorPlan& plan, SvdWanted wanted) {
  using namespace jacobi;
  Factor made;
  if (plan.m == 0 || plan.n == 0 || plan.batch == 0) return made;
  const bool is_turned = plan.m < plan.n;
  const Shape shape{std::max(plan.m, plan.n), std::min(plan.m, plan.n)};
  const uint64_t real = size_of(plan.type), number = real * (plan.complex ? 2 : 1);
  const uint64_t length = shape.length, count = shape.columns;
  const uint32_t q_columns = wanted.full ? shape.length : shape.columns;
  enum Tensors : uint8_t {
    x,
    u,
    values,
    v_h,
    columns,
    facts,
    lengths,
    vectors,
    sorted,
    ranks,
    q,
    r,
    from_qr
  };
  const uint8_t by_q = is_turned ? v_h : u, other = is_turned ? u : v_h;
  made.loop_trips = trips(plan, shape);
  made.scratch = {
      {plan.batch * length * count * number}, {plan.batch * facts_count * real}, {plan.batch * count * real}};
  made.programs = {Begin(plan, shape, is_turned, false, wanted.vectors).build(),
                   Sweep(plan, shape, wanted.vectors).build(),
                   SvdEnd(plan, shape, wanted.vectors, is_turned).build()};
  const auto with = [&](std::vector<uint8_t> list, std::vector<uint8_t> more) {
    if (wanted.vectors) list.insert(list.end(), more.begin(), more.end());
    return list;
  };
  made.passes.push_back({0, plan.batch, with({x, columns, facts}, {vectors})});
  if (count > 1)
    for (uint32_t i = 0; i < sweeps; ++i)
      made.passes.push_back({1, plan.batch, with({columns, facts}, {vectors})});
  made.passes.push_back(
      {2, plan.batch, with({columns, facts, lengths, values}, {sorted, vectors, other, ranks})});
  if (!wanted.vectors) return made;
  FactorPlan inner = plan;
  inner.m = shape.length;
  inner.n = shape.columns;
  const Factor directions = qr(inner, q_columns);
  made.loop_trips = std::max(made.loop_trips, directions.loop_trips);
  for (const uint64_t bytes : {count * count * number, length * count * number, count * 4,
                               length * q_columns * number, uint64_t{q_columns} * count * number})
    made.scratch.push_back({plan.batch * bytes});
  made.scratch.insert(made.scratch.end(), directions.scratch.begin(), directions.scratch.end());
  const auto first = static_cast<uint32_t>(made.programs.size());
  made.programs.insert(made.programs.end(), directions.programs.begin(), directions.programs.end());
  for (FactorPass pass : directions.passes) {
    pass.program += first;
    constexpr uint8_t inside[] = {sorted, q, r};  // qr's own tensors; its scratch follows
    for (uint8_t& buffer : pass.buffers)
      buffer = buffer < 3 ? inside[buffer] : static_cast<uint8_t>(from_qr + buffer - 3);
    made.passes.push_back(pass);
  }
  made.passes.push_back({static_cast<uint32_t>(made.programs.size()), plan.batch, {q, r, by_q}});
  made.programs.push_back(Signs(plan, shape, q_columns, is_turned).build());
  return made;
}

}  // namespace adit::ops
