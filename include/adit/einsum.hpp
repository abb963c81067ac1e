// Products, distances, counts and tables that are made of other operations, as NumPy and SciPy know them.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit {

// --- Products ----------------------------------------------------------------------------------------------
// Sums of products by Einstein's convention, as numpy.einsum: "ij,jk->ik"; a letter names an axis, one that
// is repeated in an operand takes its diagonal, "..." stands for the axes left over, and without "->" the
// result has the letters that occur once, in alphabetical order. Up to six operands are multiplied in the
// order that costs least; of more, the cheapest pair comes first.
Tensor einsum(std::string_view subscripts, std::span<const Tensor> operands);
inline Tensor einsum(std::string_view subscripts, std::initializer_list<Tensor> operands) {
  return einsum(subscripts, std::span(operands.begin(), operands.size()));
}
Tensor kron(const Tensor& a, const Tensor& b);
// Sums over axes of a and axes of b, pair by pair; or over the last `count` of a and the first of b.
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b);
Tensor tensordot(const Tensor& a, const Tensor& b, int count = 2);

// --- Statistics --------------------------------------------------------------------------------------------
struct CovarianceOptions {
  bool variables_in_rows = true;  // else in columns
  int ddof = 1;
  Tensor frequencies{};  // how often each observation was made; whole numbers
  Tensor weights{};      // how much each counts
};
// Of x [..., variables, observations], or of one variable [observations].
Tensor covariance(const Tensor& x, const CovarianceOptions& options = {});
Tensor corrcoef(const Tensor& x, bool variables_in_rows = true);

// --- Distances ---------------------------------------------------------------------------------------------
enum class Distance : uint8_t { euclidean, squared, manhattan, chebyshev };
// Between all rows of a [..., m, d] and all of b [..., n, d]: [..., m, n]. Leading axes broadcast.
Tensor cdist(const Tensor& a, const Tensor& b, Distance distance = Distance::euclidean);

// --- Tables ------------------------------------------------------------------------------------------------
enum class Side : uint8_t { left, right };
// Where values go into rows that ascend: how many elements are less (left), or not greater (right). NaN comes
// last. `sorted` is one row for all values, or has the leading axes of `values`.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, Side side = Side::left);
// How often 0, 1, ..., length - 1 occur, or the sum of the weights there; other numbers do not count.
Tensor bincount(const Tensor& x, int64_t length, const Tensor& weights = {});
// How many elements lie in each bin: from an edge (inclusive) to the next, whose last one is inclusive too.
Tensor histogram(const Tensor& x, const Tensor& edges, const Tensor& weights = {}, bool density = false);
Tensor histogram(const Tensor& x, int64_t bins, double low, double high, const Tensor& weights = {},
                 bool density = false);
// The edges that bins of equal width have between two ends.
Tensor histogram_edges(int64_t bins, double low, double high, DType type = DType::f32);

// --- Interpolation -----------------------------------------------------------------------------------------
struct InterpolateOptions {
  std::optional<double> left{}, right{};  // beyond the ends; none: the values there
};
// The line through points (places, values), whose places ascend, at x.
Tensor interpolate(const Tensor& x, const Tensor& places, const Tensor& values,
                   const InterpolateOptions& options = {});
// x with other extents along axes, linearly between the centres of its elements; align_ends: between the
// first and the last one instead.
Tensor resize_linear(const Tensor& x, const Axes& axes, const Dims& lengths, bool align_ends = false);

}  // namespace adit
#pragma GCC visibility pop
