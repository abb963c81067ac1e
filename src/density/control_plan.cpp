#include "density/control_plan.hpp"

#include <algorithm>

#include "graph/lone_update.hpp"
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

const Node* base_of(const Node* node) {
  while (node->op == Op::reshape) node = &graph::node_of(node->operands[0]);
  return node;
}

// The function whose results are the next round's carry, which of its results that is, and of its parameters.
struct Place {
  size_t function = 0, result = 0;
};
Place next_of(const Node& node, size_t carry) {
  const auto states = static_cast<size_t>(control_of(node).carries);
  if (node.op == Op::scan) return {0, carry};
  return carry < states ? Place{1, carry} : Place{2, carry - states};
}

// Places are kept as numbers of the chain's memory.
int64_t most_places(DType type) { return type == DType::f64 ? int64_t{1} << 53 : int64_t{1} << 24; }

}  // namespace

Updates updates_in_place(const Tensor& parameter, const Tensor& result, const graph::Subgraph& function,
                         int64_t written) {
  if (parameter.size() <= written) return {};
  const auto uses = uses_in(function);
  Updates found;
  bool is_read = false, can_be_read = true;  // what an update makes, by others than the next one
  const Node* node = &graph::node_of(result);
  for (; node->op == Op::indexed_add || node->op == Op::indexed_put || node->op == Op::reshape;
       node = &graph::node_of(node->operands[0])) {
    is_read = is_read || (uses.at(node) > 1 && base_of(node) != &graph::node_of(parameter));
    found.made.push_back(node);
    if (node->op == Op::reshape) continue;
    can_be_read = can_be_read && graph::lone_update(*node);
    found.chain.push_back(node);
    found.count += node->operands[2].size();
  }
  if (node != &graph::node_of(parameter) || found.chain.empty() || (is_read && !can_be_read)) return {};
  return found;
}

std::shared_ptr<Control> plan_control(const Node& node, const Region& outer) {
  auto control = std::make_shared<Control>();
  const auto& about = control_of(node);
  const auto carried = carried_by(node);
  control->states.assign(carried.size(), -1);
  control->next.assign(carried.size(), -1);
  control->results.assign(about.types.size(), -1);
  control->in_place.resize(carried.size());
  control->changes.assign(carried.size(), -1);
  for (size_t which = 0; which < about.functions.size(); ++which) {
    const graph::Subgraph& function = *about.functions[which];
    Region region{.inputs = function.parameters,
                  .results = function.results,
                  .type = outer.type,
                  .by_team = outer.by_team,
                  .on_cpu = outer.on_cpu,
                  .short_result = outer.written,
                  .written = outer.written};
    for (size_t i = 0; i < carried.size(); ++i) {
      const Place next = next_of(node, i);
      if (next.function != which || carried[i].size() > most_places(outer.type)) continue;
      Updates updates =
          updates_in_place(function.parameters[i], function.results[next.result], function, outer.written);
      region.in_place.insert(updates.made.begin(), updates.made.end());
      control->in_place[i] = std::move(updates);
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
    const int64_t updates = control.in_place[i].count;
    if (updates == 0)
      memory.push_back({&control.next[i], carried[i].size(), 2 * rounds, false});
    else if (updates > small)
      memory.push_back({&control.changes[i], 2 * updates, 2 * rounds, false});
  }
  for (size_t i = 0; i < about.types.size(); ++i) {
    const bool is_stacked = node.op == Op::scan && i >= static_cast<size_t>(about.carries);
    const int64_t count = element_count(about.shapes[i]);
    if (is_stacked || (node.op == Op::cond && count > written))
      memory.push_back({&control.results[i], count, 3, true});  // of serial steps: they wait for each
  }
  if (node.op == Op::while_vjp) {
    for (size_t i = 0; i < static_cast<size_t>(about.carries); ++i)
      control.history_size += control.in_place[i].kept(carried[i].size());
    memory.push_back({&control.history, about.length * control.history_size, 2, false});
  }
  return memory;
}

}  // namespace adit::sampling
