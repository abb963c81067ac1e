// Correlation matrices and their Cholesky factors, from K (K - 1) / 2 reals: canonical partial correlations
// z = tanh(y), as Lewandowski, Kurowicka and Joe (2009) and Stan use them.
//
// Factor (y row by row, below the diagonal): L_ij = z_ij prod_{l<j} sqrt(1 - z_il^2), and the diagonal makes
// rows of length 1. To the elements below the diagonal of L,
//   log |J| = sum_{j<i} (log(1 - z_ij^2) + 1/2 sum_{l<j} log(1 - z_il^2))
//           = sum_{j<i} (i - j + 1) / 2 log(1 - z_ij^2).
// Matrix (y column by column): R = L L'. To the elements below the diagonal of R, with j counted from 0,
//   log |J| = sum_{j<i} (K - j) / 2 log(1 - z_ij^2).
#include "stats/constraint/matrix.hpp"

namespace adit::constraint {

using stats::Order;

namespace {

// Sum over all matrices of weights times logs, where a weight is (rows i + columns j + constant) / 2.
Tensor weighted(const Tensor& logs, double rows, double columns, double constant) {
  const Shape square{logs.dim(-1), logs.dim(-1)};
  const Tensor i = iota(square, DType::f64, 0), j = iota(square, DType::f64, 1);
  const Tensor weight = stats::real(rows / 2) * i + stats::real(columns / 2) * j + stats::real(constant / 2);
  return sum(logs * weight);
}

Shape pairs(std::string_view where, const Shape& x) {
  stats::expect_square(where, x);
  const int64_t size = x.back();
  Shape u = x;
  u.erase(u.size() - 1);
  return stats::with_last(u, size * (size - 1) / 2);
}

Tensor diagonal_of(const Tensor& x) {
  return sum(x * broadcast_to(eye(x.dim(-1), -1, DType::f64), x.shape()), {-1});
}

Tensor near_one(const Tensor& x) { return less_equal(abs(x - stats::real(1)), stats::real(1e-8)); }

}  // namespace

Constraint cholesky_factor_corr() {
  Constraint c{.name = "cholesky_factor_corr",
               .event_rank = 2,
               .expected = "a lower triangle with rows of length 1 and a positive diagonal"};
  c.unconstrained_shape = [](const Shape& x) { return pairs("cholesky_factor_corr", x); };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const auto [factor, logs] = stats::correlation_factor(u, x.back(), Order::rows);
    return Constrained{factor, weighted(logs, 1, -1, 1)};
  };
  c.unconstrain = [](const Tensor& x) { return stats::partial_correlations(x, Order::rows); };
  c.contains = [](const Tensor& x) {
    const Tensor outside = x * broadcast_to(stats::triangle(x.dim(-1), stats::Side::above), x.shape());
    const Tensor lower = stats::all_of_event(equal(outside, stats::real(0)), 2);
    const Tensor rows = stats::all_of_event(near_one(sum(square(x), {-1})), 1);
    return logical_and(logical_and(lower, rows),
                       stats::all_of_event(greater(diagonal_of(x), stats::real(0)), 1));
  };
  return c;
}

Constraint corr_matrix() {
  Constraint c{.name = "corr_matrix", .event_rank = 2, .expected = "a correlation matrix"};
  c.unconstrained_shape = [](const Shape& x) { return pairs("corr_matrix", x); };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const auto [factor, logs] = stats::correlation_factor(u, x.back(), Order::columns);
    return Constrained{stats::product_of(factor), weighted(logs, 0, -1, static_cast<double>(x.back()))};
  };
  c.unconstrain = [](const Tensor& x) { return stats::partial_correlations(cholesky(x), Order::columns); };
  c.contains = [](const Tensor& x) {
    return logical_and(stats::is_positive_definite(x), stats::all_of_event(near_one(diagonal_of(x)), 1));
  };
  return c;
}

}  // namespace adit::constraint
