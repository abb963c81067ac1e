#include "compile/round.hpp"

#include <algorithm>

#include "compile/kernels.hpp"
#include "compile/split_dot.hpp"
#include "graph/op.hpp"
#include "graph/trace.hpp"

namespace adit::compile {

namespace {

// What a team does in the time of a launch, in additions; a round has a launch a group, and copies of the
// state.
//
//   an H200: a launch and its barrier 3.4 us; 2^16 additions (4096 sines) 1.1 us by a team
//   a Xeon:  a launch 1 to 2 us; 4096 sines 1.7 us by a thread
double work_of_a_launch(const Target& target) { return target.gpu ? 1 << 18 : 1 << 16; }
int64_t most_elements(const Target& target) { return target.gpu ? 32768 : 4096; }
constexpr size_t most_pieces = 48;
constexpr double most_loop_code = 4 * most_code;  // it is compiled once, and runs many times

int64_t space_of(const Group& group) {
  return element_count(group.form == Group::Form::rows ? group.full : group.roots[0]->shape);
}

class Planner {
 public:
  Planner(const Round& round, const Target& target) : target_(target) {
    std::vector<Tensor> roots = round.next;
    roots.insert(roots.end(), round.outputs.begin(), round.outputs.end());
    if (round.condition) roots.push_back(round.condition);
    const std::vector<Tensor> simple = simplified(roots, target);
    plan_.kept = graph::reachable(simple, false);
    plan_.kept.insert(plan_.kept.end(), round.state.begin(), round.state.end());
    std::vector<const Node*> bases;
    for (const Tensor& x : simple) bases.push_back(&memory_of(graph::node_of(x)));
    for (const Tensor& x : round.state) plan_.state.push_back(&graph::node_of(x));
    const auto outputs = bases.begin() + static_cast<long>(round.next.size());
    const auto end = outputs + static_cast<long>(round.outputs.size());
    plan_.next.assign(bases.begin(), outputs);
    plan_.outputs.assign(outputs, end);
    if (round.condition) plan_.condition = bases.back();
    cut(simple, bases, round.number);
  }

  std::optional<RoundPlan> run() {
    if (!is_small()) return {};
    sort_groups();
    for (size_t i = 0; i < plan_.state.size(); ++i) try_in_place(*plan_.state[i], *plan_.next[i]);
    return std::move(plan_);
  }

 private:
  void cut(const std::vector<Tensor>& simple, const std::vector<const Node*>& bases, const Tensor& number) {
    std::unordered_set<const Node*> inputs, arguments;
    for (const Tensor& x : graph::reachable(simple, false)) {
      plan_.nodes.push_back(&graph::node_of(x));
      if (graph::node_of(x).computed || graph::node_of(x).op == graph::Op::input)
        inputs.insert(&graph::node_of(x));
    }
    if (number) arguments.insert(&graph::node_of(number));
    plan_.parts = partition(plan_.nodes, inputs, {bases.begin(), bases.end()}, arguments, target_);
    // Of what is empty nothing is computed; but the sum of nothing is a number.
    const auto is_empty = [](const Node* root) { return element_count(root->shape) == 0; };
    std::erase_if(plan_.parts.groups,
                  [&](const Group& group) { return std::ranges::all_of(group.roots, is_empty); });
  }

  bool is_small() {
    if (plan_.parts.groups.size() > most_pieces) return false;
    double code = 0;
    for (const Node* state : plan_.state) {
      plan_.largest = std::max(plan_.largest, element_count(state->shape));
      if (element_count(state->shape) > most_elements(target_)) return false;
    }
    for (const Group& group : plan_.parts.groups) {
      if (group.form == Group::Form::kernel || space_of(group) > most_elements(target_)) return false;
      plan_.work += work_of_group(group, plan_.parts) + dot_waits(group, plan_.parts, target_);
      plan_.largest = std::max(plan_.largest, lanes_wanted(group));
      for_each_inside(group, plan_.parts, [&](const Node& node, Reading) { code += code_length(node); });
    }
    const auto launches = static_cast<double>(plan_.parts.groups.size() + 1);
    return plan_.work <= launches * work_of_a_launch(target_) && code <= most_loop_code;
  }

  int64_t lanes_wanted(const Group& group) const {
    return group.form == Group::Form::rows ? std::max(group.row_length(), group.row_count())
                                           : std::max(space_of(group), lanes_for_dots(group, plan_.parts));
  }

  // The groups are in an order that can run; those that the condition needs keep it, and so do the others.
  void sort_groups() {
    std::unordered_map<const Node*, size_t> owner;
    const auto& groups = plan_.parts.groups;
    for (size_t g = 0; g < groups.size(); ++g)
      for (const Node* root : groups[g].roots) owner[root] = g;
    std::vector<bool> needed(groups.size(), false);
    std::vector<size_t> open;
    const auto need = [&](const Node& node) {
      const auto it = owner.find(&node);
      if (it == owner.end() || needed[it->second]) return;
      needed[it->second] = true;
      open.push_back(it->second);
    };
    if (plan_.condition) need(*plan_.condition);
    while (!open.empty()) {
      const size_t g = open.back();
      open.pop_back();
      for_each_read(groups[g], plan_.parts, [&](const Node& node, Reading) { need(node); });
    }
    for (const bool first : {true, false})
      for (size_t g = 0; g < groups.size(); ++g)
        if (needed[g] == first) plan_.order.push_back(&groups[g]);
    plan_.before = static_cast<size_t>(std::count(needed.begin(), needed.end(), true));
  }

  // A loop over elements writes the new state over the old one, where nobody reads that later.
  void try_in_place(const Node& state, const Node& next) {
    if (state.type != next.type || plan_.in_place.contains(&next)) return;
    for (const auto* results : {&plan_.next, &plan_.outputs})
      if (std::ranges::find(*results, &state) != results->end()) return;
    const auto writes = std::ranges::find_if(plan_.order, [&](const Group* g) { return g->contains(next); });
    if (writes == plan_.order.end() || (*writes)->form != Group::Form::loop) return;
    if (writes < plan_.order.begin() + static_cast<long>(plan_.before)) return;
    bool possible = true;
    for (auto group = writes; group != plan_.order.end(); ++group)
      for_each_read(**group, plan_.parts, [&](const Node& node, Reading reading) {
        if (&node == &state) possible = possible && group == writes && reading == Reading::whole;
      });
    if (possible) plan_.in_place[&next] = &state;
  }

  const Target& target_;
  RoundPlan plan_;
};

}  // namespace

std::optional<RoundPlan> plan_round(const Round& round, const Target& target) {
  Target team = target;
  team.in_round = true;
  return Planner(round, team).run();
}

}  // namespace adit::compile
