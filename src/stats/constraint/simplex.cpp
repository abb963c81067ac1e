// Vectors of K positive numbers that sum to 1, from K - 1 reals: the inverse isometric log ratio.
//
//   z = V u,  x = softmax(z)
//
// V [K, K - 1] has orthonormal columns that sum to zero: with i and j from 1 and r_j = 1 / sqrt(j (j + 1)),
//   V_ij = r_j where i <= j,  -j r_j where i = j + 1,  0 below.
// The volume of x_1 .. x_{K-1} changes by sqrt(K) x_1 x_2 ... x_K. Since the z sum to zero,
//   log |J| = log(K) / 2 - K logsumexp(z).
// The inverse is u = V' log(x).
#include <cmath>

#include "stats/constraint/parts.hpp"

namespace adit::constraint {

namespace {

// V'. Its rows are counted by j, its columns by i.
Tensor basis(int64_t size) {
  const Shape shape{size - 1, size};
  const Tensor one = stats::real(1), zero = stats::real(0);
  const Tensor j = iota(shape, DType::f64, 0) + one, i = iota(shape, DType::f64, 1) + one;
  const Tensor r = rsqrt(j * (j + one));
  return select(less_equal(i, j), r, select(equal(i, j + one), -j * r, broadcast_to(zero, shape)));
}

Tensor sums_to_one(const Tensor& x) {
  const Tensor positive = stats::all_of_event(greater_equal(x, stats::real(0)), 1);
  return logical_and(positive, less_equal(abs(sum(x, {-1}) - stats::real(1)), stats::real(1e-8)));
}

}  // namespace

Constraint simplex() {
  Constraint c{.name = "simplex", .event_rank = 1, .expected = "numbers of at least 0 that sum to 1"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_vector("simplex", x);
    return stats::with_last(x, x.back() - 1);
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const auto size = static_cast<double>(x.back());
    if (x.back() == 1) return Constrained{ones(x, DType::f64), stats::real(0)};
    const Tensor z = dot(u, basis(x.back())), whole = logsumexp(z, {-1}, true);
    const double count = static_cast<double>(element_count(x)) / size;
    return Constrained{exp(z - whole),
                       stats::real(count * std::log(size) / 2) - stats::real(size) * sum(whole)};
  };
  c.unconstrain = [](const Tensor& x) { return dot(log(x), transpose(basis(x.dim(-1)))); };
  c.contains = sums_to_one;
  return c;
}

}  // namespace adit::constraint
