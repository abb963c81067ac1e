#include "density/control_plan.hpp"

#include <algorithm>

#include "graph/op.hpp"

namespace adit::sampling {

using graph::Op;

std::vector<Tensor> carried_by(const Node& node) {
  const auto& about = control_of(node);
  int count = about.carries;
  if (node.op == Op::while_vjp) count += about.sequences;
  return {node.operands.begin(), node.operands.begin() + (node.op == Op::cond ? 0 : count)};
}

namespace {

// How often each node is read by others of the function, and as a result.
std::unordered_map<const Node*, int> uses_in(const graph::Subgraph& function) {
  std::unordered_map<const Node*, int> uses;
  for (const Tensor& x : graph::reachable(function.results, true))
    for (const Tensor& operand : graph::node_of(x).operands) ++uses[&graph::node_of(operand)];
  for (const Tensor& result : function.results) ++uses[&graph::node_of(result)];
  return uses;
}

bool changes_in_place(const Node& node) {
  return node.op == Op::scan;  // a while loop's states are kept for the way back
}

}  // namespace

std::vector<const Node*> updates_in_place(const graph::Subgraph& function, size_t carry, int64_t written) {
  const Node* const parameter = &graph::node_of(function.parameters[carry]);
  if (element_count(parameter->shape) <= written) return {};
  const auto uses = uses_in(function);
  std::vector<const Node*> chain;
  const Node* node = &graph::node_of(function.results[carry]);
  while (node->op == Op::indexed_add || node->op == Op::indexed_put) {
    if (uses.at(node) > 1 || node->operands[2].size() > small) return {};
    chain.push_back(node);
    node = &graph::node_of(node->operands[0]);
  }
  return node == parameter ? chain : std::vector<const Node*>{};
}

std::shared_ptr<Control> plan_control(const Node& node, const Region& outer) {
  auto control = std::make_shared<Control>();
  const auto& about = control_of(node);
  const auto carried = carried_by(node);
  control->states.assign(carried.size(), -1);
  control->next.assign(carried.size(), -1);
  control->results.assign(about.types.size(), -1);
  control->in_place.resize(carried.size());
  for (size_t which = 0; which < about.functions.size(); ++which) {
    const graph::Subgraph& function = *about.functions[which];
    Region region{.inputs = function.parameters,
                  .results = function.results,
                  .type = outer.type,
                  .by_team = outer.by_team,
                  .on_cpu = outer.on_cpu,
                  .short_result = outer.written,
                  .written = outer.written};
    if (changes_in_place(node))
      for (size_t i = 0; i < carried.size(); ++i) {
        control->in_place[i] = updates_in_place(function, i, outer.written);
        region.in_place.insert(control->in_place[i].begin(), control->in_place[i].end());
      }
    control->functions.push_back(make_schedule(region));
  }
  return control;
}

std::vector<ControlMemory> memory_of(Control& control, const Node& node) {
  const auto& about = control_of(node);
  const int64_t written = control.functions[0].written;
  const auto carried = carried_by(node);
  std::vector<ControlMemory> memory;
  // Functions run one after the other.
  int64_t scratch = 0;
  for (const Schedule& function : control.functions) scratch = std::max(scratch, function.scratch);
  const int64_t rounds = node.op == Op::scan ? about.length : node.op == Op::cond ? 1 : small;
  memory.push_back({&control.scratch, scratch, 2 * rounds, false});
  for (size_t i = 0; i < carried.size(); ++i) {
    if (carried[i].size() <= written) continue;
    memory.push_back({&control.states[i], carried[i].size(), 2 * rounds, true});
    if (control.in_place[i].empty())
      memory.push_back({&control.next[i], carried[i].size(), 2 * rounds, false});
  }
  for (size_t i = 0; i < about.types.size(); ++i) {
    const bool is_stacked = node.op == Op::scan && i >= static_cast<size_t>(about.carries);
    const int64_t count = element_count(about.shapes[i]);
    if (is_stacked || (node.op == Op::cond && count > written))
      memory.push_back({&control.results[i], count, 3, true});  // of serial steps: they wait for each
  }
  if (node.op == Op::while_vjp) {
    for (int i = 0; i < about.carries; ++i) control.history_size += carried[static_cast<size_t>(i)].size();
    memory.push_back({&control.history, most_rounds * control.history_size, 2, false});
  }
  return memory;
}

}  // namespace adit::sampling
