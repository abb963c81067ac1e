// Cholesky's factor by panels of columns: the square on the diagonal by a team, the rows below it by a lane
// each, then what is left of the matrix loses their products.
#include <algorithm>
#include <functional>

#include "ops/factor_passes.hpp"
#include "ops/factor_writer.hpp"
#include "ops/trailing.hpp"

namespace adit::ops {

using namespace kernel;

namespace cholesky_panels {
namespace {

constexpr uint32_t columns = 32, step = columns + 1, lanes = 128;

// The square in shared memory. A pivot that is not positive makes NaN of itself, and so of what comes after.
class Square {
 public:
  explicit Square(const FactorPlan& plan)
      : n_(plan.n), complex_(plan.complex), k_("cholesky_square", Team::many(lanes)) {
    const Array memory = k_.buffer("a", plan.type, Access::read_write);
    start_ = k_.scalar("start", Type::u32);
    a_ = {memory, k_.team(Type::u64) * (uint64_t{n_} * n_), n_, complex_};
    square_ = k_.shared(plan.type, columns * step * (complex_ ? 2 : 1));
  }

  Program build() {
    each_below(word(0), [&](Value r, Value c) { put(r, c, a_.get(start_ + r, start_ + c)); });
    k_.for_(min(word(columns), word(n_) - start_), [&](Value p) {
      // Rows below take their share of this column before it is divided: one loop less to wait for.
      const Value pivot = get(p, p).re;
      const Value share = select(pivot > 0, 1 / pivot, nan_like(pivot));
      each_below(p + 1, [&](Value r, Value c) {
        const NumberSum sum(k_, get(r, c), complex_);
        sum.subtract(times_real(get(r, p), share, complex_), conjugated(get(c, p), complex_));
        put(r, c, sum.get());
      });
    });
    each_below(word(0), [&](Value r, Value c) {
      const Value pivot = get(c, c).re, root = select(pivot > 0, sqrt(pivot), nan_like(pivot));
      const Number x = get(r, c);
      const Value is_root = r == c;
      a_.put(
          start_ + r, start_ + c,
          {select(is_root, root, x.re / root), complex_ ? select(is_root, root.like(0), x.im / root) : root});
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Number get(Value r, Value c) { return load_number(square_, r * step + c, complex_); }
  void put(Value r, Value c, Number x) { store_number(square_, r * step + c, x, complex_); }
  // Places on and below the diagonal, from row and column `from` on, that are inside of the matrix.
  void each_below(Value from, const std::function<void(Value, Value)>& f) {
    k_.each(word(columns * columns), [&](Value e) {
      const Value r = e / columns, c = e % columns;
      k_.if_(from <= c && c <= r && start_ + r < n_, [&] { f(r, c); });
    });
  }

  uint32_t n_;
  bool complex_;
  Builder k_;
  Value start_;
  MatrixView a_;
  Array square_;
};

// An invocation a row below the square: x with x l^H = a.
Program below(const FactorPlan& plan) {
  Builder k("cholesky_below", Team::one());
  const Array memory = k.buffer("a", plan.type, Access::read_write);
  const Value end = k.scalar("end", Type::u32), start = end - columns;
  const Value team = k.team(Type::u64), left = convert(k.constant(Type::u32, plan.n) - end, Type::u64);
  const Value row = end + convert(team % left, Type::u32);
  const MatrixView a{memory, team / left * (uint64_t{plan.n} * plan.n), plan.n, plan.complex};
  std::vector<Number> solved;
  for (uint32_t c = 0; c < columns; ++c) {
    const NumberSum sum(k, a.get(row, start + c), plan.complex);
    for (uint32_t p = 0; p < c; ++p)
      sum.subtract(solved[p], conjugated(a.get(start + c, start + p), plan.complex));
    const Value root = a.get(start + c, start + c).re;
    const Number x = sum.get();
    solved.push_back({x.re / root, plan.complex ? x.im / root : x.im});
    a.put(row, start + c, solved.back());
  }
  return k.finish();
}

Program upper_cleared(const FactorPlan& plan) {
  Builder k("cholesky_clear", Team::one());
  const Array memory = k.buffer("a", plan.type, Access::write);
  const Value team = k.team(Type::u64), column = team % plan.n, row = team / plan.n % plan.n;
  k.if_(column > row, [&] {
    const Value zero = k.constant(plan.type, 0);
    store_number(memory, team, {zero, zero}, plan.complex);
  });
  return k.finish();
}

}  // namespace
}  // namespace cholesky_panels

Factor cholesky_by_panels(const FactorPlan& plan) {
  using namespace cholesky_panels;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  made.loop_trips = columns * (2 + columns * columns / lanes);
  made.programs = {Square(plan).build(), below(plan),
                   trailing_program({plan.type, plan.complex, plan.n, columns, true}), upper_cleared(plan)};
  for (uint32_t start = 0; start < plan.n; start += columns) {
    made.passes.push_back({0, plan.batch, {0}, {start}});
    const uint32_t end = start + columns;
    if (end >= plan.n) continue;
    made.passes.push_back({1, plan.batch * (plan.n - end), {0}, {end}});
    made.passes.push_back({2, trailing_teams(plan.n - end, plan.batch), {0}, {end}});
  }
  made.passes.push_back({3, plan.batch * plan.n * plan.n, {0}});
  return made;
}

}  // namespace adit::ops
