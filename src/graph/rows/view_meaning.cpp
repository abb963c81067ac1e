// Index maps as kernels compute them: which element of which operand stands at a place of the result. Clamps
// and selects, no control flow; an operand without elements is never read.
#include <cstdlib>

#include "graph/places.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph::view_meaning {

using kernel::Value;

namespace {

std::vector<Value> coordinates_of(const Index& at) {
  std::vector<Value> places;
  for (int axis = 0; axis < at.shape().size(); ++axis) places.push_back(at.coordinate(axis));
  return places;
}

// The place of an operand whose axes are the first ones of the result.
Index prefix(const Index& at, const Shape& shape) {
  std::vector<Value> places;
  for (int axis = 0; axis < shape.size(); ++axis) places.push_back(at.coordinate(axis));
  return at.at(shape, std::move(places));
}

// Where a slice of `lengths` begins along an axis of x; operands[first] is the start of the first axis that
// the starts do not share with x.
Value start_of(Reader& reader, const Node& node, const Index& at, int axis, int first, int64_t length) {
  const Tensor& x = node.operands[0];
  const int shared = node.operands[static_cast<size_t>(first)].rank();
  const Tensor& start = node.operands[static_cast<size_t>(first + axis - shared)];
  const int64_t last = x.shape()[axis] - length;
  if (last == 0) return at.number(0);
  return clamped(reader.read(start, prefix(at, start.shape())).re, last, at.type());
}

}  // namespace

Scalar pass(Reader& reader, const Node& node, const Index& at) { return reader.read(node.operands[0], at); }

Scalar iota(Reader&, const Node& node, const Index& at) {
  const int axis = node.as<OneAxis>().axis;
  const Value number = axis < 0 ? at.linear() : at.coordinate(axis);
  const kernel::Type type = compute_type(node.type);
  Value re = convert(number, type);
  // Nobody rounds after a view: halves are rounded here.
  if (storage_type(node.type) != type) re = convert(convert(re, storage_type(node.type)), type);
  return is_complex(node.type) ? pair(re, re.like(0)) : Scalar{re, {}, false};
}

Scalar reshape(Reader& reader, const Node& node, const Index& at) {
  return reader.read(node.operands[0], at.reshaped(node.operands[0].shape()));
}

Scalar transpose(Reader& reader, const Node& node, const Index& at) {
  const Axes& axes = node.as<AxisList>().axes;
  std::vector<Value> places(static_cast<size_t>(axes.size()));
  for (int axis = 0; axis < axes.size(); ++axis)
    places[static_cast<size_t>(axes[axis])] = at.coordinate(axis);
  return reader.read(node.operands[0], at.at(node.operands[0].shape(), std::move(places)));
}

Scalar broadcast(Reader& reader, const Node& node, const Index& at) {
  const Shape& shape = node.operands[0].shape();
  const Axes& axes = node.as<AxisList>().axes;
  std::vector<Value> places;
  for (int axis = 0; axis < axes.size(); ++axis)
    places.push_back(shape[axis] == 1 ? at.number(0) : at.coordinate(static_cast<int>(axes[axis])));
  return reader.read(node.operands[0], at.at(shape, std::move(places)));
}

Scalar slice(Reader& reader, const Node& node, const Index& at) {
  const auto& [starts, strides] = node.as<SliceAttributes>();
  std::vector<Value> places = coordinates_of(at);
  for (int axis = 0; axis < starts.size(); ++axis) {
    Value& place = places[static_cast<size_t>(axis)];
    if (strides[axis] != 1) place = place * strides[axis];
    if (starts[axis] != 0) place = place + starts[axis];
  }
  return reader.read(node.operands[0], at.at(node.operands[0].shape(), std::move(places)));
}

Scalar dynamic_slice(Reader& reader, const Node& node, const Index& at) {
  const Tensor& x = node.operands[0];
  std::vector<Value> places = coordinates_of(at);
  const int shared = node.operands.size() > 1 ? node.operands[1].rank() : x.rank();
  for (int axis = shared; axis < x.rank(); ++axis) {
    if (x.shape()[axis] == node.shape[axis]) continue;
    Value& place = places[static_cast<size_t>(axis)];
    place = start_of(reader, node, at, axis, 1, node.shape[axis]) + place;
  }
  return reader.read(x, at.at(x.shape(), std::move(places)));
}

Scalar put_slice(Reader& reader, const Node& node, const Index& at) {
  const Tensor &x = node.operands[0], &piece = node.operands[1];
  const int shared = node.operands.size() > 2 ? node.operands[2].rank() : x.rank();
  std::vector<Value> places = coordinates_of(at);
  std::optional<Value> inside;
  for (int axis = shared; axis < x.rank(); ++axis) {
    const int64_t length = piece.shape()[axis];
    if (length == x.shape()[axis]) continue;
    Value& place = places[static_cast<size_t>(axis)];
    const Value begin = start_of(reader, node, at, axis, 2, length);
    const Value end = begin + length;
    const Value within = begin <= place && place < end;
    inside = inside ? *inside && within : within;
    place = min(max(place, begin), end - 1) - begin;
  }
  const Scalar put = reader.read(piece, at.at(piece.shape(), std::move(places)));
  return inside ? choose(*inside, put, reader.read(x, at)) : put;
}

Scalar pad(Reader& reader, const Node& node, const Index& at) {
  const Tensor &x = node.operands[0], &value = node.operands[1];
  const auto& [low, high, interior] = node.as<PadAttributes>();
  std::vector<Value> places = coordinates_of(at);
  std::optional<Value> inside;
  const auto require = [&](Value condition) { inside = inside ? *inside && condition : condition; };
  for (int axis = 0; axis < x.rank(); ++axis) {
    Value& place = places[static_cast<size_t>(axis)];
    const int64_t step = interior[axis] + 1, span = (x.shape()[axis] - 1) * step;
    // Before the cut, places can be larger than any tensor of the kernel.
    if (span + std::abs(low[axis]) + std::abs(high[axis]) > std::numeric_limits<int32_t>::max())
      place = convert(place, kernel::Type::u64);
    if (low[axis] > 0) {
      require(place >= low[axis]);
      place = max(place, low[axis]) - low[axis];
    } else if (low[axis] < 0) {
      place = place + -low[axis];
    }
    if (high[axis] > 0) {
      require(place <= span);
      place = min(place, span);
    }
    if (step != 1) {
      require(place % step == 0);
      place = place / step;
    }
    place = convert(place, at.type());
  }
  const Scalar element = reader.read(x, at.at(x.shape(), std::move(places)));
  return inside ? choose(*inside, element, reader.read(value, prefix(at, value.shape()))) : element;
}

Scalar concatenate(Reader& reader, const Node& node, const Index& at) {
  const auto axis = static_cast<size_t>(node.as<OneAxis>().axis);
  const std::vector<Value> places = coordinates_of(at);
  const auto known = known_number(places[axis]);
  std::optional<Scalar> chosen;
  int64_t begin = node.shape[static_cast<int>(axis)];
  // From the last part to the first: each hides what stands behind its end.
  for (size_t k = node.operands.size(); k-- > 0;) {
    const Tensor& part = node.operands[k];
    const int64_t end = begin;
    begin -= part.shape()[static_cast<int>(axis)];
    if (begin == end) continue;
    std::vector<Value> inside = places;
    if (known) {
      if (static_cast<int64_t>(*known) < begin || static_cast<int64_t>(*known) >= end) continue;
      inside[axis] = at.number(static_cast<int64_t>(*known) - begin);
      return reader.read(part, at.at(part.shape(), std::move(inside)));
    }
    Value& place = inside[axis];
    if (end != node.shape[static_cast<int>(axis)]) place = min(place, end - 1);
    if (begin != 0) place = max(place, begin) - begin;
    const Scalar element = reader.read(part, at.at(part.shape(), std::move(inside)));
    chosen = chosen ? choose(places[axis] < end, element, *chosen) : element;
  }
  return *chosen;
}

Scalar reverse(Reader& reader, const Node& node, const Index& at) {
  std::vector<Value> places = coordinates_of(at);
  for (const int64_t axis : node.as<AxisList>().axes) {
    Value& place = places[static_cast<size_t>(axis)];
    place = (node.shape[static_cast<int>(axis)] - 1) - place;
  }
  return reader.read(node.operands[0], at.at(node.shape, std::move(places)));
}

Scalar take_along_axis(Reader& reader, const Node& node, const Index& at) {
  const Tensor &x = node.operands[0], &indices = node.operands[1];
  const int axis = node.as<OneAxis>().axis;
  std::vector<Value> places = coordinates_of(at);
  places[static_cast<size_t>(axis)] = clamped(reader.read(indices, at).re, x.shape()[axis] - 1, at.type());
  return reader.read(x, at.at(x.shape(), std::move(places)));
}

Scalar gather(Reader& reader, const Node& node, const Index& at) {
  const Tensor &x = node.operands[0], &indices = node.operands[1];
  const Axes& axes = node.as<AxisList>().axes;
  const int leading = indices.rank() - 1;
  std::vector<Value> where, places;
  for (int axis = 0; axis < leading; ++axis) where.push_back(at.coordinate(axis));
  where.push_back(at.number(0));
  int rest = leading, column = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!axes.contains(axis)) {
      places.push_back(at.coordinate(rest++));
      continue;
    }
    where.back() = at.number(column++);
    const Value place = reader.read(indices, at.at(indices.shape(), where)).re;
    places.push_back(reader.are_inside(node) ? convert(place, at.type())
                                             : clamped(place, x.shape()[axis] - 1, at.type()));
  }
  return reader.read(x, at.at(x.shape(), std::move(places)));
}

}  // namespace adit::graph::view_meaning
