// Shifted and scaled: x = o + m u with m > 0, dx/du = m.
#include "stats/constraint/parts.hpp"

namespace adit::constraint {

Constraint offset_multiplier(Parameter shift, Parameter scale) {
  const Tensor offset = shift, multiplier = scale;
  if (const auto m = stats::literal_of(multiplier); m && !(*m > 0))
    graph::fail("offset_multiplier", "multiplier",
                "expected a number above 0, got " + stats::number_words(multiplier));
  Constraint c{.name = "offset_multiplier", .expected = "a finite number"};
  c.unconstrained_shape = [offset, multiplier](const Shape& x) {
    stats::expect_bound("offset_multiplier", "offset", offset, x);
    stats::expect_bound("offset_multiplier", "multiplier", multiplier, x);
    return x;
  };
  c.constrain = [offset, multiplier](const Tensor& u, const Shape& x) {
    return Constrained{offset + multiplier * u, stats::total(log(multiplier), x)};
  };
  c.unconstrain = [offset, multiplier](const Tensor& x) { return (x - offset) / multiplier; };
  c.contains = real().contains;
  return c;
}

}  // namespace adit::constraint
