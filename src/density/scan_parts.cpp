// Loops by a team of a GPU whose next state is linear in this one, x' = A x + b, with A and b of the step
// alone: autoregressions, GARCH, smoothing, and the way back through any loop of few numbers. Each lane of a
// subgroup takes steps that follow each other. It first finds what they make of any state, one A and b for
// all of them; the lanes put those together in as many rounds as their number has binary digits; and each
// then goes through its own steps from the state that they begin with. A step may let go of the state, where
// the data say so: each entry of A then has a number beside it that is 0 where the state is let go of, since
// that may be NaN or infinite.
#include <numeric>

#include "density/scan_lines.hpp"
#include "density/writer.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

namespace {

constexpr int64_t most_carries = 2;   // numbers of a state: lanes keep a matrix of them
constexpr int64_t most_results = 16;  // of a step
constexpr int64_t least_steps_a_lane = 4;

std::vector<size_t> all_of(size_t carries) {
  std::vector<size_t> all(carries);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

// Whether a step, linear as it is, chooses a state that does not follow from this one.
bool may_let_go(const graph::Subgraph& step, size_t carries) {
  Dependence depends(step, carries, all_of(carries));
  for (size_t i = 0; i < carries; ++i)
    if (depends(graph::node_of(step.results[i])) == Bearing::other) return true;
  return false;
}

}  // namespace

bool DensityWriter::goes_by_parts(const Node& node, const Control& control) const {
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries);
  if (!chain_.by_team() || schedule_.on_cpu || schedule_.team.lanes == 0 || schedule_.team.subgroup < 2)
    return false;
  if (about.length < least_steps_a_lane * schedule_.team.subgroup || about.carries > most_carries ||
      carries == 0 || !control.functions[0].passes.empty())
    return false;
  int64_t left = 0;
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (step.results[i].dtype() != density_.type) return false;
    if (i < carries && (control.states[i] >= 0 || step.results[i].size() != 1)) return false;
    left += step.results[i].size();
  }
  if (left > most_results) return false;
  Dependence depends(step, carries, all_of(carries), true);
  for (size_t i = 0; i < carries; ++i)
    if (depends(graph::node_of(step.results[i])) == Bearing::other) return false;
  return true;
}

void DensityWriter::write_parts(const Node& node, const Control& control, const States& states) {
  Builder& k = builder();
  const auto& about = control_of(node);
  const graph::Subgraph& step = *about.functions[0];
  const auto carries = static_cast<size_t>(about.carries), sequences = static_cast<size_t>(about.sequences);
  const int64_t lanes = schedule_.team.subgroup, length = about.length;
  // An odd number, so that lanes read different banks of shared memory.
  const int64_t steps = (length + lanes - 1) / lanes | 1;
  const Value lane = k.subgroup_lane();
  k.barrier();  // memory that lanes read by hand just before may be written now

  const auto each_step = [&](const std::function<void(Value slice)>& body) {
    k.for_(chain_.index(steps), [&](Value i) {
      const Value round = lane * chain_.index(steps) + i;
      k.if_(round < chain_.index(length), [&] {
        const Value slice = about.reverse ? chain_.last_of(length) - round : round;
        bind(step, 0, states);
        for (size_t s = carries; s < carries + sequences; ++s)
          bindings_[&graph::node_of(step.parameters[s])] = {
              .elements = {}, .memory = {}, .outer = &graph::node_of(node.operands[s]), .slice = slice};
        bind_captured(step, node.operands.size() - carries - sequences, node);
        body(slice);
      });
    });
  };

  // What the lane's steps make of any state.
  using Numbers = std::vector<Value>;
  const auto row = [&](size_t i, size_t j) { return i * carries + j; };
  std::vector<Variable> matrix, offset, held;
  const bool lets_go = may_let_go(step, carries);
  for (size_t i = 0; i < carries; ++i) {
    for (size_t j = 0; j < carries; ++j) {
      matrix.push_back(k.variable(chain_.number(i == j ? 1 : 0)));
      if (lets_go) held.push_back(k.variable(chain_.number(i == j ? 1 : 0)));
    }
    offset.push_back(k.variable(chain_.number(0)));
  }
  // a x, or 0 where it is let go of.
  const auto product_of = [&](Value a, Value x, const Number& holds) {
    return holds ? select(*holds, a * x, x.like(0)) : a * x;
  };
  each_step([&](Value) {
    within(step, control, 0, std::vector<Vector>(step.results.size()), [&] {
      const std::vector<Line> next = lines_of(
          step, carries, all_of(carries), chain_.number(1),
          [&](const Node& x) { return read(x, place(x.shape, chain_.index(0))).re; }, true);
      const auto through = [&](const Line& by, const std::function<Value(size_t)>& column,
                               const Number& first) {
        Number total = first;
        for (size_t j = 0; j < carries; ++j)
          if (by.slopes[j]) total = added(product_of(*by.slopes[j], column(j), by.holds[j]), total);
        return total.value_or(chain_.number(0));
      };
      Numbers to_matrix, to_offset, to_held;
      for (size_t i = 0; i < carries; ++i) {
        for (size_t j = 0; j < carries; ++j) {
          to_matrix.push_back(through(next[i], [&](size_t m) { return matrix[row(m, j)].get(); }, {}));
          Value holds = chain_.number(0);
          for (size_t m = 0; m < carries && lets_go; ++m)
            if (next[i].slopes[m]) {
              const Value before = held[row(m, j)].get();
              holds =
                  max(holds, next[i].holds[m] ? select(*next[i].holds[m], before, holds.like(0)) : before);
            }
          if (lets_go) to_held.push_back(holds);
        }
        to_offset.push_back(through(
            next[i], [&](size_t m) { return offset[m].get(); }, next[i].offset));
      }
      for (size_t i = 0; i < to_matrix.size(); ++i) matrix[i] = to_matrix[i];
      for (size_t i = 0; i < to_held.size(); ++i) held[i] = to_held[i];
      for (size_t i = 0; i < carries; ++i) offset[i] = to_offset[i];
    });
  });

  // Those of all lanes up to this one.
  const auto from_lane = [&](const std::vector<Variable>& numbers, Value which) {
    Numbers taken;
    for (const Variable& number : numbers) taken.push_back(k.subgroup_shuffle(number.get(), which));
    return taken;
  };
  const auto applied = [&](const Numbers& by, const Numbers& holds, const Numbers& x, const Numbers& plus) {
    Numbers made = plus;
    for (size_t i = 0; i < carries; ++i)
      for (size_t j = 0; j < carries; ++j) {
        const Number is_held = lets_go ? Number(holds[row(i, j)] != chain_.number(0)) : Number();
        made[i] = made[i] + product_of(by[row(i, j)], x[j], is_held);
      }
    return made;
  };
  const auto values = [](const std::vector<Variable>& numbers) {
    Numbers made;
    for (const Variable& number : numbers) made.push_back(number.get());
    return made;
  };
  for (int64_t apart = 1; apart < lanes; apart *= 2) {
    const Value has = lane >= chain_.index(apart);
    const Value other = select(has, lane - chain_.index(apart), lane);
    const Numbers before = from_lane(matrix, other), shift = from_lane(offset, other), mine = values(matrix);
    const Numbers held_before = from_lane(held, other), mine_held = values(held);
    const Numbers to_offset = applied(mine, mine_held, shift, values(offset));
    const Numbers zeros(carries, chain_.number(0));
    const auto join = [&](const std::vector<Variable>& to, const Numbers& by, const Numbers& others) {
      for (size_t j = 0; j < carries; ++j) {
        Numbers column;
        for (size_t m = 0; m < carries; ++m) column.push_back(others[row(m, j)]);
        const Numbers product = applied(by, mine_held, column, zeros);
        for (size_t i = 0; i < carries; ++i) to[row(i, j)] = select(has, product[i], by[row(i, j)]);
      }
    };
    join(matrix, mine, before);
    if (lets_go) join(held, mine_held, held_before);
    for (size_t i = 0; i < carries; ++i) offset[i] = select(has, to_offset[i], offset[i].get());
  }
  const Value is_first = lane == chain_.index(0), before = select(is_first, lane, lane - chain_.index(1));
  Numbers start;
  for (const State& state : states) start.push_back(state.cells[0].get());
  const Numbers reached =
      applied(from_lane(matrix, before), from_lane(held, before), start, from_lane(offset, before));
  for (size_t i = 0; i < carries; ++i) states[i].cells[0] = select(is_first, start[i], reached[i]);

  each_step([&](Value slice) {
    call(step, control, 0, std::vector<Vector>(step.results.size()), [&](const Elements& results) {
      const auto store = [&] {
        for (size_t i = carries; i < results.size(); ++i)
          for (size_t e = 0; e < results[i].size(); ++e) {
            const int64_t size = step.results[i].size();
            memory(control.results[i])
                .set(slice * size + chain_.index(static_cast<int64_t>(e)), memory_number(results[i][e]));
          }
      };
      if (schedule_.team.lanes > lanes)
        k.if_(k.subgroup_number() == 0, store);  // subgroups all do the same
      else
        store();
      advance(states, results);
    });
  });
  const Value last = chain_.index((length - 1) / steps);
  for (const State& state : states) state.cells[0] = k.subgroup_shuffle(state.cells[0].get(), last);
  k.barrier();
}

}  // namespace adit::sampling
