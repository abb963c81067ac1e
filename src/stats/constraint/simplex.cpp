// Vectors of K positive numbers that sum to 1, from K - 1 reals: the inverse isometric log ratio.
//
//   z = V u,  x = softmax(z)
//
// V [K, K - 1] has orthonormal columns that sum to zero (log_ratio.hpp).
// The volume of x_1 .. x_{K-1} changes by sqrt(K) x_1 x_2 ... x_K. Since the z sum to zero,
//   log |J| = log(K) / 2 - K logsumexp(z).
// The inverse is u = V' log(x).
#include <cmath>

#include "stats/constraint/log_ratio.hpp"
#include "stats/constraint/parts.hpp"

namespace adit::stats {

// Its rows are counted by j, its columns by i.
Tensor log_ratio_basis(int64_t size) {
  const Shape shape{size - 1, size};
  const Tensor one = real(1), zero = real(0);
  const Tensor j = iota(shape, DType::f64, 0) + one, i = iota(shape, DType::f64, 1) + one;
  const Tensor r = rsqrt(j * (j + one));
  return select(less_equal(i, j), r, select(equal(i, j + one), -j * r, broadcast_to(zero, shape)));
}

}  // namespace adit::stats

namespace adit::constraint {

namespace {

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
    const Tensor z = dot(u, stats::log_ratio_basis(x.back())), whole = logsumexp(z, {-1}, true);
    const double count = static_cast<double>(element_count(x)) / size;
    return Constrained{exp(z - whole),
                       stats::real(count * std::log(size) / 2) - stats::real(size) * sum(whole)};
  };
  c.unconstrain = [](const Tensor& x) { return dot(log(x), transpose(stats::log_ratio_basis(x.dim(-1)))); };
  c.contains = sums_to_one;
  return c;
}

// Each column of a matrix is a simplex: that of the transposed, whose rows are.
Constraint column_stochastic() {
  const Constraint rows = simplex();
  Constraint c{.name = "column_stochastic",
               .event_rank = 2,
               .expected = "a matrix of numbers of at least 0 whose columns sum to 1"};
  c.unconstrained_shape = [=](const Shape& x) {
    return rows.unconstrained_shape(stats::turned("column_stochastic", x));
  };
  c.constrain = [=](const Tensor& u, const Shape& x) {
    const Constrained y = rows.constrain(u, stats::turned("column_stochastic", x));
    return Constrained{stats::turned(y.value), y.log_jacobian};
  };
  c.unconstrain = [=](const Tensor& x) { return rows.unconstrain(stats::turned(x)); };
  c.contains = [=](const Tensor& x) { return stats::all_of_event(rows.contains(stats::turned(x)), 1); };
  return c;
}

}  // namespace adit::constraint
