// Forward mode. A node's vjp is linear in the cotangent u; its transpose, which is a vjp of that, gives the
// tangent:
//   tangent = sum over operands i of (d vjp_i / d u)^T tangent_i
// so that rows state one derivative only. Control nodes have a rule of their own.
#include <fmt/format.h>
#include <unordered_map>

#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

namespace graph {

namespace {

class Forward {
 public:
  void set(const Tensor& x, const Tensor& tangent) {
    if (tangent) tangents_[&graph::node_of(x)] = tangent;
  }
  Tensor of(const Tensor& x) const {
    const auto at = tangents_.find(&graph::node_of(x));
    return at == tangents_.end() ? Tensor() : at->second;
  }

  void visit(const Visit& step) {
    const Node& node = graph::node_of(step.node);
    const Row& row = row_of(node.op);
    if (node.op == Op::item) return set(step.node, part(step));
    Tensors tangents;
    bool moves = false;
    for (const Tensor& operand : step.operands) {
      tangents.push_back(of(operand));
      moves = moves || tangents.back();
    }
    if (!moves) return;
    if (row.kind == Kind::control)
      parts_[&node] = control_jvp(step.node, step.operands, tangents);
    else if (row.results)
      parts_[&node] = transposed_several(row, step, tangents);
    else if (!differentiable(node.type))
      return;
    else if (node.op == Op::alias)
      set(step.node, tangents[0]);
    else if (row.jvp)
      set(step.node, row.jvp(step.node, step.operands, tangents).at(0));
    else if (row.vjp)
      set(step.node, transposed(row, step, tangents));
    else
      fail("jvp", row.name, "has no derivative");
  }

 private:
  Tensor part(const Visit& step) const {
    const auto at = parts_.find(&graph::node_of(step.operands[0]));
    return at == parts_.end() ? Tensor()
                              : at->second[static_cast<size_t>(graph::node_of(step.node).as<Which>().number)];
  }

  static Tensor transposed(const Row& row, const Visit& step, const Tensors& tangents) {
    const Tensor u = alias(zeros_for(slot_of(step.node)));
    const Tensors gradients = row.vjp(step.node, step.operands, u);
    Tensors results, cotangents;
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i] && tangents[i]) {
        results.push_back(gradients[i]);
        cotangents.push_back(tangents[i]);
      }
    const Tensor tangent = pull_back(results, cotangents, {u})[0];
    if (tangent && dependents({tangent}, {u}).contains(tangent))
      throw Error(ErrorKind::internal, fmt::format("[jvp] {}: its vjp is not linear", row.name));
    return tangent;
  }

  // Results that have no tangent, whole numbers, stay empty.
  static Tensors transposed_several(const Row& row, const Visit& step, const Tensors& tangents) {
    if (!row.several_vjp) fail("jvp", row.name, "has no derivative");
    const std::vector<Slot> slots = results_of(graph::node_of(step.node));
    Tensors items, u(slots.size()), wanted;
    for (size_t i = 0; i < slots.size(); ++i) {
      items.push_back(item_of(step.node, static_cast<int>(i)));
      if (differentiable(slots[i].type)) wanted.push_back(u[i] = alias(zeros_for(slots[i])));
    }
    const Tensors gradients = row.several_vjp(items, step.operands, u);
    Tensors results, cotangents;
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i] && tangents[i]) {
        results.push_back(gradients[i]);
        cotangents.push_back(tangents[i]);
      }
    const Tensors found = pull_back(results, cotangents, wanted);
    Tensors parts(slots.size());
    for (size_t i = 0, next = 0; i < slots.size(); ++i)
      if (u[i]) parts[i] = found[next++];
    return parts;
  }

  std::unordered_map<const Node*, Tensor> tangents_;
  std::unordered_map<const Node*, Tensors> parts_;
};

}  // namespace

Tensors push_forward(const Tensors& results, const Tensors& inputs, const Tensors& tangents) {
  Forward forward;
  for (size_t i = 0; i < inputs.size(); ++i) forward.set(inputs[i], tangents[i]);
  for (const Visit& step : dependents(results, inputs).steps) forward.visit(step);
  Tensors found;
  for (const Tensor& x : results) found.push_back(forward.of(x));
  return found;
}

std::pair<Tensors, Tensors> push_forward(const Subgraph& f, const Tensors& arguments,
                                         const Tensors& tangents) {
  Tensors called = arguments, inputs, directions;
  for (size_t i = 0; i < called.size(); ++i)
    if (tangents[i]) {
      inputs.push_back(called[i] = alias(called[i]));
      directions.push_back(tangents[i]);
    }
  Tensors results = instantiate(f, called);
  Tensors moved = push_forward(results, inputs, directions);
  return {std::move(results), std::move(moved)};
}

}  // namespace graph

using namespace graph;

std::pair<Tensors, Tensors> jvp(const Function& f, const Tensors& x, const Tensors& tangents) {
  expect_call("jvp", "f", f, x);
  if (tangents.size() != x.size())
    fail("jvp", "tangents", fmt::format("expected {}, got {}", x.size(), tangents.size()));
  Tensors called = x, inputs, directions;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!tangents[i]) continue;
    if (!differentiable(x[i].dtype()))
      fail("jvp", fmt::format("argument {}", i),
           fmt::format("expected floats or complex numbers, or no tangent, got {}", name_of(x[i].dtype())));
    if (tangents[i].dtype() != x[i].dtype() || !(tangents[i].shape() == x[i].shape()))
      fail("jvp", fmt::format("tangent {}", i),
           fmt::format("expected {}, got {}", describe(slot_of(x[i])), describe(slot_of(tangents[i]))));
    inputs.push_back(called[i] = alias(x[i]));
    directions.push_back(tangents[i]);
  }
  Tensors results = call("jvp", "f", f, called);
  Tensors moved = push_forward(results, inputs, directions);
  for (size_t i = 0; i < moved.size(); ++i)
    if (!moved[i]) moved[i] = zeros_for(slot_of(results[i]));
  return {std::move(results), std::move(moved)};
}

}  // namespace adit
