// Batching rules of the index maps: every operand has one more leading axis, which the result keeps.
#include <limits>

#include "graph/op.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph {

Axes shifted(const Axes& axes) {
  Axes next = axes;
  for (int64_t& axis : next) ++axis;
  return next;
}

Axes other_axes(const Axes& axes, int rank) {
  Axes others;
  for (int axis = 0; axis < rank; ++axis)
    if (!axes.contains(axis)) others.push_back(axis);
  return others;
}

Tensor with_batch_coordinate(const Tensor& indices) {
  // The column must hold the number of the batch, and no index may change its sign.
  DType type = indices.dtype();
  if (size_of(type) < 4) type = DType::i32;
  if (size_of(type) == 4 && indices.dim(0) > std::numeric_limits<int32_t>::max()) type = DType::i64;
  Shape column = indices.shape();
  column[column.size() - 1] = 1;
  return concatenate({iota(column, type, 0), as_type(indices, type)}, -1);
}

namespace view_batch {

namespace {
Shape in_front(int64_t size, Shape shape) {
  shape.insert(0, size);
  return shape;
}
Dims in_front(Dims dims, int64_t number) {
  dims.insert(0, number);
  return dims;
}
Axes shifted_after_batch(const Axes& axes) { return in_front(shifted(axes), 0); }
}  // namespace

Tensor reshape(const Node& node, const Operands& operands, int64_t size) {
  return adit::reshape(operands[0], in_front(size, node.shape));
}

Tensor transpose(const Node& node, const Operands& operands, int64_t) {
  return adit::transpose(operands[0], shifted_after_batch(node.as<AxisList>().axes));
}

Tensor broadcast(const Node& node, const Operands& operands, int64_t size) {
  return broadcast_in(operands[0], in_front(size, node.shape), shifted_after_batch(node.as<AxisList>().axes));
}

Tensor slice(const Node& node, const Operands& operands, int64_t size) {
  const auto& [starts, strides] = node.as<SliceAttributes>();
  return make_node(Op::slice, node.type, in_front(size, node.shape), operands,
                   SliceAttributes{in_front(starts, 0), in_front(strides, 1)});
}

Tensor dynamic_slice(const Node& node, const Operands& operands, int64_t size) {
  return make_node(Op::dynamic_slice, node.type, in_front(size, node.shape), operands);
}

Tensor put_slice(const Node&, const Operands& operands, int64_t) { return make(Op::put_slice, operands); }

Tensor pad(const Node& node, const Operands& operands, int64_t) {
  const auto& [low, high, interior] = node.as<PadAttributes>();
  return make(Op::pad, operands, PadAttributes{in_front(low, 0), in_front(high, 0), in_front(interior, 0)});
}

Tensor concatenate(const Node& node, const Operands& operands, int64_t) {
  return make(Op::concatenate, operands, OneAxis{node.as<OneAxis>().axis + 1});
}

Tensor reverse(const Node& node, const Operands& operands, int64_t) {
  return make(Op::reverse, operands, AxisList{shifted(node.as<AxisList>().axes)});
}

Tensor take_along_axis(const Node& node, const Operands& operands, int64_t) {
  return make(Op::take_along_axis, operands, OneAxis{node.as<OneAxis>().axis + 1});
}

Tensor gather(const Node& node, const Operands& operands, int64_t) {
  return adit::gather(operands[0], with_batch_coordinate(operands[1]),
                      shifted_after_batch(node.as<AxisList>().axes));
}

}  // namespace view_batch
}  // namespace adit::graph
