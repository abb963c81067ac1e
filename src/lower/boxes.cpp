#include "lower/boxes.hpp"

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

Tensor Boxes::operator()(const Tensor& x, const Dims& starts, const Shape& lengths) {
  if (lengths == x.shape()) return x;
  std::vector<int64_t> words(starts.begin(), starts.end());
  words.insert(words.end(), lengths.begin(), lengths.end());
  Known& known = known_[{&graph::node_of(x), words}];
  if (!known.box) known = {x, made(x, starts, lengths)};
  return known.box;
}

Tensor Boxes::of_slice(const Tensor& x) {
  const Node& node = graph::node_of(x);
  if (node.computed) return x;
  if (node.op == Op::reshape) return reshape(of_slice(node.operands[0]), x.shape());
  return node.op == Op::slice ? made(x, Dims::filled(x.rank(), 0), x.shape()) : x;
}

Tensor Boxes::made(const Tensor& x, const Dims& starts, const Shape& lengths) {
  const Node& node = graph::node_of(x);
  if (node.computed || node.operands.empty()) return slice(x, starts, lengths);
  if (graph::row_of(node.op).kind == graph::Kind::elementwise) {
    std::vector<Tensor> operands;
    for (const Tensor& operand : node.operands) {
      if (!(operand.shape() == x.shape())) return slice(x, starts, lengths);
      operands.push_back((*this)(operand, starts, lengths));
    }
    return graph::make_node(node.op, node.type, lengths, std::move(operands), node.attributes);
  }
  switch (node.op) {
    case Op::broadcast: return of_broadcast(x, starts, lengths);
    case Op::concatenate: return of_joined(x, starts, lengths);
    case Op::reshape: return of_reshaped(x, starts, lengths);
    case Op::slice: {
      const auto& about = node.as<graph::SliceAttributes>();
      Dims from = starts;
      for (int axis = 0; axis < from.size(); ++axis) {
        if (about.strides[axis] != 1) return slice(x, starts, lengths);
        from[axis] += about.starts[axis];
      }
      return (*this)(node.operands[0], from, lengths);
    }
    default: return slice(x, starts, lengths);
  }
}

Tensor Boxes::of_broadcast(const Tensor& x, const Dims& starts, const Shape& lengths) {
  const Tensor& base = graph::node_of(x).operands[0];
  const Axes& axes = graph::node_of(x).as<graph::AxisList>().axes;
  Dims from;
  Shape length;
  for (int i = 0; i < base.rank(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const bool is_repeated = base.shape()[i] != x.shape()[axis];
    from.push_back(is_repeated ? 0 : starts[axis]);
    length.push_back(is_repeated ? 1 : lengths[axis]);
  }
  return broadcast_in((*this)(base, from, length), lengths, axes);
}

Tensor Boxes::of_joined(const Tensor& x, const Dims& starts, const Shape& lengths) {
  const int axis = graph::node_of(x).as<graph::OneAxis>().axis;
  Dims from = starts;
  for (const Tensor& part : graph::node_of(x).operands) {
    if (from[axis] + lengths[axis] <= part.shape()[axis]) return (*this)(part, from, lengths);
    if (from[axis] < part.shape()[axis]) break;
    from[axis] -= part.shape()[axis];
  }
  return slice(x, starts, lengths);
}

// Where axes of one element come or go.
Tensor Boxes::of_reshaped(const Tensor& x, const Dims& starts, const Shape& lengths) {
  const Tensor& base = graph::node_of(x).operands[0];
  Dims from;
  Shape length;
  int axis = 0;
  for (int i = 0; i < base.rank(); ++i) {
    if (base.shape()[i] == 1) {
      from.push_back(0);
      length.push_back(1);
      continue;
    }
    while (axis < x.rank() && x.shape()[axis] == 1) ++axis;
    if (axis == x.rank() || x.shape()[axis] != base.shape()[i]) return slice(x, starts, lengths);
    from.push_back(starts[axis]);
    length.push_back(lengths[axis]);
    ++axis;
  }
  return reshape((*this)(base, from, length), lengths);
}

}  // namespace adit::lower
