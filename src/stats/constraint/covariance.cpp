// Covariance matrices, from K (K + 1) / 2 reals: S = L L' with u row by row in the lower triangle of L, whose
// diagonal is exp(u_kk). To the lower triangle of S, with k counted from 0,
//   log |J| = K log 2 + sum_k (K - k + 1) u_kk.
#include <cmath>

#include "stats/constraint/matrix.hpp"

namespace adit::constraint {

namespace {

Tensor diagonal_mask(int64_t size) {
  const Shape shape{size, size};
  return equal(iota(shape, DType::i32, 0), iota(shape, DType::i32, 1));
}

}  // namespace

Constraint cov_matrix() {
  Constraint c{.name = "cov_matrix", .event_rank = 2, .expected = "a symmetric positive definite matrix"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_square("cov_matrix", x);
    Shape u = x;
    u.erase(u.size() - 1);
    return stats::with_last(u, x.back() * (x.back() + 1) / 2);
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const int64_t size = x.back();
    const Tensor plain = stats::lower(u, size), mask = broadcast_to(diagonal_mask(size), x);
    const Tensor zero = broadcast_to(stats::real(0), x);
    // The exponential sees the diagonal alone: elsewhere it might overflow.
    const Tensor diagonal = select(mask, plain, zero);
    const Tensor factor = select(mask, exp(diagonal), plain);
    const auto last = static_cast<double>(size);
    const Tensor weight = stats::real(last + 1) - iota({size, size}, DType::f64, 0);
    const double constant = static_cast<double>(element_count(x)) / last * std::log(2.0);
    return Constrained{stats::product_of(factor), stats::real(constant) + sum(diagonal * weight)};
  };
  c.unconstrain = [](const Tensor& x) {
    const Tensor factor = cholesky(x), mask = broadcast_to(diagonal_mask(x.dim(-1)), x.shape());
    return stats::from_lower(
        select(mask, log(select(mask, factor, broadcast_to(stats::real(1), x.shape()))), factor));
  };
  c.contains = stats::is_positive_definite;
  return c;
}

}  // namespace adit::constraint
