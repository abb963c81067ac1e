// Other extents along axes.
#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"

namespace adit {

using namespace graph;

namespace resizing {

// Where an element of the result lies in x: numerator / divisor, in whole numbers, so that no length is too
// long for it to be exact.
struct Places {
  Tensor numerator;
  int64_t divisor;
};

Places places_of(int64_t from, int64_t to, bool align_ends) {
  const Tensor i = arange(to);
  if (align_ends) return {i * (from - 1), std::max<int64_t>(to - 1, 1)};
  // (i + 1/2) from / to - 1/2
  return {maximum((i * 2 + 1) * from - to, 0), 2 * to};
}

Tensor along(const Tensor& x, int axis, int64_t to, bool align_ends, DType working) {
  const int64_t from = x.dim(axis);
  const auto [numerator, divisor] = places_of(from, to, align_ends);
  const Tensor low = minimum(quotient(numerator, divisor), from - 1), high = minimum(low + 1, from - 1);
  const Tensor rest = as_type(numerator - low * divisor, working) / static_cast<double>(divisor);
  Shape shape = x.shape();
  shape[axis] = to;
  const Tensor weight = broadcast_in(minimum(rest, 1), shape, {axis});
  return take(x, low, axis) * (1 - weight) + take(x, high, axis) * weight;
}

}  // namespace resizing

Tensor resize_linear(const Tensor& x, const Axes& axes, const Dims& lengths, bool align_ends) {
  constexpr std::string_view op = "resize_linear";
  expect_tensor(op, "x", x);
  if (axes.size() != lengths.size())
    fail(op, "lengths", fmt::format("expected {} numbers, one an axis, got {}", axes.size(), lengths.size()));
  normal_axes(op, axes, x.rank());
  const DType type = float_of(x.dtype()), working = size_of(type) == 2 ? DType::f32 : type;
  Tensor result = as_type(x, working);
  for (int i = 0; i < axes.size(); ++i) {
    const int axis = normal_axis(op, axes[i], x.rank());
    if (lengths[i] < 0)
      fail(op, "lengths", fmt::format("expected extents of at least 0, got {}", to_string(lengths)));
    if (x.dim(axis) == 0 && lengths[i] > 0)
      fail(op, "x",
           fmt::format("expected elements along axis {}, got the shape {}", axis, to_string(x.shape())));
    if (lengths[i] == x.dim(axis)) continue;
    result = resizing::along(result, axis, lengths[i], align_ends, real_of(working));
  }
  return as_type(result, type);
}

}  // namespace adit
