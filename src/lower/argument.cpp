#include "lower/argument.hpp"

#include <limits>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/reduction.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

namespace {

struct Wanted {
  Axes axes;
  bool wants_max, takes_last;
};
Wanted wanted_of(const Node& node) {
  const auto& attributes = node.as<graph::ReduceAttributes>();
  return {attributes.axes, node.op == Op::argmax, attributes.high_tie};
}

Tensor extreme_of(const Tensor& x, const Axes& axes, bool wants_max) {
  return graph::make(wants_max ? Op::reduce_max : Op::reduce_min, {x},
                     graph::ReduceAttributes{axes, false, {}});
}

// Of x along the axes, as a row-major number among them, in 32 bits where they hold it.
Tensor place_of(const Tensor& extreme, const Tensor& x, const Axes& axes, bool takes_last) {
  // Repeated from the shape that it has in memory.
  Axes others;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (!axes.contains(axis)) others.push_back(axis);
  Tensor hit = equal(x, broadcast_in(extreme, x.shape(), others));
  if (is_float(x.dtype())) hit = logical_or(hit, is_nan(x));
  Tensor place;
  int64_t stride = 1, count = 1;
  for (const int64_t axis : axes) count *= x.shape()[static_cast<int>(axis)];
  const DType type = count <= std::numeric_limits<int32_t>::max() ? DType::i32 : DType::i64;
  for (int i = axes.size() - 1; i >= 0; --i) {
    const int axis = static_cast<int>(axes[i]);
    Tensor along = iota(x.shape(), type, axis);
    if (stride != 1) along = multiply(along, broadcast_to(graph::constant_integer(type, stride), x.shape()));
    place = place ? add(place, along) : along;
    stride *= x.shape()[axis];
  }
  if (!place) place = broadcast_to(graph::constant_integer(type, 0), x.shape());
  const Tensor none = broadcast_to(graph::constant_integer(type, takes_last ? -1 : count), x.shape());
  const Tensor candidates = select(hit, place, none);
  return takes_last ? reduce_max(candidates, axes) : reduce_min(candidates, axes);
}

// About the root of the row's length, so that neither level is long; of rows of eight blocks and more
// (measured on a Neoverse V1).
int64_t length_of_blocks(int64_t n) {
  int64_t length = 64;
  while (length * length < n && length < 512) length *= 2;
  return length;
}
constexpr int64_t least_blocks = 8;

// The extreme of each block of rows of n, and of what is left of them.
Tensor extremes_of_blocks(const Tensor& rows, int64_t length, bool wants_max) {
  const int64_t count = rows.shape()[0], n = rows.shape()[1], blocks = n / length, whole = blocks * length;
  const Tensor head = whole == n ? rows : slice(rows, {0, 0}, {count, whole});
  const Tensor extremes = extreme_of(reshape(head, {count, blocks, length}), {2}, wants_max);
  if (whole == n) return extremes;
  const Tensor tail = slice(rows, {0, whole}, {count, n - whole});
  return concatenate({extremes, expand_dims(extreme_of(tail, {1}, wants_max), 1)}, 1);
}

}  // namespace

Tensor argument_by_equality(const Node& node, const Tensor& x) {
  const auto [axes, wants_max, takes_last] = wanted_of(node);
  return as_type(place_of(extreme_of(x, axes, wants_max), x, axes, takes_last), node.type);
}

Tensor argument_by_blocks(const Node& node, const Tensor& x) {
  const auto [axes, wants_max, takes_last] = wanted_of(node);
  const int64_t n = reduced_count(node), length = length_of_blocks(n);
  if (n < least_blocks * length || n > std::numeric_limits<int32_t>::max()) return {};
  const int64_t count = element_count(x.shape()) / n;
  if (count == 0 || !last_axes(x.shape(), axes)) return {};
  const Tensor rows = reshape(x, {count, n});
  const Tensor extremes = extremes_of_blocks(rows, length, wants_max);
  const Tensor extreme = extreme_of(extremes, {1}, wants_max);
  const Tensor block = place_of(extreme, extremes, {1}, takes_last);
  // The last block may overlap the one before it, which has no such element then, or only lower ones.
  const Tensor first = minimum(block * graph::constant_integer(DType::i32, length),
                               graph::constant_integer(DType::i32, n - length));
  const Tensor places = expand_dims(first, 1) + iota({count, length}, DType::i32, 1);
  const Tensor inside = place_of(extreme, take_along_axis(rows, places, 1), {1}, takes_last);
  return as_type(reshape(first + inside, node.shape), node.type);
}

}  // namespace adit::lower
