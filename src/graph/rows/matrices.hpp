// What the rules of matrices share: tensors whose last two axes are matrices.
#pragma once

#include <fmt/format.h>

#include "graph/derive.hpp"
#include "graph/row.hpp"

namespace adit::graph::matrices {

inline Tensor swapped(const Tensor& x) {
  Axes order = Dims::counted(x.rank());
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return transpose(x, order);
}
inline Tensor conjugated(const Tensor& x) { return is_complex(x.dtype()) ? conjugate(x) : x; }
inline Tensor adjoint(const Tensor& x) { return conjugated(swapped(x)); }

inline Tensor row_numbers(const Shape& shape) { return iota(shape, DType::i32, shape.size() - 2); }
inline Tensor column_numbers(const Shape& shape) { return iota(shape, DType::i32, shape.size() - 1); }

// Entries whose row is at least their column plus `from`, the others zero; and those whose row is at most
// that.
inline Tensor lower_part(const Tensor& x, int from = 0) {
  const Tensor limit = column_numbers(x.shape()) + constant_integer(DType::i32, from);
  return select(row_numbers(x.shape()) >= limit, x, zeros_like(x));
}
inline Tensor upper_part(const Tensor& x) {
  return select(row_numbers(x.shape()) <= column_numbers(x.shape()), x, zeros_like(x));
}
inline Tensor on_diagonal(const Shape& shape) { return row_numbers(shape) == column_numbers(shape); }

// The numbers on the diagonals, [.., min(m, n)].
inline Tensor diagonal(const Tensor& x) {
  const int rank = x.rank();
  const int64_t m = x.dim(-2), n = x.dim(-1), count = std::min(m, n);
  Shape flat = x.shape();
  flat.erase(rank - 1);
  flat[rank - 2] = m * n;
  Dims starts(flat), lengths(flat), strides(flat);
  for (int axis = 0; axis < flat.size(); ++axis) {
    starts[axis] = 0;
    strides[axis] = 1;
  }
  lengths[rank - 2] = count == 0 ? 0 : (count - 1) * (n + 1) + 1;
  strides[rank - 2] = n + 1;
  return slice(reshape(x, flat), starts, lengths, strides);
}

// Matrices whose columns (rows) are multiplied by the numbers of d, [.., n].
inline Tensor times_columns(const Tensor& x, const Tensor& d) { return x * expand_dims(d, -2); }
inline Tensor times_rows(const Tensor& x, const Tensor& d) { return x * expand_dims(d, -1); }

inline Tensor product(const Tensor& a, const Tensor& b) {
  const Axes batch = Dims::counted(a.rank() - 2);
  return dot(a, {a.rank() - 1}, batch, b, {b.rank() - 2}, batch);
}

inline Shape with_matrix(const Shape& like, int64_t rows, int64_t columns) {
  Shape shape = like;
  shape[like.size() - 2] = rows;
  shape[like.size() - 1] = columns;
  return shape;
}
inline Shape with_vector(const Shape& like, int64_t length) {
  Shape shape = like;
  shape.erase(like.size() - 1);
  shape[like.size() - 2] = length;
  return shape;
}
inline Shape without_matrix(const Shape& like) {
  Shape shape = like;
  shape.erase(like.size() - 1);
  shape.erase(like.size() - 2);
  return shape;
}

inline void expect_matrices(std::string_view op, const Tensor& a) {
  if (is_integer(a.dtype())) fail(op, "a", fmt::format("expected floats, got {}", name_of(a.dtype())));
  if (a.rank() < 2) fail(op, "a", fmt::format("expected matrices, got shape {}", to_string(a.shape())));
}
inline void expect_square(std::string_view op, const Tensor& a) {
  expect_matrices(op, a);
  if (a.dim(-1) != a.dim(-2))
    fail(op, "a", fmt::format("expected square matrices, got shape {}", to_string(a.shape())));
}

}  // namespace adit::graph::matrices
