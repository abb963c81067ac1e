#include "lower/boxes.hpp"

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "support/answers.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

bool operator<(const Box& a, const Box& b) { return a.key() < b.key(); }

std::pair<const Node*, std::vector<int64_t>> Box::key() const {
  std::vector<int64_t> words(starts.begin(), starts.end());
  words.insert(words.end(), lengths.begin(), lengths.end());
  return {&graph::node_of(of), words};
}

namespace {

// Of a broadcast.
std::optional<Box> box_before_repeating(const Box& box) {
  const Tensor& base = graph::node_of(box.of).operands[0];
  const Axes& axes = graph::node_of(box.of).as<graph::AxisList>().axes;
  Box from{base, {}, {}};
  for (int i = 0; i < base.rank(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    const bool is_repeated = base.shape()[i] != box.of.shape()[axis];
    from.starts.push_back(is_repeated ? 0 : box.starts[axis]);
    from.lengths.push_back(is_repeated ? 1 : box.lengths[axis]);
  }
  return from;
}

// Of a concatenation, where it lies in one part.
std::optional<Box> box_of_part(const Box& box) {
  const int axis = graph::node_of(box.of).as<graph::OneAxis>().axis;
  Dims from = box.starts;
  for (const Tensor& part : graph::node_of(box.of).operands) {
    if (from[axis] + box.lengths[axis] <= part.shape()[axis]) return Box{part, from, box.lengths};
    if (from[axis] < part.shape()[axis]) break;
    from[axis] -= part.shape()[axis];
  }
  return std::nullopt;
}

// Of a reshape, where axes of one element come or go.
std::optional<Box> box_before_shaping(const Box& box) {
  const Tensor& base = graph::node_of(box.of).operands[0];
  Box from{base, {}, {}};
  int axis = 0;
  for (int i = 0; i < base.rank(); ++i) {
    if (base.shape()[i] == 1) {
      from.starts.push_back(0);
      from.lengths.push_back(1);
      continue;
    }
    while (axis < box.of.rank() && box.of.shape()[axis] == 1) ++axis;
    if (axis == box.of.rank() || box.of.shape()[axis] != base.shape()[i]) return std::nullopt;
    from.starts.push_back(box.starts[axis]);
    from.lengths.push_back(box.lengths[axis]);
    ++axis;
  }
  return from;
}

std::optional<Box> box_of_sliced(const Box& box) {
  const auto& about = graph::node_of(box.of).as<graph::SliceAttributes>();
  Dims from = box.starts;
  for (int axis = 0; axis < from.size(); ++axis) {
    if (about.strides[axis] != 1) return std::nullopt;
    from[axis] += about.starts[axis];
  }
  return Box{graph::node_of(box.of).operands[0], from, box.lengths};
}

// Of what a box is made; nothing where it is cut out of the whole.
std::vector<Box> parts_of(const Box& box) {
  const Node& node = graph::node_of(box.of);
  if (node.computed || node.operands.empty()) return {};
  std::vector<Box> parts;
  if (graph::row_of(node.op).kind == graph::Kind::elementwise) {
    for (const Tensor& operand : node.operands) {
      if (!(operand.shape() == node.shape)) return {};
      parts.push_back({operand, box.starts, box.lengths});
    }
    return parts;
  }
  const auto part = node.op == Op::broadcast     ? box_before_repeating(box)
                    : node.op == Op::concatenate ? box_of_part(box)
                    : node.op == Op::reshape     ? box_before_shaping(box)
                    : node.op == Op::slice       ? box_of_sliced(box)
                                                 : std::nullopt;
  if (part) parts.push_back(*part);
  return parts;
}

bool is_whole(const Box& box) { return box.lengths == box.of.shape(); }

// `parts`: of those of which it is made.
Tensor made(const Box& box, std::vector<Tensor> parts) {
  const Node& node = graph::node_of(box.of);
  if (parts.empty()) return slice(box.of, box.starts, box.lengths);
  switch (node.op) {
    case Op::broadcast: return broadcast_in(parts[0], box.lengths, node.as<graph::AxisList>().axes);
    case Op::concatenate:
    case Op::slice: return parts[0];
    case Op::reshape: return reshape(parts[0], box.lengths);
    default: return graph::make_node(node.op, node.type, box.lengths, std::move(parts), node.attributes);
  }
}

}  // namespace

Tensor Boxes::operator()(const Tensor& x, const Dims& starts, const Shape& lengths) {
  const Box box{x, starts, lengths};
  return is_whole(box) ? x : made_of_parts(box);
}

Tensor Boxes::made_of_parts(const Box& first) {
  answer(
      first, known_,
      [](const Box& box, const auto& want) {
        for (const Box& part : parts_of(box))
          if (!is_whole(part)) want(part);
      },
      [&](const Box& box) {
        std::vector<Tensor> parts;
        for (const Box& part : parts_of(box)) parts.push_back(is_whole(part) ? part.of : known_.at(part));
        return made(box, std::move(parts));
      });
  return known_.at(first);
}

Tensor Boxes::of_slice(const Tensor& x) {
  Tensor base = x;
  while (graph::node_of(base).op == Op::reshape && !graph::node_of(base).computed)
    base = Tensor(graph::node_of(base).operands[0]);
  if (graph::node_of(base).op != Op::slice || graph::node_of(base).computed) return x;
  return reshape(made_of_parts({base, Dims::filled(base.rank(), 0), base.shape()}), x.shape());
}

}  // namespace adit::lower
