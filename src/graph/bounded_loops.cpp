#include "graph/bounded_loops.hpp"

#include <limits>
#include <map>

#include <adit/control.hpp>
#include <adit/ops.hpp>

#include "graph/control.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

namespace {

using Functions = std::vector<std::shared_ptr<const Subgraph>>;

bool has_functions(const Tensor& x) {
  const Node& node = node_of(x);
  return row_of(node.op).kind == Kind::control && node.op != Op::item && !node.computed;
}

bool goes_on_unknown(const Tensor& x) { return node_of(x).op == Op::while_loop && about(x).length == 0; }

bool holds_a_loop(const Tensors& roots) {
  for (const Tensor& x : reachable(roots, true)) {
    if (!has_functions(x)) continue;
    if (goes_on_unknown(x)) return true;
    for (const auto& function : about(x).functions)
      if (holds_a_loop(function->results)) return true;
  }
  return false;
}

Functions bounded_functions(const Tensor& control) {
  Functions functions;
  for (const auto& function : about(control).functions)
    functions.push_back(std::make_shared<const Subgraph>(
        Subgraph{function->parameters, bounded_loops(function->results).roots}));
  return functions;
}

// The same node with other functions; its results.
Tensors rebuilt(const Tensor& control, Functions functions) {
  auto changed = std::make_shared<ControlAttributes>(about(control));
  changed->functions = std::move(functions);
  const std::shared_ptr<const ControlAttributes> shared = std::move(changed);
  const Node& node = node_of(control);
  const Tensor other = make_node(node.op, node.type, node.shape, node.operands, shared);
  Tensors results;
  for (size_t i = 0; i < shared->types.size(); ++i)
    results.push_back(
        make_node(Op::item, shared->types[i], shared->shapes[i], {other}, Which{static_cast<int>(i)}));
  return results;
}

// A while_loop that counts its rounds beside its states; `endless`: it would have gone on.
Tensors counted(const Tensor& loop, const Functions& functions, Tensor& endless) {
  const Tensors& operands = node_of(loop).operands;
  const auto states = static_cast<size_t>(about(loop).carries);
  const Tensors captured = after(operands, states);
  const auto call = [&](size_t which, const Tensors& state) {
    return instantiate(*functions[which], joined(part(state, 0, states), captured));
  };
  const auto goes_on = [&](const Tensors& state) {
    return logical_and(call(0, state)[0], less(state[states], constant_integer(DType::i32, most_rounds)));
  };
  const auto round = [&](const Tensors& state) {
    return joined(call(1, state), Tensors{state[states] + constant_integer(DType::i32, 1)});
  };
  const Tensors start = joined(part(operands, 0, states), Tensors{constant_integer(DType::i32, 0)});
  const Tensors end = while_loop(goes_on, round, start, most_rounds);
  endless = call(0, end)[0];
  Tensors results;
  for (size_t i = 0; i < states; ++i) {
    const DType type = end[i].dtype();
    const double none = std::numeric_limits<double>::quiet_NaN();
    results.push_back(differentiable(type) ? select(endless, constant(type, none), end[i]) : end[i]);
  }
  return results;
}

}  // namespace

BoundedLoops bounded_loops(const Tensors& roots) {
  if (!holds_a_loop(roots)) return {roots, {}};
  const Tracing tracing;
  BoundedLoops bounded;
  Tensors from, to;
  std::map<const Node*, Tensors> results;  // of each control node, in its new form
  for (const Tensor& x : reachable(roots, true)) {
    if (has_functions(x)) {
      Tensor endless;
      const Functions functions = bounded_functions(x);
      results[&node_of(x)] = goes_on_unknown(x) ? counted(x, functions, endless) : rebuilt(x, functions);
      if (endless) bounded.endless.push_back(endless);
    }
    if (node_of(x).op != Op::item || node_of(x).computed) continue;
    const auto at = results.find(&node_of(node_of(x).operands[0]));
    if (at == results.end()) continue;
    from.push_back(x);
    to.push_back(at->second[static_cast<size_t>(node_of(x).as<Which>().number)]);
  }
  const Tensors all = substitute_throughout(joined(roots, bounded.endless), from, to);
  bounded.roots = part(all, 0, roots.size());
  bounded.endless = after(all, roots.size());
  return bounded;
}

}  // namespace adit::graph
