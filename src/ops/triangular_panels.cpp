// Triangular systems with a on the left by blocks of rows: the block is solved, a lane a right-hand side;
// then the rows that are left lose its share, four by four in registers.
#include <algorithm>
#include <vector>

#include "ops/factor_passes.hpp"
#include "ops/factor_writer.hpp"

namespace adit::ops {

using namespace kernel;

namespace triangular_panels {
namespace {

constexpr uint32_t rows = 32, tile = 4;

// Row and column numbers count from the end that is solved first.
struct System {
  MatrixView a, x;
  uint32_t n;
  bool lower;
  Value row(Value i) const { return lower ? i : i.like(n - 1) - i; }
  Number t(Value i, Value p) const { return a.get(row(i), row(p)); }
  Number b(Value i, Value c) const { return x.get(row(i), c); }
  void put(Value i, Value c, Number value) const { x.put(row(i), c, value); }
};

System system_of(const FactorPlan& plan, uint32_t columns, bool lower, const Array& a, const Array& x,
                 Value matrix) {
  return {{a, matrix * (uint64_t{plan.n} * plan.n), plan.n, plan.complex},
          {x, matrix * (uint64_t{plan.n} * columns), columns, plan.complex},
          plan.n,
          lower};
}

Program block(const FactorPlan& plan, uint32_t columns, bool lower, bool unit) {
  Builder k(lower ? "solve_lower_block" : "solve_upper_block", Team::one());
  const Array a = k.buffer("a", plan.type, Access::read), x = k.buffer("x", plan.type, Access::read_write);
  const Value start = k.scalar("start", Type::u32), team = k.team(Type::u64);
  const Value c = convert(team % columns, Type::u32), last = k.constant(Type::u32, plan.n - 1);
  const System s = system_of(plan, columns, lower, a, x, team / columns);
  std::vector<Number> solved;
  for (uint32_t i = 0; i < std::min(rows, plan.n); ++i) {
    const Value row = min(start + i, last);  // beyond the last nothing is stored
    const NumberSum sum(k, s.b(row, c), plan.complex);
    for (uint32_t p = 0; p < i; ++p) sum.subtract(s.t(row, min(start + p, last)), solved[p]);
    solved.push_back(unit ? sum.get() : quotient_of(sum.get(), s.t(row, row), plan.complex));
  }
  for (uint32_t i = 0; i < solved.size(); ++i)
    k.if_(start + i <= last, [&] { s.put(start + i, c, solved[i]); });
  return k.finish();
}

Program update(const FactorPlan& plan, uint32_t columns, bool lower) {
  Builder k(lower ? "solve_lower_rest" : "solve_upper_rest", Team::one());
  const Array a = k.buffer("a", plan.type, Access::read), x = k.buffer("x", plan.type, Access::read_write);
  const Value end = k.scalar("end", Type::u32), team = k.team(Type::u64);
  const Value left = k.constant(Type::u32, plan.n) - end,
              high = convert((left + (tile - 1)) / tile, Type::u64);
  const uint64_t wide = (columns + tile - 1) / tile;
  const Value matrix = team / (high * wide), place = team % (high * wide);
  const Value row = end + convert(place / wide, Type::u32) * tile,
              column = convert(place % wide, Type::u32) * tile;
  const Value last_row = k.constant(Type::u32, plan.n - 1), last_column = k.constant(Type::u32, columns - 1);
  const System s = system_of(plan, columns, lower, a, x, matrix);
  const auto r = [&](uint32_t i) { return min(row + i, last_row); };
  const auto c = [&](uint32_t j) { return min(column + j, last_column); };
  std::vector<NumberSum> sums;
  for (uint32_t i = 0; i < tile; ++i)
    for (uint32_t j = 0; j < tile; ++j) sums.emplace_back(k, s.b(r(i), c(j)), plan.complex);
  k.for_(end - rows, end, end.like(1), [&](Value p) {
    std::vector<Number> t, b;
    for (uint32_t i = 0; i < tile; ++i) t.push_back(s.t(r(i), p));
    for (uint32_t j = 0; j < tile; ++j) b.push_back(s.b(p, c(j)));
    for (uint32_t i = 0; i < tile; ++i)
      for (uint32_t j = 0; j < tile; ++j) sums[i * tile + j].subtract(t[i], b[j]);
  });
  for (uint32_t i = 0; i < tile; ++i)
    for (uint32_t j = 0; j < tile; ++j)
      k.if_(row + i <= last_row && column + j <= last_column,
            [&] { s.put(row + i, column + j, sums[i * tile + j].get()); });
  return k.finish();
}

}  // namespace
}  // namespace triangular_panels

Factor triangular_by_panels(const FactorPlan& plan, uint32_t columns, bool lower, bool unit) {
  using namespace triangular_panels;
  Factor made;
  if (plan.n == 0 || columns == 0 || plan.batch == 0) return made;
  made.programs = {block(plan, columns, lower, unit), update(plan, columns, lower)};
  for (uint32_t start = 0; start < plan.n; start += rows) {
    made.passes.push_back({0, plan.batch * columns, {0, 1}, {start}});
    const uint32_t end = start + rows;
    if (end >= plan.n) continue;
    const uint64_t high = (plan.n - end + tile - 1) / tile, wide = (columns + tile - 1) / tile;
    made.passes.push_back({1, plan.batch * high * wide, {0, 1}, {end}});
  }
  return made;
}

}  // namespace adit::ops
