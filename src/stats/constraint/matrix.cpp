#include "stats/constraint/matrix.hpp"

#include <cmath>

namespace adit::stats {

namespace {

struct Places {
  Tensor row, column;  // i32 [K, K]
};
Places places(int64_t size) {
  const Shape shape{size, size};
  return {iota(shape, DType::i32, 0), iota(shape, DType::i32, 1)};
}
Tensor whole(int64_t value) { return graph::constant_integer(DType::i32, value); }

// Elements `index` of u where the mask is 1. Indices elsewhere may be any, and what they read is not used.
Tensor placed(const Tensor& u, const Tensor& index, const Tensor& mask, int64_t size) {
  Shape shape = u.shape();
  shape[shape.size() - 1] = size;
  shape.push_back(size);
  if (u.dim(-1) == 0) return zeros(shape, DType::f64);
  const Tensor inside = minimum(maximum(index, whole(0)), whole(u.dim(-1) - 1));
  const Tensor taken = reshape(take(u, reshape(inside, {size * size}), u.rank() - 1), shape);
  return select(broadcast_to(mask, shape), taken, broadcast_to(real(0), shape));
}

// Elements (first, fixed), (first + 1, fixed), ... below the diagonal: a row's or a column's.
Tensor line(const Tensor& x, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
  starts[x.rank() - 2] = row;
  starts[x.rank() - 1] = column;
  lengths[x.rank() - 2] = rows;
  lengths[x.rank() - 1] = columns;
  Shape flat(std::span<const int64_t>(x.shape().begin(), static_cast<size_t>(x.rank() - 2)));
  flat.push_back(rows * columns);
  return reshape(slice(x, starts, lengths), flat);
}

Tensor joined(const Tensor& x, const std::vector<Tensor>& lines) {
  if (!lines.empty()) return concatenate(lines, -1);
  Shape none(std::span<const int64_t>(x.shape().begin(), static_cast<size_t>(x.rank() - 2)));
  none.push_back(0);
  return zeros(none, x.dtype());
}

}  // namespace

Tensor strictly_lower(const Tensor& u, int64_t size, Order order) {
  const auto [row, column] = places(size);
  // By rows, i (i - 1) / 2 numbers stand before row i; by columns, j (2 K - j - 1) / 2 before column j.
  const Tensor by_rows = quotient(row * (row - whole(1)), whole(2)) + column;
  const Tensor by_columns =
      quotient(column * (whole(2 * size - 1) - column), whole(2)) + (row - column - whole(1));
  return placed(u, order == Order::rows ? by_rows : by_columns, greater(row, column), size);
}

Tensor lower(const Tensor& u, int64_t size) {
  const auto [row, column] = places(size);
  return placed(u, quotient(row * (row + whole(1)), whole(2)) + column, greater_equal(row, column), size);
}

Tensor from_strictly_lower(const Tensor& x, Order order) {
  const int64_t size = x.dim(-1);
  std::vector<Tensor> lines;
  for (int64_t i = 0; i + 1 < size; ++i)
    lines.push_back(order == Order::rows ? line(x, i + 1, 0, 1, i + 1) : line(x, i + 1, i, size - i - 1, 1));
  return joined(x, lines);
}

Tensor from_lower(const Tensor& x) {
  std::vector<Tensor> lines;
  for (int64_t i = 0; i < x.dim(-1); ++i) lines.push_back(line(x, i, 0, 1, i + 1));
  return joined(x, lines);
}

// With z = tanh(y), row i of the factor is z_i1, z_i2 sqrt(1 - z_i1^2), ... and ends with what makes its
// length 1: element (i, j) has the product of sqrt(1 - z_il^2) over l < j. Products are sums of logarithms
// here, and log(1 - tanh(y)^2) = 2 (log 2 - y - softplus(-2 y)).
CorrelationFactor correlation_factor(const Tensor& y, int64_t size, Order order) {
  const auto [row, column] = places(size);
  const Tensor plain = real(2) * (real(std::log(2.0)) - y - softplus(real(-2) * y));
  const Tensor logs = strictly_lower(plain, size, order);
  const Tensor before = dot(logs, triangle(size, Side::above));
  const Tensor diagonal = broadcast_to(as_type(equal(row, column), DType::f64), logs.shape());
  const Tensor below_or_on = broadcast_to(less_equal(column, row), logs.shape());
  const Tensor z = strictly_lower(tanh(y), size, order) + diagonal;
  const Tensor factor = z * exp(real(0.5) * before);
  return {select(below_or_on, factor, broadcast_to(real(0), logs.shape())), logs};
}

// z_ij / sqrt(1 - z_ij^2) is the element over the length of what follows it in its row: y is its asinh.
Tensor partial_correlations(const Tensor& factor, Order order) {
  const Tensor after = dot(square(factor), triangle(factor.dim(-1), Side::below));
  return asinh(from_strictly_lower(factor, order) / sqrt(from_strictly_lower(after, order)));
}

Tensor product_of(const Tensor& factor) {
  Axes order = Dims::counted(factor.rank());
  std::swap(order[factor.rank() - 1], order[factor.rank() - 2]);
  return matmul(factor, transpose(factor, order));
}

Tensor is_positive_definite(const Tensor& x) {
  Axes order = Dims::counted(x.rank());
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  const Tensor other = transpose(x, order);
  const Tensor symmetric = less_equal(abs(x - other), real(1e-8) * (real(1) + abs(x)));
  return all_of_event(logical_and(symmetric, logical_not(is_nan(cholesky(x)))), 2);
}

}  // namespace adit::stats
