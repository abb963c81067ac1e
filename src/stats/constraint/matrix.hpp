// Triangular matrices from vectors, for the constraints of matrices.
#pragma once

#include "stats/constraint/parts.hpp"

namespace adit::stats {

// How the numbers below the diagonal follow one another.
enum class Order : uint8_t { rows, columns };

// u [..., n] at the places of a [..., K, K] matrix below the diagonal (and on it), zero elsewhere.
Tensor strictly_lower(const Tensor& u, int64_t size, Order order);
Tensor lower(const Tensor& u, int64_t size);
// The other way: those places as vectors.
Tensor from_strictly_lower(const Tensor& x, Order order);
Tensor from_lower(const Tensor& x);

// The factor of a correlation matrix whose canonical partial correlations are tanh(y), and log(1 -
// tanh(y)^2).
struct CorrelationFactor {
  Tensor factor;
  Tensor logs;  // [..., K, K], zero on and above the diagonal
};
CorrelationFactor correlation_factor(const Tensor& y, int64_t size, Order order);
// y from the factor.
Tensor partial_correlations(const Tensor& factor, Order order);
// The product of a factor with its transpose.
Tensor product_of(const Tensor& factor);
// 1 where a matrix is symmetric and positive definite.
Tensor is_positive_definite(const Tensor& x);

}  // namespace adit::stats
