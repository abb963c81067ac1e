#include "stan/functions/lanes.hpp"

namespace adit::stan {

int64_t size_argument(const Arguments& arguments, size_t i) {
  return as_type(arguments.at(i), DType::i64).to_vector<int64_t>().at(0);
}

Part widened(const Part& p, int axes) {
  Part wide = p;
  while (wide.axes() < axes) wide.x = expand_dims(wide.x, wide.in_lanes ? 1 : 0);
  return wide;
}

Axes own_axes(const Part& p) {
  Axes axes;
  for (int i = 1; i <= p.axes(); ++i) axes.push_back(-i);
  return axes;
}

Tensor finished(const Arguments& arguments, const Part& p) {
  if (!arguments.any_lanes() || p.in_lanes) return p.x;
  Shape shape = p.x.shape();
  shape.insert(0, arguments.lanes);
  return broadcast_to(p.x, shape);
}

Tensor total(const Arguments& arguments, const Part& terms) {
  const Tensor summed = terms.axes() == 0 ? terms.x : sum(terms.x, own_axes(terms));
  return finished(arguments, {summed, terms.in_lanes});
}

Part transposed(const Part& p) {
  Axes axes = Axes::counted(p.x.rank());
  std::swap(axes[p.x.rank() - 1], axes[p.x.rank() - 2]);
  return {transpose(p.x, axes), p.in_lanes};
}
Part as_column(const Part& vector) { return {expand_dims(vector.x, -1), vector.in_lanes}; }
Part as_row(const Part& vector) { return {expand_dims(vector.x, -2), vector.in_lanes}; }
Part without_axis(const Part& p, int axis) { return {squeeze(p.x, {axis}), p.in_lanes}; }

Part times(const Part& a, const Part& b) {
  if (a.in_lanes == b.in_lanes) return {matmul(a.x, b.x), a.in_lanes};
  if (a.in_lanes) return {dot(a.x, {2}, {}, b.x, {0}, {}), true};
  return {transpose(dot(a.x, {1}, {}, b.x, {1}, {}), {1, 0, 2}), true};
}

Part times_vector(const Part& a, const Part& b) {
  if (!a.in_lanes && !b.in_lanes) return {dot(a.x, b.x), false};
  if (a.in_lanes == b.in_lanes) return without_axis(times(a, as_column(b)), -1);
  if (a.in_lanes) return {dot(a.x, {2}, {}, b.x, {0}, {}), true};
  return {dot(b.x, {1}, {}, a.x, {1}, {}), true};
}

Part lower_solve(const Part& factor, const Part& b, bool transpose_factor) {
  const TriangularOptions options{.lower = true, .left_side = true, .transpose = transpose_factor};
  if (factor.in_lanes == b.in_lanes) return {triangular_solve(factor.x, b.x, options), b.in_lanes};
  if (factor.in_lanes) {
    Shape shape = b.x.shape();
    shape.insert(0, factor.x.dim(0));
    return {triangular_solve(factor.x, broadcast_to(b.x, shape), options), true};
  }
  // One factor for all lanes: their columns stand side by side.
  const int64_t lanes = b.x.dim(0), rows = b.x.dim(1), columns = b.x.dim(2);
  const Tensor wide = reshape(transpose(b.x, {1, 0, 2}), {rows, lanes * columns});
  const Tensor solved = triangular_solve(factor.x, wide, options);
  return {transpose(reshape(solved, {rows, lanes, columns}), {1, 0, 2}), true};
}

Tensor row_numbers(int64_t size) { return iota({size, size}, DType::i32, 0); }
Tensor column_numbers(int64_t size) { return iota({size, size}, DType::i32, 1); }

Tensor lower_triangle(const Tensor& matrices) {
  const Tensor row = iota({matrices.dim(-2), matrices.dim(-1)}, DType::i32, 0);
  const Tensor column = iota({matrices.dim(-2), matrices.dim(-1)}, DType::i32, 1);
  return select(row >= column, matrices, real(0));
}
Tensor diagonal_of(const Tensor& matrices) {
  const int64_t rows = matrices.dim(-2), columns = matrices.dim(-1);
  const Tensor row = iota({rows, columns}, DType::i32, 0), column = iota({rows, columns}, DType::i32, 1);
  const Tensor along = sum(select(row == column, matrices, real(0)), {rows <= columns ? -1 : -2});
  return along;
}
Tensor diagonal_matrix(const Tensor& vectors) {
  const int64_t size = vectors.dim(-1);
  return select(row_numbers(size) == column_numbers(size), expand_dims(vectors, -1), real(0));
}

Tensor root_from_zero(const Tensor& x) {
  const Tensor is_zero = x == real(0);
  return select(is_zero, real(0), sqrt(select(is_zero, real(1), x)));
}

}  // namespace adit::stan
