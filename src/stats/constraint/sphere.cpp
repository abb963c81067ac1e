// Vectors of length 1, from K reals: x = u / |u|. The length of u is free; a standard normal holds it, whose
// logarithm stands in place of the Jacobian's.
#include "stats/constraint/parts.hpp"

namespace adit::constraint {

Constraint unit_vector() {
  Constraint c{.name = "unit_vector", .event_rank = 1, .expected = "numbers whose squares sum to 1"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_vector("unit_vector", x);
    return x;
  };
  c.constrain = [](const Tensor& u, const Shape&) {
    const Tensor squares = sum(u * u, {-1}, true);
    return Constrained{u * rsqrt(squares), stats::real(-0.5) * sum(squares)};
  };
  c.unconstrain = [](const Tensor& x) { return x; };
  c.contains = [](const Tensor& x) {
    return less_equal(abs(sum(x * x, {-1}) - stats::real(1)), stats::real(1e-8));
  };
  return c;
}

}  // namespace adit::constraint
