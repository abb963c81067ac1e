// Derivatives of the index maps: each sends the gradient back to where its element came from.
#include <limits>

#include "graph/op.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph::view_vjp {

namespace {

Tensor zero(DType type) { return constant(type, 0); }

// The operands of a slice whose first ones are replaced.
Operands with_starts(Operands first, const Operands& operands, size_t begin) {
  first.insert(first.end(), operands.begin() + static_cast<std::ptrdiff_t>(begin), operands.end());
  return first;
}

// Indices along an axis, clamped as the kernels clamp them, in a type that holds them.
Tensor clamped_indices(const Tensor& indices, int64_t extent, DType type) {
  Tensor within = indices;
  // An unsigned number of the same width might turn negative.
  if (is_unsigned(indices.dtype()) && size_of(indices.dtype()) >= size_of(type))
    within = minimum(within, constant_integer(indices.dtype(), extent - 1));
  // A wider signed number must be clamped before it is cut short.
  if (size_of(indices.dtype()) > size_of(type))
    within =
        clip(within, constant_integer(indices.dtype(), 0), constant_integer(indices.dtype(), extent - 1));
  return clip(as_type(within, type), constant_integer(type, 0), constant_integer(type, extent - 1));
}

}  // namespace

Operands reshape(const Tensor&, const Operands& operands, const Tensor& g) {
  return {adit::reshape(g, operands[0].shape())};
}

Operands transpose(const Tensor& result, const Operands&, const Tensor& g) {
  const Axes& axes = node_of(result).as<AxisList>().axes;
  Axes back = axes;
  for (int axis = 0; axis < axes.size(); ++axis) back[static_cast<int>(axes[axis])] = axis;
  return {adit::transpose(g, back)};
}

Operands broadcast(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Shape& shape = operands[0].shape();
  const Axes& axes = node_of(result).as<AxisList>().axes;
  Axes repeated = other_axes(axes, result.rank());
  for (int axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == 1 && result.shape()[static_cast<int>(axes[axis])] != 1) repeated.push_back(axes[axis]);
  return {adit::reshape(repeated.empty() ? g : adit::sum(g, repeated), shape)};
}

Operands slice(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Shape &from = operands[0].shape(), &to = result.shape();
  if (result.size() == 0) return {zeros_like(operands[0])};
  const auto& [starts, strides] = node_of(result).as<SliceAttributes>();
  std::vector<Padding> padding;
  for (int axis = 0; axis < from.size(); ++axis) {
    const int64_t end = starts[axis] + (to[axis] - 1) * strides[axis] + 1;
    padding.push_back({starts[axis], from[axis] - end, strides[axis] - 1});
  }
  return {adit::pad(g, zero(g.dtype()), padding)};
}

Operands dynamic_slice(const Tensor& result, const Operands& operands, const Tensor& g) {
  Operands gradients(operands.size());
  gradients[0] = result.size() == 0
                     ? zeros_like(operands[0])
                     : make(Op::put_slice, with_starts({zeros_like(operands[0]), g}, operands, 1));
  return gradients;
}

Operands put_slice(const Tensor&, const Operands& operands, const Tensor& g) {
  Operands gradients(operands.size());
  const Tensor& piece = operands[1];
  gradients[0] = make(Op::put_slice, with_starts({g, zeros_like(piece)}, operands, 2));
  gradients[1] = make_node(Op::dynamic_slice, g.dtype(), piece.shape(), with_starts({g}, operands, 2));
  return gradients;
}

// x: what was cut is padded with zeros, what was padded is cut, and of the rest every (interior + 1)-th.
// The value: the sum over all places that x does not reach.
Operands pad(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Tensor &x = operands[0], &value = operands[1];
  const auto& [low, high, interior] = node_of(result).as<PadAttributes>();
  std::vector<Padding> there, back;
  Dims strides;
  for (int axis = 0; axis < x.rank(); ++axis) {
    there.push_back({low[axis], high[axis], interior[axis]});
    back.push_back({-low[axis], -high[axis], 0});
    strides.push_back(interior[axis] + 1);
  }
  const Tensor spread = adit::pad(g, zero(g.dtype()), back);
  const Tensor to_x = adit::slice(spread, Dims::filled(x.rank(), 0), spread.shape(), strides);

  const Tensor reached =
      adit::pad(full_integer(x.shape(), 1, DType::u8), constant_integer(DType::u8, 0), there);
  const Tensor unreached = select(reached, zeros_like(g), g);
  Axes axes;
  for (int axis = value.rank(); axis < x.rank(); ++axis) axes.push_back(axis);
  return {to_x, axes.empty() ? unreached : adit::sum(unreached, axes)};
}

Operands concatenate(const Tensor& result, const Operands& operands, const Tensor& g) {
  const int axis = node_of(result).as<OneAxis>().axis;
  Operands gradients;
  Dims starts = Dims::filled(result.rank(), 0);
  for (const Tensor& part : operands) {
    gradients.push_back(adit::slice(g, starts, part.shape()));
    starts[axis] += part.shape()[axis];
  }
  return gradients;
}

Operands reverse(const Tensor& result, const Operands&, const Tensor& g) {
  return {adit::reverse(g, node_of(result).as<AxisList>().axes)};
}

// One column of row-major places: the flat gradient is added there.
Operands take_along_axis(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Tensor& x = operands[0];
  const int axis = node_of(result).as<OneAxis>().axis;
  if (result.size() == 0) return {zeros_like(x), {}};
  const DType type = x.size() > std::numeric_limits<int32_t>::max() ? DType::i64 : DType::i32;
  const Dims strides = strides_of(x.shape());
  Tensor places = clamped_indices(operands[1], x.shape()[axis], type) * constant_integer(type, strides[axis]);
  for (int other = 0; other < x.rank(); ++other)
    if (other != axis && x.shape()[other] != 1)
      places = places + adit::iota(result.shape(), type, other) * constant_integer(type, strides[other]);
  const Tensor flat =
      indexed_add(zeros({x.size()}, x.dtype()), adit::reshape(places, {result.size(), 1}), flatten(g));
  return {adit::reshape(flat, x.shape()), {}};
}

Operands gather(const Tensor& result, const Operands& operands, const Tensor& g) {
  return {indexed_add(zeros_like(operands[0]), operands[1], g, node_of(result).as<AxisList>().axes), {}};
}

}  // namespace adit::graph::view_vjp
