// Numbers that sum to zero, from one fewer, by the isometry V of the simplex (log_ratio.hpp): x = V u. It
// keeps volumes. A matrix has an isometry along both axes: X = W U W'. Stan's for matrices is another one
// than for vectors: with j from 0 and a_j = 1 / sqrt((j + 1) (j + 2)), column j of W is -a_j in the first j
// places, (j + 1) a_j in the next, -a_j in the last, and 0 between.
#include "stats/constraint/log_ratio.hpp"
#include "stats/constraint/parts.hpp"

namespace adit::constraint {

namespace {

Tensor sums_to_zero(const Tensor& x, const Axes& axes) {
  return less_equal(abs(sum(x, axes)), stats::real(1e-8));
}

// W' [size - 1, size].
Tensor matrix_basis(int64_t size) {
  const Shape shape{size - 1, size};
  const Tensor one = stats::real(1), zero = stats::real(0);
  const Tensor j = iota(shape, DType::f64, 0), i = iota(shape, DType::f64, 1);
  const Tensor a = rsqrt((j + one) * (j + one + one));
  const Tensor is_outside = logical_or(less(i, j), equal(i, stats::real(static_cast<double>(size - 1))));
  return select(equal(i, j), (j + one) * a, select(is_outside, -a, broadcast_to(zero, shape)));
}

}  // namespace

Constraint sum_to_zero() {
  Constraint c{.name = "sum_to_zero", .event_rank = 1, .expected = "numbers that sum to 0"};
  c.unconstrained_shape = [](const Shape& x) {
    stats::expect_vector("sum_to_zero", x);
    return stats::with_last(x, x.back() - 1);
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    if (x.back() == 1) return Constrained{zeros(x, DType::f64), stats::real(0)};
    return Constrained{dot(u, stats::log_ratio_basis(x.back())), stats::real(0)};
  };
  c.unconstrain = [](const Tensor& x) { return dot(x, transpose(stats::log_ratio_basis(x.dim(-1)))); };
  c.contains = [](const Tensor& x) { return sums_to_zero(x, {-1}); };
  return c;
}

Constraint sum_to_zero_matrix() {
  Constraint c{
      .name = "sum_to_zero_matrix", .event_rank = 2, .expected = "a matrix whose rows and columns sum to 0"};
  c.unconstrained_shape = [](const Shape& x) {
    if (x.size() < 2 || x.back() < 1 || x[x.size() - 2] < 1)
      graph::fail("sum_to_zero_matrix", "shape", "expected a matrix, got " + to_string(x));
    Shape u = x;
    u[u.size() - 1] -= 1, u[u.size() - 2] -= 1;
    return u;
  };
  c.constrain = [](const Tensor& u, const Shape& x) {
    const int64_t rows = x[x.size() - 2], columns = x.back();
    if (rows == 1 || columns == 1) return Constrained{zeros(x, DType::f64), stats::real(0)};
    const Tensor left = transpose(matrix_basis(rows));
    return Constrained{matmul(matmul(left, u), matrix_basis(columns)), stats::real(0)};
  };
  c.unconstrain = [](const Tensor& x) {
    const Tensor right = transpose(matrix_basis(x.dim(-1)));
    return matmul(matmul(matrix_basis(x.dim(-2)), x), right);
  };
  c.contains = [](const Tensor& x) {
    return logical_and(stats::all_of_event(sums_to_zero(x, {-1}), 1),
                       stats::all_of_event(sums_to_zero(x, {-2}), 1));
  };
  return c;
}

}  // namespace adit::constraint
