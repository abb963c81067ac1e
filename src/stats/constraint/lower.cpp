// Above a bound: x = L + exp(u), dx/du = exp(u), so that the log Jacobian is u. Below one: x = U - exp(u),
// the same Jacobian. The bound itself counts as inside: observations may lie on it.
#include <cmath>

#include "stats/constraint/parts.hpp"

namespace adit::constraint {

using stats::literal_of;

namespace {

bool is_zero(const Tensor& bound) { return literal_of(bound) == 0.0; }

}  // namespace

Constraint lower(Parameter bound) {
  const Tensor low = bound;
  if (const auto number = literal_of(low)) {
    if (*number == -INFINITY) return real();
    if (!std::isfinite(*number))
      graph::fail("lower", "bound", "expected a number, got " + stats::number_words(low));
  }
  Constraint c{.name = "lower", .expected = "a number of at least " + stats::number_words(low)};
  c.unconstrained_shape = [low](const Shape& x) {
    stats::expect_bound("lower", "bound", low, x);
    return x;
  };
  c.constrain = [low](const Tensor& u, const Shape&) {
    return Constrained{is_zero(low) ? exp(u) : low + exp(u), sum(u)};
  };
  c.unconstrain = [low](const Tensor& x) { return is_zero(low) ? log(x) : log(x - low); };
  c.contains = [low](const Tensor& x) {
    return logical_and(greater_equal(x, low), logical_not(is_infinity(x)));
  };
  return c;
}

Constraint positive() { return lower(0.0); }

Constraint upper(Parameter bound) {
  const Tensor high = bound;
  if (const auto number = literal_of(high)) {
    if (*number == INFINITY) return real();
    if (!std::isfinite(*number))
      graph::fail("upper", "bound", "expected a number, got " + stats::number_words(high));
  }
  Constraint c{.name = "upper", .expected = "a number of at most " + stats::number_words(high)};
  c.unconstrained_shape = [high](const Shape& x) {
    stats::expect_bound("upper", "bound", high, x);
    return x;
  };
  c.constrain = [high](const Tensor& u, const Shape&) { return Constrained{high - exp(u), sum(u)}; };
  c.unconstrain = [high](const Tensor& x) { return log(high - x); };
  c.contains = [high](const Tensor& x) {
    return logical_and(less_equal(x, high), logical_not(is_infinity(x)));
  };
  return c;
}

}  // namespace adit::constraint
