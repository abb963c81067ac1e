#include "density/steps.hpp"

#include <algorithm>

#include "graph/control.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;

namespace {

bool is_control(const Node& node) {
  return std::holds_alternative<std::shared_ptr<const graph::ControlAttributes>>(node.attributes);
}

bool is_step(const Node& node) {
  switch (node.op) {
    case Op::sign:
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
    case Op::quotient:
    case Op::remainder: return true;
    default: break;
  }
  if (is_control(node) || is_float(node.type)) return false;
  return std::any_of(node.operands.begin(), node.operands.end(),
                     [](const Tensor& operand) { return is_float(operand.dtype()); });
}

using Nodes = std::unordered_set<const Node*>;

// Adds what the steps of this graph read; whether it has one.
bool add_read(std::span<const Tensor> roots, Nodes& read) {
  bool has_steps = false;
  const std::vector<Tensor> nodes = graph::reachable(roots, true);
  for (auto x = nodes.rbegin(); x != nodes.rend(); ++x) {
    const Node& node = graph::node_of(*x);
    bool steps = is_step(node);
    if (is_control(node))
      for (const auto& function : graph::about(*x).functions) {
        if (!add_read(function->results, read)) continue;
        steps = true;
        for (const Tensor& inside : graph::reachable(function->results, true))
          read.insert(&graph::node_of(inside));
      }
    has_steps |= steps;
    if (steps || read.contains(&node))
      for (const Tensor& operand : node.operands) read.insert(&graph::node_of(operand));
  }
  return has_steps;
}

}  // namespace

Nodes read_by_steps(std::span<const Tensor> roots) {
  Nodes read;
  add_read(roots, read);
  return read;
}

}  // namespace adit::sampling
