// Whole numbers, which only observations are: there is no smooth map from the reals to them.
#include <fmt/format.h>

#include "stats/constraint/parts.hpp"

namespace adit::constraint {

namespace {

[[noreturn]] void no_map() {
  graph::fail("integer", "constraint",
              "expected a continuous one, got whole numbers, which cannot be sampled");
}

Constraint discrete(std::string expected) {
  Constraint c{.name = "integer", .discrete = true, .expected = std::move(expected)};
  c.unconstrained_shape = [](const Shape&) -> Shape { no_map(); };
  c.constrain = [](const Tensor&, const Shape&) -> Constrained { no_map(); };
  c.unconstrain = [](const Tensor&) -> Tensor { no_map(); };
  return c;
}

Tensor whole_from(const Tensor& x, int64_t low) {
  const Tensor bound = graph::constant(DType::f64, static_cast<double>(low));
  const Tensor finite = logical_not(is_infinity(x));
  return logical_and(logical_and(equal(floor(x), x), greater_equal(x, bound)), finite);
}

}  // namespace

Constraint integer(int64_t low) {
  Constraint c = discrete(fmt::format("a whole number of at least {}", low));
  c.contains = [low](const Tensor& x) { return whole_from(as_type(x, DType::f64), low); };
  return c;
}

Constraint integer(int64_t low, Parameter bound) {
  const Tensor high = bound;
  Constraint c = discrete(fmt::format("a whole number from {} to {}", low, stats::number_words(high)));
  c.contains = [low, high](const Tensor& x) {
    const Tensor wide = as_type(x, DType::f64);
    return logical_and(whole_from(wide, low), less_equal(wide, high));
  };
  return c;
}

}  // namespace adit::constraint
