// Tensors with or without the axis of lanes in front, and what is done with their own axes.
#pragma once

#include "stan/functions/formulas.hpp"

namespace adit::stan {

struct Part {
  Tensor x;
  bool in_lanes = false;
  int axes() const { return x.rank() - (in_lanes ? 1 : 0); }  // own ones
};
inline Part part(const Arguments& arguments, size_t i) {
  return {arguments.real(i), static_cast<bool>(arguments.in_lanes[i])};
}
// As it is: integers stay integers.
inline Part whole_part(const Arguments& arguments, size_t i) {
  return {arguments.at(i), static_cast<bool>(arguments.in_lanes[i])};
}

// The value of an integer that decides a shape; it has to be known while the graph is built.
int64_t size_argument(const Arguments& arguments, size_t i);
// Of a draw: lanes have numbers of their own, also where all have the same parameters.
inline Part drawing_part(const Arguments& arguments, size_t i) {
  const Tensor x = arguments.lifted(i);
  return {x.dtype() == DType::f64 ? x : as_type(x, DType::f64), arguments.any_lanes()};
}

// Own axes of extent 1 in front until there are `axes`: trailing axes meet then, also those of lanes.
Part widened(const Part& p, int axes);
// The axes of p's own, counted from the end: all of them, for reductions.
Axes own_axes(const Part& p);
// The result with the lanes' axis where there are any.
Tensor finished(const Arguments& arguments, const Part& p);
// Sums over all own axes of terms that every argument has gone into.
Tensor total(const Arguments& arguments, const Part& terms);
// f of two parts whose own axes broadcast.
template <class F>
Part elementwise(const Part& a, const Part& b, F f) {
  const int axes = std::max(a.axes(), b.axes());
  return {f(widened(a, axes).x, widened(b, axes).x), a.in_lanes || b.in_lanes};
}
template <class F>
Part elementwise(const Part& a, const Part& b, const Part& c, F f) {
  const int axes = std::max({a.axes(), b.axes(), c.axes()});
  return {f(widened(a, axes).x, widened(b, axes).x, widened(c, axes).x),
          a.in_lanes || b.in_lanes || c.in_lanes};
}

// --- Matrices [n, m] ---------------------------------------------------------------------------------------
Part transposed(const Part& p);
Part as_column(const Part& vector);  // [n, 1]
Part as_row(const Part& vector);     // [1, n]
Part without_axis(const Part& p, int axis);
Part times(const Part& a, const Part& b);         // one product, whichever of them has lanes
Part times_vector(const Part& a, const Part& b);  // [n, m] and [m]
Part lower_solve(const Part& factor, const Part& b, bool transpose = false);  // factor^-1 b
Tensor row_numbers(int64_t size);                                             // [size, size]
Tensor column_numbers(int64_t size);
Tensor lower_triangle(const Tensor& matrices);
Tensor diagonal_of(const Tensor& matrices);     // [..., n]
Tensor diagonal_matrix(const Tensor& vectors);  // [..., n, n]
Tensor root_from_zero(const Tensor& x);         // sqrt(x) with the derivative 0 at 0

}  // namespace adit::stan
