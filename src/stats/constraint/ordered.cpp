// Ascending vectors: x_1 = u_1, x_k = x_{k-1} + exp(u_k). The Jacobian is triangular with 1, exp(u_2), ... on
// its diagonal: its logarithm is u_2 + ... + u_K. Positive ones start with x_1 = exp(u_1), and u_1 joins the
// sum.
//
// The running sum is a product with a triangle of ones.
#include "stats/constraint/parts.hpp"

namespace adit::constraint {

using stats::first;
using stats::rest;

namespace {

Tensor running_sum(const Tensor& steps) {
  return dot(steps, stats::triangle(steps.dim(-1), stats::Side::up_to));
}

Tensor differences(const Tensor& x) { return rest(x, 1) - first(x, x.dim(-1) - 1); }

Tensor ascends(const Tensor& x) {
  const Tensor finite = stats::all_of_event(logical_not(logical_or(is_nan(x), is_infinity(x))), 1);
  if (x.dim(-1) == 1) return finite;
  return logical_and(finite, stats::all_of_event(greater(rest(x, 1), first(x, x.dim(-1) - 1)), 1));
}

}  // namespace

Constraint ordered() {
  Constraint c{.name = "ordered", .event_rank = 1, .expected = "ascending numbers"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_vector("ordered", x);
    return x;
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    if (x.back() == 1) return Constrained{u, stats::real(0)};
    const Tensor later = rest(u, 1);
    return Constrained{running_sum(concatenate({first(u, 1), exp(later)}, -1)), sum(later)};
  };
  c.unconstrain = [](const Tensor& x) {
    return x.dim(-1) == 1 ? x : concatenate({first(x, 1), log(differences(x))}, -1);
  };
  c.contains = ascends;
  return c;
}

Constraint positive_ordered() {
  Constraint c{.name = "positive_ordered", .event_rank = 1, .expected = "ascending numbers above 0"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_vector("positive_ordered", x);
    return x;
  };
  c.constrain = [](const Tensor& u, const Shape&) { return Constrained{running_sum(exp(u)), sum(u)}; };
  c.unconstrain = [](const Tensor& x) {
    return x.dim(-1) == 1 ? log(x) : log(concatenate({first(x, 1), differences(x)}, -1));
  };
  c.contains = [](const Tensor& x) {
    return logical_and(ascends(x), stats::all_of_event(greater(first(x, 1), stats::real(0)), 1));
  };
  return c;
}

}  // namespace adit::constraint
