#include "lower/element_writer.hpp"

#include "graph/op.hpp"

namespace adit::lower {

using graph::Index;
using graph::Node;
using graph::Scalar;

// Elementwise work of any depth, without recursion. Index maps read at places of their own, by recursion:
// who cuts a graph into kernels and passes bounds how many of those lie in each other.
Scalar ElementWriter::read(const Node& node, const Index& at) {
  std::vector<Open> open;
  std::optional<Scalar> value = begin(node, at, open);
  while (!open.empty()) {
    Open& last = open.back();
    if (value) last.operands.push_back(*value);
    if (last.operands.size() < last.node->operands.size()) {
      value = begin(graph::node_of(last.node->operands[last.operands.size()]), at, open);
      continue;
    }
    value = result(*last.node, last.operands);
    memo_.add(*last.node, last.place, *value, at);
    open.pop_back();
  }
  return *value;
}

// The element, or nothing: it waits for its operands, last of those that are open.
std::optional<Scalar> ElementWriter::begin(const Node& node, const Index& at, std::vector<Open>& open) {
  if (const std::optional<Scalar> value = fixed(node)) return value;
  if (node.op == graph::Op::constant) return literal(builder(), node);
  const uint64_t place = place_of(node, at);
  if (const Scalar* seen = memo_.find(node, place)) return *seen;
  std::optional<Scalar> value = known(node, at);
  if (!value) {
    if (graph::row_of(node.op).scalar) {
      open.push_back({&node, place, {}});
      open.back().operands.reserve(node.operands.size());
      return std::nullopt;
    }
    value = compute(node, at);
  }
  memo_.add(node, place, *value, at);
  return value;
}

Scalar ElementWriter::compute(const Node& node, const Index& at) {
  const graph::Row& row = graph::row_of(node.op);
  if (!row.scalar) return row.view ? row.view(*this, node, at) : other(node, at);
  std::vector<Scalar> operands;
  operands.reserve(node.operands.size());
  for (const Tensor& operand : node.operands) operands.push_back(read(operand, at));
  return result(node, operands);
}

}  // namespace adit::lower
