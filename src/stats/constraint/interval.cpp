// Between two bounds: x = L + (U - L) s with s = sigmoid(u), dx/du = (U - L) s (1 - s).
//
// log s + log(1 - s) = u - 2 softplus(u), which has no cancellation. Bounds may be parameters of a model; a
// bound that is known to be infinite is none.
#include <cmath>
#include <fmt/format.h>

#include "stats/constraint/parts.hpp"

namespace adit::constraint {

namespace {

void expect_order(const Tensor& low, const Tensor& high) {
  const auto l = stats::literal_of(low), h = stats::literal_of(high);
  if (l && h && !(*l < *h))
    graph::fail("interval", "high", fmt::format("expected a number above {}, got {}", *l, *h));
}

}  // namespace

Constraint interval(Parameter from, Parameter to) {
  const Tensor low = from, high = to;
  if (stats::literal_of(low) == -INFINITY) return upper(high);
  if (stats::literal_of(high) == INFINITY) return lower(low);
  expect_order(low, high);
  Constraint c{
      .name = "interval",
      .expected = fmt::format("a number from {} to {}", stats::number_words(low), stats::number_words(high))};
  const bool is_unit = stats::literal_of(low) == 0.0 && stats::literal_of(high) == 1.0;
  c.unconstrained_shape = [low, high](const Shape& x) {
    stats::expect_bound("interval", "low", low, x);
    stats::expect_bound("interval", "high", high, x);
    return x;
  };
  c.constrain = [low, high, is_unit](const Tensor& u, const Shape& x) {
    const Tensor s = sigmoid(u), slope = sum(u - stats::real(2) * softplus(u));
    if (is_unit) return Constrained{s, slope};
    const Tensor width = high - low;
    return Constrained{low + width * s, stats::total(log(width), x) + slope};
  };
  c.unconstrain = [low, high](const Tensor& x) { return log(x - low) - log(high - x); };
  c.contains = [low, high](const Tensor& x) {
    return logical_and(greater_equal(x, low), less_equal(x, high));
  };
  return c;
}

Constraint unit() { return interval(0.0, 1.0); }

}  // namespace adit::constraint
