#include "ops/matrix_scale.hpp"

#include <limits>

#include "ops/factor_writer.hpp"

namespace adit::ops {

using namespace kernel;

Program largest_of_rows(const FactorPlan& plan, bool lower) {
  Builder k("largest_of_rows", Team::many(plan.n <= 128 ? 128 : 256));
  const Array x = k.buffer("x", plan.type, Access::read), to = k.buffer("largest", plan.type, Access::write);
  const Value team = k.team(Type::u64), row = convert(team % plan.m, Type::u32);
  const Value infinity = k.constant(plan.type, std::numeric_limits<double>::infinity());
  const Value count = lower ? row + 1 : k.constant(Type::u32, plan.n);
  const Value found = k.reduce(count, Reduction::max, [&](Value j) {
    const Number value = load_number(x, team * plan.n + convert(j, Type::u64), plan.complex);
    const auto size = [&](Value part) { return select(is_nan(part), infinity, abs(part)); };
    return plan.complex ? max(size(value.re), size(value.im)) : size(value.re);
  });
  k.once([&] { to[team] = found; });
  return k.finish();
}

Program scale_of(const FactorPlan& plan) {
  Builder k("scale_of_rows", Team::many(plan.m <= 128 ? 128 : 256));
  const Array largest = k.buffer("largest", plan.type, Access::read),
              to = k.buffer("scale", plan.type, Access::write);
  const Value team = k.team(Type::u64);
  const Value most = k.reduce(k.constant(Type::u32, plan.m), Reduction::max,
                              [&](Value i) { return largest[team * plan.m + convert(i, Type::u64)].get(); });
  const Value infinity = most.like(std::numeric_limits<double>::infinity());
  k.once([&] { to[team] = select(most < infinity, select(most > 0, most, most.like(1)), nan_like(most)); });
  return k.finish();
}

}  // namespace adit::ops
