// Builders of the index maps that do not look at values.
#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/rows/view.hpp"

namespace adit {

using namespace graph;

Tensor reshape(const Tensor& x, const Shape& shape) {
  expect_tensor("reshape", "x", x);
  Shape whole = shape;
  int open = -1;
  int64_t known = 1;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < -1 || (shape[axis] == -1 && open >= 0))
      fail("reshape", "shape", fmt::format("expected extents and at most one -1, got {}", to_string(shape)));
    if (shape[axis] == -1) open = axis;
    if (shape[axis] != -1 && __builtin_mul_overflow(known, shape[axis], &known))
      fail("reshape", "shape", fmt::format("expected {} elements, got {}", x.size(), to_string(shape)));
  }
  if (open >= 0) whole[open] = known == 0 ? 0 : x.size() / known;
  if (element_count(whole) != x.size())
    fail("reshape", "shape",
         fmt::format("expected {} elements, as {} has, got {}", x.size(), to_string(x.shape()),
                     to_string(shape)));
  if (whole == x.shape()) return x;
  return make_node(Op::reshape, x.dtype(), whole, {x});
}

Tensor flatten(const Tensor& x) {
  expect_tensor("flatten", "x", x);
  return reshape(x, {x.size()});
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  expect_tensor("squeeze", "x", x);
  const Axes dropped = normal_axes("squeeze", axes, x.rank());
  Shape shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t extent = x.shape()[axis];
    if (dropped.contains(axis) && extent != 1)
      fail("squeeze", "axes", fmt::format("expected axes of extent 1, got {} along axis {}", extent, axis));
    if (axes.empty() ? extent != 1 : !dropped.contains(axis)) shape.push_back(extent);
  }
  return reshape(x, shape);
}

Tensor expand_dims(const Tensor& x, int axis) {
  expect_tensor("expand_dims", "x", x);
  Shape shape = x.shape();
  shape.insert(normal_axis("expand_dims", axis, x.rank() + 1), 1);
  return reshape(x, shape);
}

Tensor transpose(const Tensor& x, const Axes& axes) {
  expect_tensor("transpose", "x", x);
  Axes order = axes;
  if (axes.empty())
    for (int axis = x.rank() - 1; axis >= 0; --axis) order.push_back(axis);
  expect_count("transpose", "axes", x.rank(), order.size());
  for (int64_t& axis : order) axis = normal_axis("transpose", axis, x.rank());
  // Where only axes of extent 1 move, the elements stay in order.
  int64_t last = -1;
  bool in_order = true;
  for (const int64_t axis : order) {
    if (x.shape()[static_cast<int>(axis)] == 1) continue;
    in_order = in_order && axis > last;
    last = axis;
  }
  if (!in_order) return make(Op::transpose, {x}, AxisList{order});
  normal_axes("transpose", order, x.rank());
  Shape shape;
  for (const int64_t axis : order) shape.push_back(x.shape()[static_cast<int>(axis)]);
  return reshape(x, shape);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  expect_tensor("broadcast_to", "x", x);
  if (x.rank() > shape.size())
    fail("broadcast_to", "shape",
         fmt::format("expected at least {} axes, got {}", x.rank(), to_string(shape)));
  Axes axes;
  for (int axis = 0; axis < x.rank(); ++axis) axes.push_back(shape.size() - x.rank() + axis);
  return broadcast_in(x, shape, axes);
}

Tensor broadcast_in(const Tensor& x, const Shape& shape, const Axes& axes) {
  constexpr const char* op = "broadcast";
  expect_tensor(op, "x", x);
  expect_shape(op, shape);
  expect_count(op, "axes", x.rank(), axes.size());
  Axes places;
  for (const int64_t axis : axes) places.push_back(normal_axis(op, axis, shape.size()));
  const Axes sorted = normal_axes(op, axes, shape.size());
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t from = x.shape()[axis], to = shape[static_cast<int>(places[axis])];
    if (from != 1 && from != to)
      fail(op, "shape",
           fmt::format("expected extent {} (or 1 of x) along axis {}, got {} from {}", from, places[axis],
                       to_string(shape), to_string(x.shape())));
  }
  if (!(places == sorted)) {
    Axes order = Axes::counted(x.rank());
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return places[static_cast<int>(a)] < places[static_cast<int>(b)];
    });
    return broadcast_in(transpose(x, order), shape, sorted);
  }
  if (element_count(shape) == x.size()) return reshape(x, shape);
  return make_node(Op::broadcast, x.dtype(), shape, {x}, AxisList{places});
}

Tensor slice(const Tensor& x, const Dims& starts, const Dims& lengths, const Dims& strides) {
  constexpr const char* op = "slice";
  expect_tensor(op, "x", x);
  expect_count(op, "starts", x.rank(), starts.size());
  expect_count(op, "lengths", x.rank(), lengths.size());
  const Dims steps = strides.empty() ? Dims::filled(x.rank(), 1) : strides;
  expect_count(op, "strides", x.rank(), steps.size());
  Shape shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int64_t extent = x.shape()[axis];
    if (steps[axis] < 1)
      fail(op, "strides", fmt::format("expected at least 1 along axis {}, got {}", axis, steps[axis]));
    if (lengths[axis] < 0 || lengths[axis] > extent)
      fail(op, "lengths", fmt::format("expected 0 to {} along axis {}, got {}", extent, axis, lengths[axis]));
    if (starts[axis] < 0 || starts[axis] > extent - lengths[axis])
      fail(op, "starts",
           fmt::format("expected 0 to {} along axis {}, got {}", extent - lengths[axis], axis, starts[axis]));
    shape.push_back(lengths[axis] / steps[axis] + (lengths[axis] % steps[axis] != 0));
  }
  if (shape == x.shape()) return x;
  return make_node(Op::slice, x.dtype(), shape, {x}, SliceAttributes{starts, steps});
}

namespace {

void check_starts(const char* op, const Tensor& x, const std::vector<Tensor>& starts) {
  expect_count(op, "starts", x.rank(), static_cast<int>(starts.size()));
  for (const Tensor& start : starts) {
    expect_integers(op, "starts", start);
    if (start.rank() != 0)
      fail(op, "starts", fmt::format("expected scalars, got the shape {}", to_string(start.shape())));
  }
}

}  // namespace

Tensor dynamic_slice(const Tensor& x, const std::vector<Tensor>& starts, const Dims& lengths) {
  constexpr const char* op = "dynamic_slice";
  expect_tensor(op, "x", x);
  check_starts(op, x, starts);
  expect_count(op, "lengths", x.rank(), lengths.size());
  for (int axis = 0; axis < x.rank(); ++axis)
    if (lengths[axis] < 0 || lengths[axis] > x.shape()[axis])
      fail(op, "lengths",
           fmt::format("expected 0 to {} along axis {}, got {}", x.shape()[axis], axis, lengths[axis]));
  if (lengths == x.shape()) return x;
  std::vector<Tensor> operands{x};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return make_node(Op::dynamic_slice, x.dtype(), lengths, std::move(operands));
}

Tensor put_slice(const Tensor& x, const Tensor& piece, const std::vector<Tensor>& starts) {
  expect_tensor("put_slice", "x", x);
  expect_tensor("put_slice", "piece", piece);
  check_starts("put_slice", x, starts);
  const DType type = promote(x.dtype(), piece.dtype());
  std::vector<Tensor> operands{as_type(x, type), as_type(piece, type)};
  if (piece.shape() == x.shape()) return operands[1];
  operands.insert(operands.end(), starts.begin(), starts.end());
  Tensor put = make(Op::put_slice, operands);
  return piece.size() == 0 ? operands[0] : put;
}

Tensor put_slice(const Tensor& x, const Tensor& piece, const Dims& starts) {
  std::vector<Tensor> places;
  for (const int64_t start : starts) places.push_back(constant_integer(DType::i64, start));
  return put_slice(x, piece, places);
}

Tensor pad(const Tensor& x, const Tensor& value, std::span<const Padding> padding) {
  expect_tensor("pad", "x", x);
  expect_tensor("pad", "value", value);
  if (value.rank() != 0)
    fail("pad", "value", fmt::format("expected a scalar, got the shape {}", to_string(value.shape())));
  expect_count("pad", "padding", x.rank(), static_cast<int>(padding.size()));
  PadAttributes attributes;
  bool pads = false, cuts = false;
  Dims starts;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto [low, high, interior] = padding[static_cast<size_t>(axis)];
    attributes.low.push_back(low);
    attributes.high.push_back(high);
    attributes.interior.push_back(interior);
    pads = pads || low > 0 || high > 0 || interior != 0;
    cuts = cuts || low < 0 || high < 0;
    starts.push_back(-low);
  }
  const DType type = promote(x.dtype(), value.dtype());
  const Tensor from = as_type(x, type), with = as_type(value, type);
  if (!pads && !cuts) return from;
  const Tensor padded = make(Op::pad, {from, with}, attributes);
  if (x.size() == 0 || padded.size() == 0) return broadcast_to(with, padded.shape());
  return pads ? padded : slice(from, starts, padded.shape());
}

Tensor concatenate(std::span<const Tensor> parts, int axis) {
  if (parts.empty()) fail("concatenate", "parts", "expected at least one tensor, got none");
  for (const Tensor& part : parts) expect_tensor("concatenate", "parts", part);
  const int along = normal_axis("concatenate", axis, parts[0].rank());
  DType type = parts[0].dtype();
  for (const Tensor& part : parts) type = promote(type, part.dtype());
  std::vector<Tensor> operands;
  for (const Tensor& part : parts) operands.push_back(as_type(part, type));
  return operands.size() == 1 ? operands[0] : make(Op::concatenate, std::move(operands), OneAxis{along});
}

Tensor stack(std::span<const Tensor> parts, int axis) {
  if (parts.empty()) fail("stack", "parts", "expected at least one tensor, got none");
  std::vector<Tensor> raised;
  for (const Tensor& part : parts) {
    expect_tensor("stack", "parts", part);
    if (part.shape() != parts[0].shape())
      fail("stack", "parts",
           fmt::format("expected one shape, got {} and {}", to_string(parts[0].shape()),
                       to_string(part.shape())));
    raised.push_back(expand_dims(part, normal_axis("stack", axis, parts[0].rank() + 1)));
  }
  return concatenate(raised, axis);
}

Tensor reverse(const Tensor& x, const Axes& axes) {
  expect_tensor("reverse", "x", x);
  Axes turned;
  for (const int64_t axis : normal_axes("reverse", axes.empty() ? Axes::counted(x.rank()) : axes, x.rank()))
    if (x.shape()[static_cast<int>(axis)] > 1) turned.push_back(axis);
  return turned.empty() ? x : make(Op::reverse, {x}, AxisList{turned});
}

// Fewer repeats than axes count for the last axes, more repeats make new leading axes.
Tensor tile(const Tensor& x, const Dims& repeats) {
  expect_tensor("tile", "x", x);
  for (const int64_t repeat : repeats)
    if (repeat < 0) fail("tile", "repeats", fmt::format("expected at least 0, got {}", to_string(repeats)));
  Dims times = repeats;
  Shape shape = x.shape();
  while (times.size() < shape.size()) times.insert(0, 1);
  while (shape.size() < times.size()) shape.insert(0, 1);
  const auto most = std::count_if(times.begin(), times.end(), [](int64_t repeat) { return repeat != 1; });
  if (2 * most + (times[0] == 1 ? 1 : 0) > max_rank) {  // some axes at a time
    constexpr int together = (max_rank - 1) / 2;
    Dims last = times;
    for (int axis = 0, repeated = 0; axis < times.size(); ++axis)
      if (times[axis] != 1) (repeated++ < together ? last : times)[axis] = 1;
    return tile(tile(reshape(x, shape), times), last);
  }
  // Axes that are not repeated belong to the one before them.
  Shape held, repeated, joined = shape;
  Axes axes;  // of `held` among the repeated ones
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (__builtin_mul_overflow(joined[axis], times[axis], &joined[axis]))
      fail("tile", "repeats", fmt::format("expected fewer elements, got {}", to_string(repeats)));
    if (times[axis] == 1 && !held.empty()) {
      held[held.size() - 1] *= shape[axis], repeated[repeated.size() - 1] *= shape[axis];
      continue;
    }
    if (times[axis] != 1) repeated.push_back(times[axis]);
    axes.push_back(repeated.size());
    repeated.push_back(shape[axis]);
    held.push_back(shape[axis]);
  }
  if (most == 0) return reshape(x, shape);
  return reshape(broadcast_in(reshape(x, held), repeated, axes), joined);
}

}  // namespace adit
