// Loops on a CPU with a number x that goes on as x' = a x + b, with a and b of the step alone, as in
// autoregressions, GARCH, smoothing, and on the way back through them. A step waits for the one before it,
// though nothing else keeps it. So several steps are written at once: what each makes of the x before the
// first of them, A x + B, is found apart from x, and only the last of these is waited for.
#include "density/scan_lines.hpp"
#include "density/writer.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

using graph::Op;

namespace {

constexpr int64_t most_taken_ahead = 16;
constexpr size_t most_step_nodes = 64;  // of a step that is written so many times

// A sum that goes on waits for one addition a step, which is soon done.
bool is_sum(const graph::Subgraph& step, size_t carry) {
  const Node& next = graph::node_of(step.results[carry]);
  if (next.op != Op::add) return false;
  const Node* before = &graph::node_of(step.parameters[carry]);
  return &graph::node_of(next.operands[0]) == before || &graph::node_of(next.operands[1]) == before;
}

}  // namespace

// The carry that steps can be taken ahead for; nothing where there is none.
std::optional<size_t> DensityWriter::carry_ahead(const Node& node, const Control& control) const {
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries);
  if (!schedule_.on_cpu || about.length < 4 * steps_ahead || !control.functions[0].passes.empty()) return {};
  if (graph::reachable(step.results, true).size() > most_step_nodes) return {};
  int64_t numbers = 0;
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (i < carries && (control.states[i] >= 0 || control.in_place[i].count > 0)) return {};
    numbers += step.results[i].size();
  }
  if (numbers > most_taken_ahead) return {};
  for (size_t i = 0; i < carries; ++i) {
    if (step.results[i].size() != 1 || step.results[i].dtype() != density_.type || is_sum(step, i)) continue;
    const size_t alone[] = {i};
    if (Dependence(step, carries, alone)(graph::node_of(step.results[i])) == Bearing::linear) return i;
  }
  return {};
}

// Rounds from `begin` on, as many as steps_ahead says.
void DensityWriter::take_steps(const Node& node, const Control& control, const States& states, size_t carry,
                               Value begin) {
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries), sequences = static_cast<size_t>(about.sequences);
  Elements now;
  for (const State& state : states) now.push_back(state.values());
  const auto slice_of = [&](int64_t s) {
    const Value round = begin + s;
    return about.reverse ? chain_.last_of(about.length) - round : round;
  };
  const auto bind_step = [&](int64_t s) {
    for (size_t i = 0; i < carries; ++i)
      bindings_[&graph::node_of(step.parameters[i])] = {
          .elements = now[i], .memory = {}, .outer = nullptr, .slice = {}};
    for (size_t i = carries; i < carries + sequences; ++i)
      bindings_[&graph::node_of(step.parameters[i])] = {
          .elements = {}, .memory = {}, .outer = &graph::node_of(node.operands[i]), .slice = slice_of(s)};
    bind_captured(step, node.operands.size() - carries - sequences, node);
  };
  // x after each step from x before the first.
  const Value x = now[carry][0];
  const size_t alone[] = {carry};
  std::vector<Value> after;
  Number slope = chain_.number(1), offset;
  for (int64_t s = 0; s < steps_ahead; ++s) {
    bind_step(s);
    within(step, control, 0, std::vector<Vector>(step.results.size()), [&] {
      const Line one = lines_of(step, carries, alone, chain_.number(1), [&](const Node& n) {
        return read(n, place(n.shape, chain_.index(0))).re;
      })[0];
      slope = multiplied(one.slopes[0], slope);
      offset = added(multiplied(one.slopes[0], offset), one.offset);
    });
    after.push_back(added(multiplied(slope, x), offset).value_or(chain_.number(0)));
  }
  std::vector<std::pair<Value, Elements>> made;  // by slice
  for (int64_t s = 0; s < steps_ahead; ++s) {
    bind_step(s);
    call(step, control, 0, std::vector<Vector>(step.results.size()), [&](const Elements& results) {
      made.emplace_back(slice_of(s), results);
      for (size_t i = 0; i < carries; ++i) now[i] = results[i];
    });
    now[carry] = {after[static_cast<size_t>(s)]};
  }
  chain_.once([&] {
    for (const auto& [slice, results] : made)
      for (size_t i = carries; i < results.size(); ++i)
        for (size_t e = 0; e < results[i].size(); ++e)
          memory(control.results[i])
              .set(slice * chain_.index(step.results[i].size()) + chain_.index(static_cast<int64_t>(e)),
                   memory_number(results[i][e]));
  });
  advance(states, now);
}

}  // namespace adit::sampling
