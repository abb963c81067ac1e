#include "graph/retype.hpp"

#include <fmt/format.h>
#include <unordered_map>

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

namespace {

DType narrowed(DType type, DType to) { return type == DType::f64 ? to : type; }

class Retyper {
 public:
  Retyper(DType to, const std::unordered_set<const Node*>& wide) : to_(to), wide_(wide) {}

  Tensors run(std::span<const Tensor> roots) {
    const std::lock_guard lock(graph_lock());
    for (const Tensor& x : reachable(roots, false)) visit(x);
    Tensors found;
    for (const Tensor& root : roots) found.push_back(now_.at(&node_of(root)));
    return found;
  }

  const std::map<const Node*, Tensor>& placeholders() const { return placeholders_; }

 private:
  void visit(const Tensor& x) {
    if (!now_.contains(&node_of(x))) now_[&node_of(x)] = made(x);
  }

  Tensor made(const Tensor& x) {
    const Node& node = node_of(x);
    if (is_complex(node.type))
      graph::fail("retype", graph::name_of(node.op),
                  "expected real numbers, got " + std::string(name_of(node.type)));
    const bool is_wide = wide_.contains(&node);
    const DType type = is_wide ? node.type : narrowed(node.type, to_);
    if (node.computed) return node.type == DType::f64 ? as_type(x, type) : x;
    if (graph::is_placeholder(x)) {
      const Tensor fresh = node.type == type ? x : graph::placeholder(type, node.shape);
      placeholders_[&node] = fresh;
      return fresh;
    }
    Tensors operands;
    bool changed = node.type != type;
    // A mask or a whole number that is made of wide numbers compares them as they are.
    const DType from = is_wide || (node.type != DType::f64 && reads_wide(node)) ? DType::f64 : to_;
    for (const Tensor& operand : node.operands) {
      operands.push_back(of_type(operand, from));
      changed = changed || pointer_of(operands.back()) != pointer_of(operand);
    }
    if (!changed) return x;
    if (node.op == Op::as_type) return as_type(operands[0], type);
    if (node.op == Op::bitcast && to_ != DType::f64)
      graph::fail("retype", "bitcast",
                  "expected no bits of f64 in a graph that is narrowed to " + std::string(name_of(to_)));
    return graph::make_node(node.op, type, node.shape, std::move(operands), attributes_of(node));
  }

  bool reads_wide(const Node& node) const {
    for (const Tensor& operand : node.operands)
      if (wide_.contains(&node_of(operand))) return true;
    return false;
  }

  // What became of a number of f64, in one of the two types.
  Tensor of_type(const Tensor& old, DType type) {
    const Tensor now = now_.at(&node_of(old));
    if (old.dtype() != DType::f64 || now.dtype() == type) return now;
    // Constants, and tensors in memory, have all of their digits still.
    const bool is_whole = node_of(old).operands.empty() && !graph::is_placeholder(old);
    if (type == DType::f64 && (is_whole || node_of(old).computed)) return old;
    Tensor& other = other_[&node_of(old)];
    if (!other) other = as_type(now, type);
    return other;
  }

  // Functions inside of nodes hold types of their own.
  graph::Attributes attributes_of(const Node& node) {
    if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&node.attributes);
        reduce && reduce->combine) {
      graph::ReduceAttributes changed = *reduce;
      changed.combine = function_of(*reduce->combine);
      return changed;
    }
    if (const auto* control =
            std::get_if<std::shared_ptr<const graph::ControlAttributes>>(&node.attributes)) {
      auto changed = std::make_shared<graph::ControlAttributes>(**control);
      for (auto& f : changed->functions)
        if (f) f = function_of(*f);
      for (DType& type : changed->types) type = narrowed(type, to_);
      return std::shared_ptr<const graph::ControlAttributes>(std::move(changed));
    }
    return node.attributes;
  }

  std::shared_ptr<const graph::Subgraph> function_of(const graph::Subgraph& f) const {
    Retyper inner(to_, wide_);
    auto changed = std::make_shared<graph::Subgraph>();
    for (const Tensor& x : f.parameters) inner.visit(x);  // also those that no result needs
    changed->results = inner.run(f.results);
    for (const Tensor& x : f.parameters) changed->parameters.push_back(inner.now_.at(&node_of(x)));
    return changed;
  }

  DType to_;
  const std::unordered_set<const Node*>& wide_;
  std::unordered_map<const Node*, Tensor> now_, other_;
  std::map<const Node*, Tensor> placeholders_;
};

}  // namespace

Retyped retype(std::span<const Tensor> roots, DType to, const std::unordered_set<const Node*>& wide) {
  if (to != DType::f32 && to != DType::f64)
    graph::fail("retype", "to", fmt::format("expected f32 or f64, got {}", name_of(to)));
  if (to == DType::f64) {
    Retyped same{{roots.begin(), roots.end()}, {}};
    for (const Tensor& x : reachable(roots, false))
      if (graph::is_placeholder(x)) same.placeholders[&node_of(x)] = x;
    return same;
  }
  Retyper retyper(to, wide);
  Retyped changed;
  changed.roots = retyper.run(roots);
  changed.placeholders = retyper.placeholders();
  return changed;
}

}  // namespace adit::graph
