// Reverse mode: cotangents flow from results to inputs, each node adding to those of its operands.
#include <fmt/format.h>
#include <unordered_map>

#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

namespace graph {

Tensor alias(const Tensor& x) { return make_node(Op::alias, x.dtype(), x.shape(), {x}); }

namespace {

class Reverse {
 public:
  Reverse(const Tensors& results, const Tensors& inputs) : dependents_(dependents(results, inputs)) {
    for (const Visit& step : dependents_.steps)
      if (graph::node_of(step.node).op == Op::item)
        items_[&graph::node_of(step.operands[0])].push_back(step.node);
  }

  void add(const Tensor& to, const Tensor& g) {
    if (!g || !differentiable(to.dtype())) return;
    Tensor& sum = gradients_[&graph::node_of(to)];
    sum = sum ? adit::add(sum, g) : g;
  }

  void run() {
    for (auto step = dependents_.steps.rbegin(); step != dependents_.steps.rend(); ++step) visit(*step);
  }

  // A loop that also keeps what its gradient needs takes the place of the loop before it, in the operands of
  // others that do too.
  void replace(Tensors& roots) const {
    if (!replaced_.empty()) roots = substitute_throughout(roots, replaced_, replacements_);
  }

  Tensor of(const Tensor& x) const {
    const auto at = gradients_.find(&graph::node_of(x));
    return at == gradients_.end() ? Tensor() : at->second;
  }

 private:
  void visit(const Visit& step) {
    const Node& node = graph::node_of(step.node);
    const Row& row = row_of(node.op);
    if (has_several(node)) return row.results ? visit_several(step) : visit_control(step);
    const Tensor g = of(step.node);
    if (!g) return;
    if (node.op == Op::item)
      keep_part(step, g);
    else if (node.op == Op::alias)
      add(step.operands[0], g);
    else if (row.vjp)
      spread(step, row.vjp(step.node, step.operands, g));
    else
      fail("grad", row.name, "has no derivative");
    gradients_.erase(&node);
  }

  void visit_control(const Visit& step) {
    const Node& node = graph::node_of(step.node);
    const auto parts = parts_.find(&node);
    if (parts == parts_.end()) return;
    const ControlGradients found = control_vjp(step.node, step.operands, parts->second, wanted(step));
    spread(step, found.gradients);
    if (found.results.empty()) return;
    for (const Tensor& item : items_[&node]) {
      replaced_.push_back(item);
      replacements_.push_back(found.results[static_cast<size_t>(graph::node_of(item).as<Which>().number)]);
    }
  }

  void visit_several(const Visit& step) {
    const Node& node = graph::node_of(step.node);
    const Row& row = row_of(node.op);
    const auto parts = parts_.find(&node);
    if (parts == parts_.end()) return;
    if (!row.several_vjp) fail("grad", row.name, "has no derivative");
    Tensors results(parts->second.size());
    for (const Tensor& item : items_[&node])
      results[static_cast<size_t>(graph::node_of(item).as<Which>().number)] = item;
    for (size_t i = 0; i < results.size(); ++i)
      if (!results[i]) results[i] = item_of(step.node, static_cast<int>(i));
    spread(step, row.several_vjp(results, step.operands, parts->second));
  }

  std::vector<bool> wanted(const Visit& step) const {
    std::vector<bool> flags;
    for (const Tensor& x : step.operands)
      flags.push_back(differentiable(x.dtype()) && dependents_.contains(x));
    return flags;
  }

  // An item's cotangent waits until its node's turn comes.
  void keep_part(const Visit& step, const Tensor& g) {
    const Node& whole = graph::node_of(step.operands[0]);
    Tensors& parts = parts_[&whole];
    if (parts.empty()) parts.resize(results_of(whole).size());
    Tensor& part = parts[static_cast<size_t>(graph::node_of(step.node).as<Which>().number)];
    part = part ? adit::add(part, g) : g;
  }

  void spread(const Visit& step, const Tensors& gradients) {
    for (size_t i = 0; i < gradients.size() && i < step.operands.size(); ++i) {
      const Tensor& operand = step.operands[i];
      if (!gradients[i] || !dependents_.contains(operand)) continue;
      if (gradients[i].dtype() != operand.dtype() || !(gradients[i].shape() == operand.shape()))
        throw Error(ErrorKind::internal,
                    fmt::format("[grad] {}: expected a gradient of {} for operand {}, got {}",
                                name_of(graph::node_of(step.node).op), describe(slot_of(operand)), i,
                                describe(slot_of(gradients[i]))));
      add(operand, gradients[i]);
    }
  }

  Dependents dependents_;
  std::unordered_map<const Node*, Tensor> gradients_;
  std::unordered_map<const Node*, Tensors> parts_;  // cotangents of a node's several results
  std::unordered_map<const Node*, Tensors> items_;
  Tensors replaced_, replacements_;  // items of loops
};

}  // namespace

Tensors pull_back_sharing(Tensors& results, const Tensors& cotangents, const Tensors& inputs) {
  Reverse reverse(results, inputs);
  for (size_t i = 0; i < results.size(); ++i) reverse.add(results[i], cotangents[i]);
  reverse.run();
  Tensors gradients, roots = results;
  for (const Tensor& x : inputs) {
    gradients.push_back(reverse.of(x));
    if (gradients.back()) roots.push_back(gradients.back());
  }
  reverse.replace(roots);
  auto next = roots.begin();
  for (Tensor& x : results) x = *next++;
  for (Tensor& x : gradients)
    if (x) x = *next++;
  return gradients;
}

Tensors pull_back(const Tensors& results, const Tensors& cotangents, const Tensors& inputs) {
  Tensors same = results;
  return pull_back_sharing(same, cotangents, inputs);
}

Tensors pull_back(const Subgraph& f, const Tensors& arguments, const Tensors& cotangents,
                  const std::vector<bool>& wanted) {
  Tensors called = arguments, inputs;
  for (size_t i = 0; i < called.size(); ++i)
    if (wanted[i]) inputs.push_back(called[i] = alias(called[i]));
  return pull_back(instantiate(f, called), cotangents, inputs);
}

namespace {

void check_differentiable(std::string_view op, const Tensors& x, int argument) {
  if (argument < 0 || argument >= static_cast<int>(x.size()))
    fail(op, "argument",
         fmt::format("expected 0 to {}, got {}", static_cast<int64_t>(x.size()) - 1, argument));
  const Tensor& t = x[static_cast<size_t>(argument)];
  if (!differentiable(t.dtype()))
    fail(op, fmt::format("argument {}", argument),
         fmt::format("expected floats or complex numbers, got {}", name_of(t.dtype())));
}

Tensors filled(Tensors gradients, const Tensors& like) {
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i]) gradients[i] = zeros_for(slot_of(like[i]));
  return gradients;
}

}  // namespace

}  // namespace graph

using namespace graph;

ValueAndGrad value_and_grad_of(const Function& f, const Tensors& x, const std::vector<int>& arguments) {
  expect_call("grad", "f", f, x);
  Tensors called = x, inputs, like;
  for (const int argument : arguments) {
    check_differentiable("grad", x, argument);
    const auto at = static_cast<size_t>(argument);
    if (graph::pointer_of(called[at]) == graph::pointer_of(x[at])) called[at] = alias(x[at]);
    inputs.push_back(called[at]);
    like.push_back(x[at]);
  }
  Tensors results = call("grad", "f", f, called);
  if (results.size() != 1) fail("grad", "f", fmt::format("expected one result, got {}", results.size()));
  const Tensor value = results[0];
  if (value.rank() != 0)
    fail("grad", "f", fmt::format("expected a scalar result, got shape {}", to_string(value.shape())));
  if (!differentiable(value.dtype()))
    fail("grad", "f", fmt::format("expected a result of floats, got {}", name_of(value.dtype())));
  Tensors grads = filled(pull_back_sharing(results, {constant(value.dtype(), 1)}, inputs), like);
  return {results[0], std::move(grads)};
}

std::pair<Tensors, Tensors> vjp(const Function& f, const Tensors& x, const Tensors& cotangents) {
  expect_call("vjp", "f", f, x);
  Tensors inputs;
  for (size_t i = 0; i < x.size(); ++i) {
    check_differentiable("vjp", x, static_cast<int>(i));
    inputs.push_back(alias(x[i]));
  }
  Tensors results = call("vjp", "f", f, inputs);
  if (cotangents.size() != results.size())
    fail("vjp", "cotangents", fmt::format("expected {}, got {}", results.size(), cotangents.size()));
  for (size_t i = 0; i < results.size(); ++i)
    if (cotangents[i] &&
        (cotangents[i].dtype() != results[i].dtype() || !(cotangents[i].shape() == results[i].shape())))
      fail("vjp", fmt::format("cotangent {}", i),
           fmt::format("expected {}, got {}", describe(slot_of(results[i])),
                       describe(slot_of(cotangents[i]))));
  Tensors gradients = filled(pull_back_sharing(results, cotangents, inputs), x);
  return {std::move(results), std::move(gradients)};
}

}  // namespace adit
