// Loops and choices inside of a density: their functions are written where they run, each by its own
// schedule. All lanes of a team go through them together.
#include <cmath>

#include "density/writer.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

using graph::Op;

// --- Numbers -----------------------------------------------------------------------------------------------

// Whole numbers of a state lie in the chain's memory as numbers of its precision, which holds them up to
// 2^24 (f32) or 2^53: counters and places.
Value DensityWriter::memory_number(Value value) {
  return value.type() == chain_.real() ? value : convert(value, chain_.real());
}

Value DensityWriter::number_of(const Node& node, Value stored) {
  const Type type = compute_type(node.type);
  return type == stored.type() ? stored : convert(stored, type);
}

std::vector<Value> DensityWriter::elements_of(const Tensor& x) {
  std::vector<Value> elements;
  for (int64_t i = 0; i < x.size(); ++i)
    elements.push_back(read(graph::node_of(x), place(x.shape(), chain_.index(i))).re);
  return elements;
}

void DensityWriter::each(int64_t count, const std::function<void(Value)>& body) {
  const auto in_scope = [&](Value i) {
    const Scope scope(*this);
    body(i);
  };
  if (chain_.by_team())
    builder().each(chain_.index(count), in_scope);
  else
    builder().for_(chain_.index(count), in_scope);
}

// --- Functions ---------------------------------------------------------------------------------------------

Scalar DensityWriter::parameter(const Node& node, const Binding& binding, const Index& at, Value linear) {
  if (binding.memory) return {number_of(node, binding.memory->get(linear)), {}, false};
  if (!binding.outer) return pick(binding.elements, linear);
  if (binding.slice.type() == Type::none) return read(*binding.outer, at);
  std::vector<Value> coordinates{binding.slice};
  for (int axis = 0; axis < node.shape.size(); ++axis) coordinates.push_back(at.coordinate(axis));
  return read(*binding.outer, at.at(binding.outer->shape, std::move(coordinates)));
}

void DensityWriter::bind(const graph::Subgraph& function, size_t first, const States& states) {
  for (size_t i = 0; i < states.size(); ++i)
    bindings_[&graph::node_of(function.parameters[first + i])] = {
        .elements = states[i].values(), .memory = states[i].memory, .outer = nullptr, .slice = {}};
}

// The last parameters of a function, which are the last operands of the node.
void DensityWriter::bind_captured(const graph::Subgraph& function, size_t count, const Node& node) {
  for (size_t i = 1; i <= count; ++i)
    bindings_[&graph::node_of(function.parameters[function.parameters.size() - i])] = {
        .elements = {},
        .memory = {},
        .outer = &graph::node_of(node.operands[node.operands.size() - i]),
        .slice = {}};
}

// A function whose parameters are bound: its nodes can be read while `use` runs.
void DensityWriter::within(const graph::Subgraph& function, const Control& control, size_t which,
                           std::vector<Vector> to, const std::function<void()>& use) {
  const Scope scope(*this);
  const Schedule& schedule = control.functions[which];
  Place outer = enter(schedule, base_ + control.scratch, std::move(to));
  use();
  leave(schedule, std::move(outer));
  for (const Tensor& parameter : function.parameters) bindings_.erase(&graph::node_of(parameter));
}

// Costly elements of short tensors wait for themselves; written one next to the other, those of a tensor wait
// together. A CPU looks some hundred instructions ahead, and an element with all that it is made of may take
// as many. Nothing is lost: what nobody reads leaves the kernel.
void DensityWriter::compute_side_by_side(const graph::Subgraph& function) {
  constexpr double costly = 4;  // operations: more than a multiplication
  if (!schedule_.on_cpu) return;
  for (const Tensor& x : graph::reachable(function.results, true)) {
    const Node& node = graph::node_of(x);
    if (x.size() < 2 || x.size() > schedule_.written || node.operands.empty() || is_complex(node.type))
      continue;
    if (!graph::row_of(node.op).scalar || graph::row_of(node.op).cost < costly) continue;
    for (int64_t i = 0; i < x.size(); ++i) read(node, place(node.shape, chain_.index(i)));
  }
}

// The same; its short results are known while `use` runs.
void DensityWriter::call(const graph::Subgraph& function, const Control& control, size_t which,
                         std::vector<Vector> to, const std::function<void(const Elements&)>& use) {
  within(function, control, which, std::move(to), [&] {
    compute_side_by_side(function);
    Elements elements;
    for (const Tensor& result : function.results)
      elements.push_back(result.size() <= schedule_.written ? elements_of(result) : std::vector<Value>{});
    use(elements);
  });
}

void DensityWriter::write_control(const Node& node) {
  const Control& control = *controls_.at(&node);
  const States results = node.op == Op::scan   ? write_scan(node, control)
                         : node.op == Op::cond ? write_cond(node, control)
                                               : write_while(node, control);
  for (const auto& [item, number] : control.items) {
    if (number < results.size() && !results[number].cells.empty()) totals_[item] = results[number].values();
    ready_.insert(item);
  }
}

// --- States ------------------------------------------------------------------------------------------------

std::vector<Value> DensityWriter::State::values() const {
  std::vector<Value> values;
  for (const Variable& cell : cells) values.push_back(cell.get());
  return values;
}

DensityWriter::State DensityWriter::open_state(const Tensor& initial, const Control& control, size_t which) {
  State state;
  state.count = initial.size();
  state.in_place = &control.in_place[which];
  if (control.states[which] < 0) {
    for (const Value element : elements_of(initial)) state.cells.push_back(builder().variable(element));
    return state;
  }
  state.memory = memory(control.states[which]);
  if (control.next[which] >= 0) state.next = memory(control.next[which]);
  if (control.changes[which] >= 0) state.changes = memory(control.changes[which]);
  each(state.count, [&](Value i) {
    state.memory->set(i, memory_number(read(graph::node_of(initial), place(initial.shape(), i)).re));
  });
  return state;
}

std::vector<DensityWriter::Change> DensityWriter::changes_of(const State& state) {
  std::vector<Change> changes;
  const auto& chain = state.in_place->chain;
  for (auto node = chain.rbegin(); node != chain.rend() && !state.changes; ++node) {
    const Tensor& source = (*node)->operands[2];
    for (int64_t i = 0; i < source.size(); ++i) {
      const Index update = place(source.shape(), chain_.index(i));
      changes.push_back({target_of(**node, update), memory_number(read(graph::node_of(source), update).re),
                         (*node)->op == Op::indexed_add});
    }
  }
  return changes;
}

// Many changes, in memory: their targets and values.
void DensityWriter::note_changes(const State& state) {
  const auto& chain = state.in_place->chain;
  int64_t first = 0;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    const Tensor& source = (*node)->operands[2];
    each(source.size(), [&](Value i) {
      const Index update = place(source.shape(), i);
      const Value value = memory_number(read(graph::node_of(source), update).re);
      state.changes->set(i + first, convert(target_of(**node, update), chain_.real()));
      state.changes->set(i + (first + state.in_place->count), value);
    });
    first += source.size();
  }
}

// Before a number changes: where it lies, and what it was.
void DensityWriter::keep_change(const std::optional<Vector>& kept, const State& state, Value update,
                                Value target) {
  if (!kept) return;
  kept->set(update, convert(target, chain_.real()));
  kept->set(update + chain_.index(state.in_place->count), state.memory->get(target));
}

// One after the other: of several at a place the last one counts.
void DensityWriter::make_changes(const State& state, const std::vector<Change>& changes,
                                 const std::optional<Vector>& kept) {
  const auto make = [&](Value update, Value target, Value value, bool adds) {
    keep_change(kept, state, update, target);
    state.memory->set(target, adds ? state.memory->get(target) + value : value);
  };
  for (size_t i = 0; i < changes.size(); ++i)
    make(chain_.index(static_cast<int64_t>(i)), changes[i].target, changes[i].value, changes[i].adds);
  if (!state.changes) return;
  const auto& chain = state.in_place->chain;
  int64_t first = 0;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    const int64_t count = (*node)->operands[2].size();
    builder().for_(chain_.index(first), chain_.index(first + count), chain_.index(1), [&](Value i) {
      const Scope scope(*this);
      make(i, convert(state.changes->get(i), Type::u32),
           state.changes->get(i + chain_.index(state.in_place->count)), (*node)->op == Op::indexed_add);
    });
    first += count;
  }
}

// The next round's states take the places of this one's, after all that reads these was computed. `history`
// is what leads back to them.
void DensityWriter::advance(const States& states, const Elements& next,
                            const std::optional<Vector>& history) {
  std::vector<std::vector<Change>> changes;
  for (const State& state : states) {
    changes.push_back(changes_of(state));
    if (state.changes) note_changes(state);
  }
  int64_t offset = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    const State& state = states[i];
    for (size_t e = 0; e < state.cells.size(); ++e) state.cells[e] = next[i][e];
    if (state.next) each(state.count, [&](Value e) { state.memory->set(e, state.next->get(e)); });
    const std::optional<Vector> kept =
        history ? std::optional(history->from(chain_.index(offset))) : std::nullopt;
    if (state.in_place->count > 0) chain_.once([&] { make_changes(state, changes[i], kept); });
    offset += state.in_place->kept(state.count);
  }
}

// --- Loops and choices -------------------------------------------------------------------------------------

DensityWriter::States DensityWriter::write_scan(const Node& node, const Control& control) {
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries), sequences = static_cast<size_t>(about.sequences);
  States states;
  for (size_t i = 0; i < carries; ++i) states.push_back(open_state(node.operands[i], control, i));
  if (goes_by_parts(node, control)) {
    write_parts(node, control, states);
    return states;
  }
  if (goes_by_chunks(node, control)) {
    write_chunks(node, control, states);
    return states;
  }
  std::vector<Vector> stacked;
  for (size_t i = carries; i < step.results.size(); ++i) stacked.push_back(memory(control.results[i]));

  const std::optional<size_t> carry = carry_ahead(node, control);
  const int64_t first = carry ? about.length / steps_ahead * steps_ahead : 0;
  if (carry)
    builder().for_(chain_.index(0), chain_.index(first), chain_.index(steps_ahead),
                   [&](Value begin) { take_steps(node, control, states, *carry, begin); });
  builder().for_(chain_.index(first), chain_.index(about.length), chain_.index(1), [&](Value round) {
    const Value slice = about.reverse ? chain_.last_of(about.length) - round : round;
    bind(step, 0, states);
    for (size_t i = carries; i < carries + sequences; ++i)
      bindings_[&graph::node_of(step.parameters[i])] = {
          .elements = {}, .memory = {}, .outer = &graph::node_of(node.operands[i]), .slice = slice};
    bind_captured(step, node.operands.size() - carries - sequences, node);
    std::vector<Vector> to;
    for (const State& state : states) to.push_back(state.next.value_or(Vector()));
    for (size_t i = carries; i < step.results.size(); ++i)
      to.push_back(stacked[i - carries].from(slice * chain_.index(step.results[i].size())));
    call(step, control, 0, to, [&](const Elements& results) {
      bool stores = false;
      for (size_t i = carries; i < results.size(); ++i) stores = stores || !results[i].empty();
      const auto store = [&] {
        for (size_t i = carries; i < results.size(); ++i)
          for (size_t e = 0; e < results[i].size(); ++e)
            to[i].set(chain_.index(static_cast<int64_t>(e)), memory_number(results[i][e]));
      };
      if (stores) chain_.once(store);
      advance(states, results);
    });
  });
  return states;
}

DensityWriter::States DensityWriter::write_cond(const Node& node, const Control& control) {
  const auto& about = control_of(node);
  States results(about.types.size());
  std::vector<Vector> to(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].count = element_count(about.shapes[i]);
    if (control.results[i] >= 0) {
      to[i] = memory(control.results[i]);
      continue;
    }
    for (int64_t e = 0; e < results[i].count; ++e)
      results[i].cells.push_back(builder().variable(builder().constant(compute_type(about.types[i]), 0)));
  }
  const auto branch = [&](size_t which) {
    return [&, which] {
      const graph::Subgraph& function = *about.functions[which];
      bind_captured(function, function.parameters.size(), node);
      call(function, control, which, to, [&](const Elements& elements) {
        for (size_t i = 0; i < results.size(); ++i)
          for (size_t e = 0; e < results[i].cells.size(); ++e) results[i].cells[e] = elements[i][e];
      });
    };
  };
  const Value predicate = read(graph::node_of(node.operands[0]), place({}, chain_.index(0))).re;
  builder().if_(predicate != predicate.like(0), branch(0), branch(1));
  return results;
}

// Its graph counts the rounds (graph/bounded_loops.hpp), so that all of their states find room.
DensityWriter::States DensityWriter::write_while(const Node& node, const Control& control) {
  Builder& k = builder();
  const auto& about = control_of(node);
  const auto count = static_cast<size_t>(about.carries);
  const bool is_back = node.op == Op::while_vjp;
  const size_t captured = node.operands.size() - carried_by(node).size();
  States states, carries;
  for (size_t i = 0; i < control.states.size(); ++i)
    (i < count ? states : carries).push_back(open_state(node.operands[i], control, i));
  std::vector<Vector> to;
  for (const State& state : states) to.push_back(state.next.value_or(Vector()));

  const Variable rounds = k.variable(chain_.index(0));
  const Variable goes = k.variable(k.constant(Type::boolean, true));
  k.while_([&] { return goes.get(); },
           [&] {
             Value holds;
             bind(*about.functions[0], 0, states);
             bind_captured(*about.functions[0], captured, node);
             call(*about.functions[0], control, 0, {},
                  [&](const Elements& result) { holds = result[0][0] != result[0][0].like(0); });
             const auto round = [&] {
               std::optional<Vector> kept;
               if (is_back)
                 kept = memory(control.history).from(rounds.get() * chain_.index(control.history_size));
               if (kept) keep_history(states, *kept);
               bind(*about.functions[1], 0, states);
               bind_captured(*about.functions[1], captured, node);
               call(*about.functions[1], control, 1, to,
                    [&](const Elements& next) { advance(states, next, kept); });
               rounds = rounds.get() + 1;
             };
             k.if_(holds, round, [&] { goes = k.constant(Type::boolean, false); });
           });
  if (is_back) go_back(node, control, states, carries, rounds.get());
  return is_back ? carries : states;
}

// What is changed where it lies is kept as it changes.
void DensityWriter::keep_history(const States& states, const Vector& to) {
  int64_t offset = 0;
  for (const State& state : states) {
    const Vector part = to.from(offset);
    offset += state.in_place->kept(state.count);
    if (state.in_place->count > 0) continue;
    if (state.memory)
      each(state.count, [&](Value e) { part.set(e, state.memory->get(e)); });
    else
      chain_.once([&] {
        for (size_t e = 0; e < state.cells.size(); ++e)
          part.set(chain_.index(static_cast<int64_t>(e)), memory_number(state.cells[e].get()));
      });
  }
}

// What a round changed where it lies is as it was before: the last change goes first.
void DensityWriter::restore(const State& state, const Vector& kept) {
  const int64_t count = state.in_place->count;
  chain_.once([&] {
    builder().for_(chain_.index(count), [&](Value i) {
      const Value update = chain_.last_of(count) - i;
      state.memory->set(convert(kept.get(update), Type::u32), kept.get(update + chain_.index(count)));
    });
  });
}

// From the last round to the first, each from the state that it began with.
void DensityWriter::go_back(const Node& node, const Control& control, const States& states,
                            const States& carries, Value rounds) {
  const graph::Subgraph& backward = *control_of(node).functions[2];
  const auto count = static_cast<size_t>(control_of(node).carries);
  std::vector<Vector> to;
  for (const State& carry : carries) to.push_back(carry.next.value_or(Vector()));
  builder().for_(rounds, [&](Value i) {
    const Vector before = memory(control.history).from((rounds - 1 - i) * chain_.index(control.history_size));
    int64_t offset = 0;
    for (size_t s = 0; s < count; ++s) {
      const bool is_changed = states[s].in_place->count > 0;
      if (is_changed) restore(states[s], before.from(offset));
      bindings_[&graph::node_of(backward.parameters[s])] = {
          .elements = {},
          .memory = is_changed ? states[s].memory : before.from(offset),
          .outer = nullptr,
          .slice = {}};
      offset += states[s].in_place->kept(states[s].count);
    }
    bind(backward, count, carries);
    bind_captured(backward, node.operands.size() - carried_by(node).size(), node);
    call(backward, control, 2, to, [&](const Elements& next) { advance(carries, next); });
  });
}

}  // namespace adit::sampling
