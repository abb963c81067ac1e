// While loops. On data: round by round, in each lane as long as it lasts there. On parameters: a loop of the
// graph, in which lanes that are done keep what they have.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <adit/random.hpp>

#include "graph/control.hpp"
#include "graph/op.hpp"
#include "stan/evaluator.hpp"
#include "stan/snapshot.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

// In transformed data; for each draw in generated quantities, where thousands go on together. Densities have
// bounds of their own (graph/bounded_loops.hpp).
constexpr int64_t few_rounds_each = 8;  // no loop is made for these
constexpr int64_t most_rounds_on_data = 20'000'000, most_rounds_of_draws = 1'000'000;

// The largest number that stands in a list of data of which some are read.
std::optional<double> largest_read(Tensor x) {
  while (!graph::node_of(x).computed && !graph::node_of(x).operands.empty()) {
    const graph::Node& node = graph::node_of(x);
    const bool only_reads = node.op == graph::Op::gather || node.op == graph::Op::take_along_axis ||
                            node.op == graph::Op::reshape || node.op == graph::Op::as_type ||
                            node.op == graph::Op::alias || node.op == graph::Op::slice ||
                            node.op == graph::Op::broadcast;
    if (!only_reads) return {};
    x = node.operands[0];
  }
  constexpr int64_t most = 1 << 20;
  if (!graph::node_of(x).computed || x.size() == 0 || x.size() > most) return {};
  const std::vector<double> numbers = as_type(x, DType::f64).to_vector<double>();
  return *std::max_element(numbers.begin(), numbers.end());
}

std::string endless_words(int64_t rounds) {
  return fmt::format("expected a while loop to end, got {} rounds", rounds);
}

}  // namespace

Evaluator::Flow Evaluator::while_loop(const Statement& s) {
  const bool plain = is_plain(s);
  if (!(plain && is_data_only))
    if (const auto other = without_jumps_.loops.find(&s); other != without_jumps_.loops.end())
      return execute(*other->second);
  std::optional<Snapshot> start;
  if (!plain) start.emplace(snapshot());
  for (int64_t round = 0;; ++round) {
    const Value condition = evaluate(*s.value);
    if (!condition.is_known()) {
      // Rounds that are known to come need not be written out: the loop goes through them too.
      if (round > 0 && start) restore(*start);
      return traced_while(s);
    }
    if (!holds_somewhere(condition)) {
      if (plain)
        loop_notes.on_data(s, round);
      else
        loop_notes.tell(s, fmt::format("{} rounds written out: while on data", round));
      return Flow::next;
    }
    if (round >= most_rounds_on_data || (!plain && --rounds_left_ < 0)) fail(s.place, endless_words(round));
    const Flow flow = condition.level > 0 ? in_some_lanes(*s.body, condition) : execute(*s.body);
    if (flow == Flow::broke) return Flow::next;
    if (flow == Flow::returned) return flow;
  }
}

// In a lane that runs now.
bool Evaluator::holds_somewhere(const Value& condition) const {
  if (condition.level == 0) return condition.known->numbers.at(0) != 0;
  const Value by_lane = levels_.lifted(condition, levels_.top());
  const std::vector<bool> runs = running(levels_.top());
  for (size_t i = 0; i < runs.size(); ++i)
    if (runs[i] && by_lane.known->numbers[i] != 0) return true;
  return false;
}

// A statement for the lanes in which a known condition holds.
Evaluator::Flow Evaluator::in_some_lanes(const Statement& body, const Value& condition) {
  const bool in_scan = levels_.innermost_scan(levels_.top()) > 0;
  const Ways ways{&body, nullptr};
  return in_scan ? masked_choice(ways, condition, {}) : split_choice(ways, condition, {});
}

// What a while loop on parameters carries from round to round.
struct Evaluator::WhileState {
  int level = 0, inside = 0;
  std::vector<int> slots{};
  std::vector<Value> forms{};  // of the variables: type and size
  size_t leaves = 0;           // of all variables, the first of what is carried
  std::vector<bool> totals{};  // what rounds add to the log density, behind them: whether it is of Jacobians
  Tensor key{};                // of the loop; none: it draws nothing
  bool is_bounded = false;
  int counter = -1;  // of a for loop: its variable, which goes up to `last`
  Value last{};
  int64_t length = 0;  // its rounds, where they are known
  // What has to hold in its rounds: the first that does not is carried, by its number here, and what is told.
  bool has_demands = false;
  std::vector<Rejection> demands{};
  bool asks_in_condition = false;

  size_t carried() const { return leaves + totals.size(); }  // before what is demanded
  bool counts() const { return key || is_bounded; }          // its rounds, as the last state
};

namespace {

// What is a tensor of its own: a tuple is its members.
void each_leaf(Value& value, const std::function<void(Value&)>& on) {
  if (value.type.base != Base::tuple) return on(value);
  for (Value& piece : value.pieces) each_leaf(piece, on);
}

}  // namespace

Tensor Evaluator::state_tensor(const Value& value, const WhileState& loop) {
  bool in_lanes = false;
  const Tensor tensor = tensor_at(value, loop.level, loop.inside, in_lanes);
  Shape shape = value.shape;
  if (const int64_t lanes = levels_.lanes(loop.level, loop.inside); lanes > 0) shape.insert(0, lanes);
  return tensor.shape() == shape ? tensor : broadcast_to(tensor, shape);
}

void Evaluator::add_state(Value value, const WhileState& loop, std::vector<Tensor>& state) {
  each_leaf(value, [&](Value& leaf) { state.push_back(state_tensor(leaf, loop)); });
}

// The variables, as they stand in a list of all that is carried.
std::vector<Value> Evaluator::state_values(const WhileState& loop, const std::vector<Tensor>& state) const {
  std::vector<Value> values = loop.forms;
  size_t next = 0;
  for (Value& value : values)
    each_leaf(value, [&](Value& leaf) {
      leaf = traced_value(leaf.type, leaf.shape, state[next++], loop.level, loop.inside);
    });
  return values;
}

void Evaluator::enter_round(const WhileState& loop, const std::vector<Tensor>& state) {
  const std::vector<Value> values = state_values(loop, state);
  for (size_t i = 0; i < loop.slots.size(); ++i) {
    Stored& variable = (*frame_)[static_cast<size_t>(loop.slots[i])];
    variable = {};
    variable.home = loop.level;
    variable.value = values[i];
  }
  if (!loop.key) return;
  key = random::fold_in(loop.key, state.back()), draws_ = 0;
  key_inside_ = loop.inside;
}

// Runs a part of the round; what it demands is caught.
template <class Run>
std::vector<Rejection> Evaluator::catching(int inside, Run run) {
  Catches caught{.level = levels_.top(), .inside = inside};
  struct Guard {
    Evaluator& evaluator;
    Catches* before;
    ~Guard() { evaluator.catches_ = before; }
  } guard{*this, std::exchange(catches_, &caught)};
  run();
  return std::move(caught.list);
}

// The condition, of the lanes that run at all, where the state lives.
Value Evaluator::while_condition(const Statement& s, const WhileState& loop) {
  Value condition = loop.counter < 0
                        ? evaluate(*s.value)
                        : operate(Operator::less_equal, (*frame_)[static_cast<size_t>(loop.counter)].value,
                                  loop.last, s.place);
  if (!masks_.empty()) condition = operate(Operator::logical_and, mask(), condition, s.place);
  return traced_value(condition.type, {}, state_tensor(condition, loop), loop.level, loop.inside);
}

// One round, in the lanes where the condition holds; what it adds to the log density.
std::vector<Tensor> Evaluator::while_round(const Statement& s, WhileState& loop) {
  Together* step = loop.inside > 0 ? together_of(loop.inside) : nullptr;
  struct Apart {  // what was added before the loop comes back, also where the round is given up
    Evaluator& evaluator;
    Together* step;
    std::vector<Term> terms, origins;
    std::vector<Tensor> outputs;
    ~Apart() {
      evaluator.terms = std::move(terms);
      if (step) step->outputs = std::move(outputs), step->output_terms = std::move(origins);
    }
  } apart{*this, step, std::exchange(terms, {}), {}, {}};
  if (step)
    apart.outputs = std::exchange(step->outputs, {}), apart.origins = std::exchange(step->output_terms, {});
  loop.demands = catching(loop.inside, [&] {
    const Value condition = while_condition(s, loop);
    if (loop.level > 0)
      masked_choice({s.body.get(), nullptr}, condition, {});
    else
      execute(*s.body);
    if (loop.counter >= 0) {
      Value& number = (*frame_)[static_cast<size_t>(loop.counter)].value;
      number = operate(Operator::add, number, known_integer(1), s.place);
    }
  });
  std::vector<Tensor> totals;
  for (const bool is_jacobian : loop.totals) {
    Tensor total = full({}, 0.0, DType::f64);
    for (const Term& term : terms)
      if (term.is_jacobian == is_jacobian) total = total + sum(term.value);
    for (size_t i = 0; step && i < step->outputs.size(); ++i)
      if (step->output_terms[i].is_jacobian == is_jacobian) total = total + sum(step->outputs[i]);
    totals.push_back(total);
  }
  return totals;
}

// What a variable without a size becomes.
Value Evaluator::tried(const Statement& body, int slot) {
  const Snapshot start = snapshot();
  execute(body);
  const Value value = whole((*frame_)[static_cast<size_t>(slot)].value);
  restore(start);
  return value;
}

// The variables that the loop writes, with what they have before it.
std::vector<Tensor> Evaluator::begin_while(const Statement& s, WhileState& loop) {
  loop.level = levels_.top(), loop.inside = levels_.innermost_scan(loop.level);
  const std::set<int> own = declared_slots(*s.body);
  std::vector<Tensor> state;
  std::set<int> written = written_slots(*s.body);
  if (loop.counter >= 0) written.insert(loop.counter);
  for (const int slot : written) {
    if (own.contains(slot)) continue;
    Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    if (variable.value.is_nothing()) variable.value = unset_like(tried(*s.body, slot));
    Value value = read_variable(variable, slot, nullptr, variable.value.type, s.place);
    add_state(value, loop, state);
    each_leaf(value, [](Value& leaf) { leaf = known_value(leaf.type, leaf.shape, {}); });
    loop.slots.push_back(slot);
    loop.forms.push_back(std::move(value));
  }
  loop.leaves = state.size();
  // A density hears of a loop that does not end by what it carries: one without variables carries a total.
  if (has_density && (adds_other_terms(*s.body) || loop.slots.empty())) loop.totals.push_back(false);
  if (has_density && adds_jacobians(*s.body)) loop.totals.push_back(true);
  state.insert(state.end(), loop.totals.size(), full({}, 0.0, DType::f64));
  if (loop.has_demands)
    state.push_back(full({}, 0.0, DType::f64)), state.push_back(full({}, 0.0, DType::f64));
  if (draws_numbers(s)) loop.key = next_key();
  loop.is_bounded = loop.counter < 0 && (is_generating || state.empty());
  if (loop.counts()) state.push_back(full_integer({}, 0));
  return state;
}

Evaluator::Flow Evaluator::traced_while(const Statement& s) {
  loop_notes.tell(s, "a loop while a condition on parameters holds");
  return run_while(s, {});
}

// A for loop whose bounds follow from parameters.
Evaluator::Flow Evaluator::traced_for(const Statement& s, const Value& low, const Value& high) {
  if (const auto other = without_jumps_.loops.find(&s); other != without_jumps_.loops.end())
    return execute(*other->second);
  if (const std::optional<int64_t> most = most_between(low, high); most && *most <= few_rounds_each)
    return rounds_up_to(s, low, high, *most);
  loop_notes.tell(s, "a loop up to a number that follows from parameters");
  return counting_for(s, low, high, 0);
}

// How many rounds there can be, where the last number is one of a list of data.
std::optional<int64_t> Evaluator::most_between(const Value& low, const Value& high) {
  if (!low.is_known() || low.level > 0 || high.is_known()) return {};
  const std::optional<double> last = largest_read(high.tensor);
  if (!last || !(std::abs(*last) < 1e9)) return {};
  return std::max<int64_t>(0, static_cast<int64_t>(*last - low.known->numbers[0]) + 1);
}

// Few rounds, each where it is one at all.
Evaluator::Flow Evaluator::rounds_up_to(const Statement& s, const Value& low, const Value& high,
                                        int64_t most) {
  loop_notes.tell(s, fmt::format("at most {} rounds written out", most));
  const auto first = static_cast<int64_t>(low.known->numbers[0]);
  for (int64_t i = first; i < first + most; ++i) {
    set_loop_variable({.statement = &s, .low = low, .high = high, .items = {}}, known_integer(i));
    masked_choice({s.body.get(), nullptr}, operate(Operator::less_equal, known_integer(i), high, s.place),
                  {});
  }
  return Flow::next;
}

// The rounds of a for loop one after the other, each from all that the ones before have written: what rounds
// write is changed where it lies.
Evaluator::Flow Evaluator::counting_for(const Statement& s, const Value& low, const Value& high,
                                        int64_t length) {
  Stored& variable = (*frame_)[static_cast<size_t>(s.slot)];
  variable = {};
  variable.home = levels_.top();
  variable.value = low;
  WhileState loop;
  loop.counter = s.slot;
  loop.last = high;
  loop.length = length;
  return run_while(s, loop);
}

// Whether rounds demand something is known after they were run once: then the loop is made again, and carries
// it.
Evaluator::Flow Evaluator::run_while(const Statement& s, WhileState loop) {
  const Frame before = *frame_;
  const Tensor key_before = key;
  const uint64_t draws_before = draws_;
  loop.has_demands = demanding_.contains(&s);
  std::vector<Tensor> end = while_graph(s, loop);
  if (!loop.demands.empty() && !loop.has_demands) {
    demanding_.insert(&s);
    *frame_ = before, key = key_before, draws_ = draws_before;
    loop.has_demands = true;
    loop.slots.clear(), loop.forms.clear(), loop.totals.clear();
    end = while_graph(s, loop);
  }
  end_while(s, loop, end);
  return Flow::next;
}

std::vector<Tensor> Evaluator::while_graph(const Statement& s, WhileState& loop) {
  const std::vector<Tensor> start = begin_while(s, loop);
  const Frame before = *frame_;
  struct Guard {  // rounds have a key of their own; also where one is given up
    Evaluator& evaluator;
    Tensor key;
    uint64_t draws;
    int inside;
    ~Guard() { evaluator.key = key, evaluator.draws_ = draws, evaluator.key_inside_ = inside; }
  } guard{*this, key, draws_, key_inside_};
  const size_t carried = loop.carried();
  std::vector<Tensor> end = graph::while_loop(
      [&](const Tensors& state) {
        enter_round(loop, state);
        Tensor holds;
        loop.asks_in_condition =
            !catching(loop.inside, [&] { holds = while_condition(s, loop).tensor; }).empty();
        Tensor goes_on = (holds.rank() > 0 ? reduce_max(holds) : holds) != 0.0;
        // What was outside of its places must not go on by what stands at the nearest one.
        if (loop.has_demands) goes_on = logical_and(goes_on, state[carried] == 0.0);
        if (loop.is_bounded)
          goes_on = logical_and(goes_on, state.back() < full_integer({}, most_rounds_of_draws));
        return as_type(goes_on, DType::u8);
      },
      [&](const Tensors& state) {
        enter_round(loop, state);
        const std::vector<Tensor> totals = while_round(s, loop);
        Tensors next;
        for (const int slot : loop.slots) add_state((*frame_)[static_cast<size_t>(slot)].value, loop, next);
        for (const Tensor& total : totals) next.push_back(state[next.size()] + total);
        if (loop.has_demands) {
          const Caught found = first_caught(loop.demands);
          const Tensor is_first = state[carried] == 0.0;
          next.push_back(select(is_first, found.which, state[carried]));
          next.push_back(select(is_first, found.number, state[carried + 1]));
        }
        if (loop.counts()) next.push_back(state.back() + full_integer({}, 1));
        return next;
      },
      start, loop.length);
  *frame_ = before;
  return end;
}

// What the rounds demanded is demanded of the whole loop.
void Evaluator::demand_of_rounds(const WhileState& loop, const Tensor& which, const Tensor& number) {
  const Value found = traced_value(scalar_type(Base::integer), {}, which, 0, loop.inside);
  for (size_t i = 0; i < loop.demands.size(); ++i) {
    Rejection r{.place = loop.demands[i].place, .text = loop.demands[i].text, .holds = {}, .uses = {}};
    r.holds = operate(Operator::not_equal, found, known_integer(static_cast<int64_t>(i + 1)), r.place);
    if (!loop.demands[i].number.is_nothing())
      r.number = traced_value(scalar_type(Base::real), {}, number, 0, loop.inside);
    reject_where(std::move(r));
  }
}

void Evaluator::end_while(const Statement& s, const WhileState& loop, const std::vector<Tensor>& end) {
  const std::vector<Value> values = state_values(loop, end);
  for (size_t i = 0; i < loop.slots.size(); ++i) {
    if (loop.slots[i] == loop.counter) continue;
    write_variable((*frame_)[static_cast<size_t>(loop.slots[i])], loop.slots[i], {}, values[i], s.place);
  }
  const size_t carried = loop.carried();
  if (loop.has_demands) demand_of_rounds(loop, end[carried], end[carried + 1]);
  if (loop.is_bounded) {
    const Tensor ended = as_type(end.back() < full_integer({}, most_rounds_of_draws), DType::f64);
    demand(traced_value(scalar_type(Base::integer), {}, ended, 0, loop.inside), {}, s.place,
           endless_words(most_rounds_of_draws));
  }
  // The condition that ended it may have been outside of what it reads.
  if (loop.asks_in_condition && loop.counter < 0) evaluate(*s.value);
  for (size_t i = 0; i < loop.totals.size(); ++i) {
    const Tensor& total = end[loop.leaves + i];
    Term term{.place = s.place, .value = {}, .is_jacobian = loop.totals[i]};
    if (loop.inside == 0) {
      term.value = total;
      terms.push_back(std::move(term));
      continue;
    }
    Together* step = together_of(loop.inside);
    step->outputs.push_back(total);
    step->output_terms.push_back(std::move(term));
  }
}

}  // namespace adit::stan
