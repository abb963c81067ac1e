// Choices. One way where the condition is the same everywhere; where it is known by lane, each lane its own;
// else both, and each variable takes the value of its way.
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/row_choice.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

Evaluator::Flow Evaluator::choice(const Statement& s) {
  const Value condition = evaluate(*s.value);
  if (condition.is_known() && condition.level == 0) {
    if (condition.known->numbers[0] != 0) return execute(*s.body);
    return s.otherwise ? execute(*s.otherwise) : Flow::next;
  }
  const bool returns = may_return(*s.body) || (s.otherwise && may_return(*s.otherwise));
  // Where it returns in some lanes alone, the others go on with all that follows in the function.
  const Rest after = returns ? rests_ : Rest();
  const bool in_scan = levels_.innermost_scan(levels_.top()) > 0;
  const Ways ways{s.body.get(), s.otherwise.get()};
  const Flow flow = condition.is_known() && !in_scan ? split_choice(ways, condition, after)
                                                     : masked_choice(ways, condition, after);
  if (returns && flow == Flow::next) {  // a function that returns nothing: what follows has been run
    returned_ = {};
    return Flow::returned;
  }
  return flow;
}

// One branch, then what follows where a branch may return.
Evaluator::Flow Evaluator::branch(const Statement* body, const Rest& rest) {
  const Rest around = rests_;
  Flow flow = body ? execute(*body) : Flow::next;
  for (size_t i = rest.size(); flow == Flow::next && i-- > 0;) {
    rests_.assign(rest.begin(), rest.begin() + static_cast<int64_t>(i));
    flow = execute_list(rest[i]);
  }
  rests_ = around;
  return flow;
}

// Lanes for which it holds go one way, the others the other.
Evaluator::Flow Evaluator::split_choice(const Ways& ways, const Value& condition, const Rest& rest) {
  const Value by_lane = levels_.lifted(condition, levels_.top());
  std::vector<int64_t> lanes[2];
  for (size_t i = 0; i < by_lane.known->numbers.size(); ++i)
    lanes[by_lane.known->numbers[i] != 0 ? 0 : 1].push_back(static_cast<int64_t>(i));
  Value results[2];
  Flow flows[2] = {Flow::next, Flow::next};
  const Statement* bodies[] = {ways.yes, ways.no};
  for (int way = 0; way < 2; ++way) {
    if (lanes[way].empty()) continue;
    if (lanes[1 - way].empty()) return branch(bodies[way], rest);
    if (!bodies[way] && rest.empty()) continue;
    levels_.push_ragged(lanes[way]);
    flows[way] = branch(bodies[way], rest);
    if (flows[way] == Flow::returned && !returned_.is_nothing())
      results[way] = spread(whole(at_lanes(returned_, levels_.top())));
    leave_level();
  }
  if (flows[0] == Flow::next && flows[1] == Flow::next) return Flow::next;
  returned_ = merged(condition, results[0], results[1]);
  return Flow::returned;
}

// Of a part of the lanes: with lanes for all of the level around it; those without have the first one's.
Value Evaluator::spread(const Value& value) {
  const int level = levels_.top(), around = level - 1;
  const std::vector<int64_t>& parent = levels_.at(level).parent;
  std::vector<int64_t> source(static_cast<size_t>(levels_.at(around).total), 0);
  for (size_t i = 0; i < parent.size(); ++i) source[static_cast<size_t>(parent[i])] = static_cast<int64_t>(i);
  if (value.is_known()) {
    std::vector<double> numbers;
    for (const int64_t lane : source)
      numbers.insert(numbers.end(), value.known->numbers.begin() + lane * value.size(),
                     value.known->numbers.begin() + (lane + 1) * value.size());
    return known_value(value.type, value.shape, std::move(numbers), around);
  }
  Tensor all = repeated_rows(value.tensor, source);
  if (!all) all = take(value.tensor, adit::tensor(source), 0);
  return traced_value(value.type, value.shape, all, around, value.inside);
}

// Variables from outside that a choice or what follows it may write.
std::set<int> Evaluator::written_by(const Ways& ways, const Rest& rest) {
  std::set<int> written, inner;
  const auto add = [&](const Statement& statement) {
    written.merge(written_slots(statement));
    inner.merge(declared_slots(statement));
  };
  for (const Statement* way : {ways.yes, ways.no})
    if (way) add(*way);
  for (const auto& list : rest)
    for (const auto& statement : list) add(*statement);
  for (const int slot : inner) written.erase(slot);
  return written;
}

void Evaluator::run_masked(Mask mask, const Statement* body, const Rest& rest, Flow& flow) {
  masks_.push_back(std::move(mask));
  flow = branch(body, rest);
  masks_.pop_back();
}

// Whether a loop around keeps an eye on the variable's elements: its writes know their conditions then.
bool Evaluator::is_by_elements(int slot) {
  const Stored& variable = (*frame_)[static_cast<size_t>(slot)];
  const Tracked* loop = tracked(slot, variable.window.level ? variable.window.level : variable.home);
  return loop && loop->mode == Tracked::Mode::elements;
}

// Both ways are run, and each variable has the value of its way.
Evaluator::Flow Evaluator::masked_choice(const Ways& ways, const Value& condition, const Rest& rest) {
  const std::set<int> written = written_by(ways, rest);
  const Frame before = *frame_;
  std::vector<std::map<int, Tracked>> loops_before, loops_first;
  for (const Together* loop : together_) loops_before.push_back(loop->variables);
  const int64_t choice = ++now_;
  Flow first = Flow::next, second = Flow::next;
  run_masked({.own = condition, .choice = choice}, ways.yes, rest, first);
  const Value first_value = returned_;
  const Frame after_first = *frame_;
  for (size_t i = 0; i < together_.size(); ++i) {
    loops_first.push_back(together_[i]->variables);
    for (auto& [slot, tracked] : together_[i]->variables)
      tracked.assigned = loops_before[i].at(slot).assigned;
  }
  *frame_ = before;
  for (const int slot : written)
    if (is_by_elements(slot)) (*frame_)[static_cast<size_t>(slot)] = after_first[static_cast<size_t>(slot)];
  returned_ = {};
  if (ways.no || !rest.empty()) {
    const Value otherwise = operate(Operator::equal, condition, known_integer(0), {});
    run_masked({.own = otherwise, .choice = choice, .is_otherwise = true}, ways.no, rest, second);
  }
  for (const int slot : written) {
    const auto at_slot = static_cast<size_t>(slot);
    if (!is_by_elements(slot))
      merge_variable(condition, slot, before[at_slot], after_first[at_slot], loops_first);
  }
  if (first == Flow::next && second == Flow::next) return Flow::next;
  returned_ = merged(condition, first_value, returned_);
  return Flow::returned;
}

void Evaluator::merge_variable(const Value& condition, int slot, const Stored& before,
                               const Stored& after_first,
                               const std::vector<std::map<int, Tracked>>& loops_first) {
  Stored& now = (*frame_)[static_cast<size_t>(slot)];
  Tracked* second_loop = tracked(slot, now.home);
  if (second_loop && second_loop->mode == Tracked::Mode::sum) return;
  if (second_loop) {
    // Where one branch alone assigns, the other one has the value of the round before.
    bool first_assigned = false;
    for (size_t i = 0; i < together_.size(); ++i)
      if (together_[i]->variables.contains(slot) && &together_[i]->variables.at(slot) == second_loop)
        first_assigned = loops_first[i].at(slot).assigned;
    if (second_loop->assigned != first_assigned) second_loop->carries = true;
    second_loop->assigned = second_loop->assigned && first_assigned;
  }
  const Value both = merged(condition, after_first.value, now.value);
  // Of a part of the lanes: the others keep what they have.
  const int home = second_loop ? together_.back()->level : now.home;
  const bool is_deeper = both.level > home || both.type.base == Base::tuple;
  now.value = is_deeper && levels_.top() > home ? before.value : both;
  if (is_deeper && levels_.top() > home) write_at_once({&now.value, home, {}}, both, {});
  if (!now.window.rows.empty())
    now.window.rows[0] = merged(condition, after_first.window.rows[0], now.window.rows[0]);
}

Value Evaluator::merged(const Value& condition, const Value& yes, const Value& no) {
  // A function's result before it returns: nobody reads it there.
  if (yes.is_nothing() || no.is_nothing()) return yes.is_nothing() ? no : yes;
  if (yes.kind == Value::Kind::pieces && no.kind == Value::Kind::pieces) {
    Value value = yes;
    for (size_t i = 0; i < value.pieces.size(); ++i)
      value.pieces[i] = merged(condition, yes.pieces[i], no.pieces[i]);
    return value;
  }
  const auto same = [](const Value& a, const Value& b) {
    return a.is_known() && b.is_known() && a.known == b.known && a.known;
  };
  if (same(yes, no)) return yes;
  return chosen(condition, yes, no);
}

}  // namespace adit::stan
