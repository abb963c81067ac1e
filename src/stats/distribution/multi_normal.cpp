// Multivariate normal by mean m and covariance C = L L^T, L from a Cholesky factorisation:
//
//   log p(x) = -|z|^2 / 2 - sum_k log L_kk - K/2 log(2 pi),   L z = x - m
//
// The lower triangle of C is read. Mean m, variance the diagonal of C.
#include "stats/distribution/multi_normal.hpp"

#include <cmath>

namespace adit {

using namespace stats;

Distribution multi_normal(const Tensor& mean, const Tensor& covariance) {
  constexpr auto name = "multi_normal";
  static constexpr Domain domain{"a positive definite matrix, whose Cholesky factor has a positive diagonal",
                                 [](double v) { return v > 0 && std::isfinite(v); }};
  const auto [m, c] = mean_and_matrix(name, mean, "covariance", covariance);
  const Tensor factor = cholesky(c);
  Distribution made = normal_of_factor(name, finite(name, "mean", m), factor,
                                       checked(name, "covariance", diagonal_of(factor), domain));
  const Shape whole = joined(made.batch, made.event);
  made.variance = [matrix = c, whole] { return broadcast_to(diagonal_of(matrix), whole); };
  return made;
}

}  // namespace adit
