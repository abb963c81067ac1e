// Loops over a sequence by a team of a GPU: the loop itself waits for no memory. The lanes of a subgroup read
// the numbers of as many steps as they are, one step each, and hand them round as their turn comes; what
// steps leave behind stays with the lane whose step it is, until all of them store it together.
#include <algorithm>

#include "density/writer.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

namespace {

constexpr int64_t most_numbers = 16;  // of a step, that lanes keep: a register each

}  // namespace

bool DensityWriter::goes_by_chunks(const Node& node, const Control& control) const {
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries), sequences = static_cast<size_t>(about.sequences);
  if (!chain_.by_team() || schedule_.on_cpu || schedule_.team.lanes == 0 || schedule_.team.subgroup < 2)
    return false;
  // Memory near the lanes answers sooner than they hand round. (A GARCH model of 1,000 steps took 0.55 of the
  // time without, on an H200; one whose numbers lay far, 0.3 of it with.)
  bool are_near = schedule_.team.all_near;
  if (!are_near) {
    are_near = true;
    for (size_t i = carries; i < step.results.size(); ++i)
      are_near = are_near && base_ + control.results[i] < schedule_.near;
    for (size_t i = carries; i < carries + sequences; ++i) {
      const auto at = stored_.find(&graph::node_of(node.operands[i]));
      are_near = are_near && at != stored_.end() && at->second < schedule_.near;
    }
  }
  if (are_near && schedule_.team.lanes <= 2 * schedule_.team.subgroup) return false;
  if (about.length < 2 * schedule_.team.subgroup || !control.functions[0].passes.empty()) return false;
  for (const int64_t state : control.states)
    if (state >= 0) return false;
  int64_t read = 0, left = 0;
  for (size_t i = carries; i < carries + sequences; ++i) {
    if (node.operands[i].dtype() != density_.type) return false;
    read += step.parameters[i].size();
  }
  for (size_t i = carries; i < step.results.size(); ++i) {
    if (step.results[i].dtype() != density_.type) return false;
    left += step.results[i].size();
  }
  return read <= most_numbers && left <= most_numbers;
}

void DensityWriter::write_chunks(const Node& node, const Control& control, const States& states) {
  Builder& k = builder();
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries), sequences = static_cast<size_t>(about.sequences);
  const int64_t lanes = schedule_.team.subgroup, length = about.length;
  const Value lane = k.subgroup_lane();
  k.barrier();  // memory that lanes read by hand just before may be written now

  k.for_(chain_.index((length + lanes - 1) / lanes), [&](Value chunk) {
    const Value first = chunk * lanes, mine = first + lane;
    const Value round = min(mine, chain_.last_of(length));
    const Value slice = about.reverse ? chain_.last_of(length) - round : round;
    Elements held;  // of this lane's step
    for (size_t i = carries; i < carries + sequences; ++i) {
      const Scope scope(*this);
      const Binding binding{
          .elements = {}, .memory = {}, .outer = &graph::node_of(node.operands[i]), .slice = slice};
      const Node& parameter_node = graph::node_of(step.parameters[i]);
      held.emplace_back();
      for (int64_t e = 0; e < step.parameters[i].size(); ++e) {
        const Index at = place(parameter_node.shape, chain_.index(e));
        held.back().push_back(parameter(parameter_node, binding, at, chain_.index(e)).re);
      }
    }
    std::vector<std::vector<Variable>> left;
    for (size_t i = carries; i < step.results.size(); ++i) {
      left.emplace_back();
      for (int64_t e = 0; e < step.results[i].size(); ++e)
        left.back().push_back(k.variable(chain_.number(0)));
    }
    k.for_(min(chain_.index(lanes), chain_.index(length) - first), [&](Value turn) {
      bind(step, 0, states);
      for (size_t i = 0; i < sequences; ++i) {
        Binding& binding = bindings_[&graph::node_of(step.parameters[carries + i])];
        binding = {};
        for (const Value number : held[i]) binding.elements.push_back(k.subgroup_shuffle(number, turn));
      }
      bind_captured(step, node.operands.size() - carries - sequences, node);
      call(step, control, 0, std::vector<Vector>(step.results.size()), [&](const Elements& results) {
        for (size_t i = 0; i < left.size(); ++i)
          for (size_t e = 0; e < left[i].size(); ++e)
            left[i][e] = select(turn == lane, results[carries + i][e], left[i][e].get());
        advance(states, results);
      });
    });
    // Subgroups all do the same; one of them stores it.
    k.if_(mine < chain_.index(length) && k.subgroup_number() == 0, [&] {
      for (size_t i = 0; i < left.size(); ++i)
        for (size_t e = 0; e < left[i].size(); ++e) {
          const int64_t size = step.results[carries + i].size();
          memory(control.results[carries + i])
              .set(slice * size + chain_.index(static_cast<int64_t>(e)), left[i][e].get());
        }
    });
  });
  k.barrier();
}

}  // namespace adit::sampling
