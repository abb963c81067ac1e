// The index map of windows. Its adjoint is an index map of the same kind, whose elements a sum collects: with
// p * spread = o * stride + k * dilation - low, window o of an element p is found from
// o * stride = p * spread - k * dilation + low.
#include "graph/windows.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <limits>

#include <adit/windows.hpp>

#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/places.hpp"
#include "graph/row.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph {

namespace window_view {

using kernel::Value;
using Operands = std::vector<Tensor>;

DType type(std::string_view op, const Operands& operands, const Attributes&) {
  if (operands[1].dtype() != operands[0].dtype())
    fail(op, "value",
         fmt::format("expected {}, got {}", name_of(operands[0].dtype()), name_of(operands[1].dtype())));
  return operands[0].dtype();
}

Shape shape(std::string_view, const Operands& operands, const Attributes& attributes) {
  const WindowAttributes& a = *std::get<SharedWindows>(attributes);
  Shape shape = operands[0].shape();
  for (int i = 0; i < a.axes.size(); ++i) shape[static_cast<int>(a.axes[i])] = a.results[i];
  if (!a.diagonal)
    for (const int64_t length : a.lengths) shape.push_back(length);
  return shape;
}

// The least and the largest number that o * stride + k * dilation - low can be.
struct Reach {
  int64_t least, most;
};
Reach reach_of(const WindowAttributes& a, int i) {
  const int64_t along = (a.results[i] - 1) * a.strides[i], inside = (a.lengths[i] - 1) * a.dilations[i];
  return {std::min<int64_t>(inside, 0) - a.low[i], along + std::max<int64_t>(inside, 0) - a.low[i]};
}

Value plus(Value place, int64_t number) {
  if (number == 0) return place;
  return number > 0 ? place + number : place - -number;
}

// Numbers below zero are taken for very large ones, which unsigned arithmetic makes of them.
Scalar meaning(Reader& reader, const Node& node, const Index& at) {
  const WindowAttributes& a = windows_of(node);
  const Tensor &x = node.operands[0], &value = node.operands[1];
  const int first = node.shape.size() - a.axes.size();
  std::vector<Value> places;
  for (int axis = 0; axis < x.rank(); ++axis) places.push_back(at.coordinate(axis));
  std::optional<Value> inside;
  const auto require = [&](Value condition) { inside = inside ? *inside && condition : condition; };
  for (int i = 0; i < a.axes.size(); ++i) {
    const auto axis = static_cast<int>(a.axes[i]);
    const int64_t last = (x.shape()[axis] - 1) * a.spread[i];
    const Reach reach = reach_of(a, i);
    Value place = places[static_cast<size_t>(axis)], within = at.coordinate(first + i);
    if (std::max(std::abs(reach.least), std::abs(reach.most)) > std::numeric_limits<int32_t>::max()) {
      place = convert(place, kernel::Type::u64);
      within = convert(within, kernel::Type::u64);
    }
    if (a.strides[i] != 1) place = place * a.strides[i];
    if (a.lengths[i] > 1) {
      const int64_t step = std::abs(a.dilations[i]);
      if (step != 1) within = within * step;
      place = a.dilations[i] < 0 ? place - within : place + within;
    }
    place = plus(place, -a.low[i]);
    if (reach.least < 0 || reach.most > last) {
      require(place <= last);
      place = min(place, last);
    }
    if (a.spread[i] != 1) {
      require(place % a.spread[i] == 0);
      place = place / a.spread[i];
    }
    places[static_cast<size_t>(axis)] = convert(place, at.type());
  }
  const Scalar element = reader.read(x, at.at(x.shape(), std::move(places)));
  if (!inside) return element;
  std::vector<Value> where;
  for (int axis = 0; axis < value.rank(); ++axis) where.push_back(at.coordinate(axis));
  return choose(*inside, element, reader.read(value, at.at(value.shape(), std::move(where))));
}

WindowAttributes adjoint_of(const WindowAttributes& a, const Shape& x) {
  WindowAttributes back = a;
  back.strides = a.spread;
  back.spread = a.strides;
  back.diagonal = true;
  for (int i = 0; i < a.axes.size(); ++i) {
    back.results[i] = x[static_cast<int>(a.axes[i])];
    back.dilations[i] = -a.dilations[i];
    back.low[i] = -a.low[i];
  }
  return back;
}

Axes axes_of_windows(const Tensor& result, const WindowAttributes& a) {
  Axes axes = Dims::counted(a.axes.size());
  for (int64_t& axis : axes) axis += result.rank() - a.axes.size();
  return axes;
}

// Windows that follow each other without a gap: every element of x that has one lies in one window alone.
bool tiles_x(const WindowAttributes& a) {
  for (int i = 0; i < a.axes.size(); ++i)
    if (a.strides[i] != a.lengths[i] || a.dilations[i] != 1 || a.spread[i] != 1) return false;
  return !a.diagonal;
}

// [.., results, .., lengths] with each axis of the window beside its own, and the rest padded or cut.
Tensor joined_tiles(const Tensor& g, const WindowAttributes& a, const Shape& x) {
  Axes order;
  Shape joined;
  std::vector<Padding> padding;
  for (int axis = 0; axis < x.size(); ++axis) {
    order.push_back(axis);
    joined.push_back(g.shape()[axis]);
    padding.emplace_back();
    for (int i = 0; i < a.axes.size(); ++i)
      if (a.axes[i] == axis) {
        order.push_back(x.size() + i);
        joined[axis] *= a.lengths[i];
        padding.back() = {-a.low[i], x[axis] + a.low[i] - joined[axis], 0};
      }
  }
  return pad(reshape(transpose(g, order), joined), constant(g.dtype(), 0), padding);
}

Operands vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const WindowAttributes& a = windows_of(node_of(result));
  const Tensor &x = operands[0], &value = operands[1];
  const Tensor to_x = collected(g, a, x.shape());
  const Tensor reached =
      make_windows(full_integer(x.shape(), 1, DType::u8), constant_integer(DType::u8, 0), a);
  const Tensor unreached = select(reached, zeros_like(g), g);
  Axes axes;
  for (int axis = value.rank(); axis < result.rank(); ++axis) axes.push_back(axis);
  return {to_x, sum(unreached, axes)};  // of floats, so the type stays
}

Tensor batch(const Node& node, const Operands& operands, int64_t) {
  auto shifted_windows = std::make_shared<WindowAttributes>(windows_of(node));
  shifted_windows->axes = shifted(shifted_windows->axes);
  return make(Op::windows, operands, SharedWindows(std::move(shifted_windows)));
}

}  // namespace window_view

Tensor collected(const Tensor& g, const WindowAttributes& a, const Shape& x) {
  using namespace window_view;
  if (tiles_x(a)) return joined_tiles(g, a, x);
  const Tensor there = make_windows(g, constant(g.dtype(), 0), adjoint_of(a, x));
  return a.diagonal ? there : sum(there, axes_of_windows(there, a));
}

Tensor make_windows(const Tensor& x, const Tensor& value, const WindowAttributes& attributes) {
  return make(Op::windows, {x, value}, std::make_shared<const WindowAttributes>(attributes));
}

// --- Convolutions: x [batch, channels, spatial...], w [filters, channels of a group, spatial...]
// -----------------
namespace conv_row {

using Operands = std::vector<Tensor>;

DType type(std::string_view op, const Operands& x, const Attributes&) {
  if (x[0].dtype() != x[1].dtype())
    fail(op, "kernel",
         fmt::format("expected {}, the type of x, got {}", name_of(x[0].dtype()), name_of(x[1].dtype())));
  return x[0].dtype();
}

Shape shape(std::string_view, const Operands& operands, const Attributes& attributes) {
  Shape shape{operands[0].dim(0), operands[1].dim(0)};
  for (const int64_t extent : std::get<SharedWindows>(attributes)->results) shape.push_back(extent);
  return shape;
}

Axes spatial_axes(int rank) {
  Axes axes;
  for (int axis = 2; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

// Axes 0 and 1 change places.
Tensor swapped(const Tensor& x) {
  Axes order = Dims::counted(x.rank());
  std::swap(order[0], order[1]);
  return transpose(x, order);
}

// Axis `axis` as [groups, rest].
Tensor split(const Tensor& x, int axis, int64_t groups) {
  Shape shape = x.shape();
  shape[axis] /= groups;
  shape.insert(axis, groups);
  return reshape(x, shape);
}

// Axes `axis` and the next as one.
Tensor merged(const Tensor& x, int axis) {
  Shape shape = x.shape();
  shape[axis] *= shape[axis + 1];
  shape.erase(axis + 1);
  return reshape(x, shape);
}

// Of x: the kernel turned round over the gradient, whose elements lie as far apart as the windows did. Of the
// kernel: x over the gradient, whose elements are now those of the windows.
Operands vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const WindowAttributes& a = windows_of(node_of(result));
  const Tensor &x = operands[0], &w = operands[1];
  const int rank = x.rank();
  WindowAttributes to_x = a, to_w = a;
  to_x.strides = a.spread, to_x.spread = a.strides;
  to_w.strides = a.dilations, to_w.dilations = a.strides;
  for (int i = 0; i < a.axes.size(); ++i) {
    to_x.results[i] = x.dim(i + 2);
    to_x.low[i] = (a.lengths[i] - 1) * a.dilations[i] - a.low[i];
    to_w.lengths[i] = a.results[i];
    to_w.results[i] = a.lengths[i];
  }
  const Tensor turned = merged(move_axis(split(reverse(w, spatial_axes(rank)), 0, a.groups), 2, 1), 0);
  const Tensor by_channel = merged(swapped(move_axis(split(x, 1, a.groups), 0, 2)), 1);
  return {make_conv(g, turned, to_x), swapped(make_conv(by_channel, swapped(g), to_w))};
}

// Examples are groups of features.
Tensor batch(const Node& node, const Operands& operands, int64_t size) {
  const WindowAttributes& a = windows_of(node);
  WindowAttributes more = a;
  more.groups *= size;
  const Tensor x = merged(move_axis(operands[0], 0, 1), 1), w = merged(operands[1], 0);
  return move_axis(split(make_conv(x, w, more), 1, size), 1, 0);
}

}  // namespace conv_row

Tensor batch_conv(const Node& node, const Lane& x, const Lane& w, int64_t size) {
  using namespace conv_row;
  const WindowAttributes& a = windows_of(node);
  if (!w.batched) return split(make_conv(merged(with_batch(x, size), 0), w.value, a), 0, size);
  if (!x.batched && a.groups == 1)
    return move_axis(split(make_conv(x.value, merged(w.value, 0), a), 1, size), 1, 0);
  return batch(node, {with_batch(x, size), with_batch(w, size)}, size);
}

Tensor make_conv(const Tensor& x, const Tensor& w, const WindowAttributes& attributes) {
  const Shape shape = conv_row::shape("conv", {x, w}, std::make_shared<const WindowAttributes>(attributes));
  if (x.size() == 0 || w.size() == 0 || element_count(shape) == 0) return zeros(shape, x.dtype());
  return make(Op::conv, {x, w}, std::make_shared<const WindowAttributes>(attributes));
}

Tensor conv_by_windows(const Tensor& x, const Tensor& w, const WindowAttributes& attributes) {
  using namespace conv_row;
  WindowAttributes a = attributes;
  a.axes = shifted(a.axes);  // behind [batch, groups, channels]
  const int spatial = a.axes.size();
  const Tensor seen = make_windows(split(x, 1, a.groups), constant(x.dtype(), 0), a);
  Axes inner_x{2}, inner_w{2};
  for (int i = 0; i < spatial; ++i) {
    inner_x.push_back(3 + spatial + i);
    inner_w.push_back(3 + i);
  }
  // [groups, filters, batch, spatial...]
  const Tensor product = dot(split(w, 0, a.groups), inner_w, {0}, seen, inner_x, {1});
  return merged(move_axis(product, 2, 0), 1);
}

std::vector<Row> window_rows() {
  return {
      {.op = Op::windows,
       .name = "windows",
       .kind = Kind::view,
       .arity = 2,
       .types = "any, the same",
       .type = window_view::type,
       .shape = window_view::shape,
       .view = window_view::meaning,
       .vjp = window_view::vjp,
       .batch = window_view::batch,
       .cost = 6,
       .doc = "The windows that move over x, as axes behind those of the results; a value where x has no "
              "element."},
      {.op = Op::conv,
       .name = "conv",
       .kind = Kind::kernel,
       .arity = 2,
       .types = "any; both of one type",
       .type = conv_row::type,
       .shape = conv_row::shape,
       .vjp = conv_row::vjp,
       .batch = conv_row::batch,
       .bound = {0, "n units of the sum of |x w| for n products; f16 and bf16 add up in f32; integers wrap"},
       .cost = 100,
       .doc = "Sums over channels and kernel of x times kernel, wherever the kernel fits; strides, padding, "
              "dilations, groups."},
  };
}

}  // namespace adit::graph
