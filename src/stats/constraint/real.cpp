// All real numbers: x = u, and the Jacobian is 1.
#include "stats/constraint/parts.hpp"

namespace adit::constraint {

Constraint real() {
  Constraint c{.name = "real", .is_identity = true, .expected = "a finite number"};
  c.unconstrained_shape = [](const Shape& x) { return x; };
  c.constrain = [](const Tensor& u, const Shape&) { return Constrained{u, stats::real(0)}; };
  c.unconstrain = [](const Tensor& x) { return x; };
  c.contains = [](const Tensor& x) { return logical_not(logical_or(is_nan(x), is_infinity(x))); };
  return c;
}

}  // namespace adit::constraint
