// Choices. One way where the condition is the same everywhere; where it is known by lane, each lane its own;
// else both, and each variable takes the value of its way.
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

Evaluator::Flow Evaluator::choice(const Statement& s) {
  const Value condition = evaluate(*s.value);
  if (condition.is_known() && condition.level == 0) {
    if (condition.known->numbers[0] != 0) return execute(*s.body);
    return s.otherwise ? execute(*s.otherwise) : Flow::next;
  }
  const bool returns = may_return(*s.body) || (s.otherwise && may_return(*s.otherwise));
  if (returns && in_rounds_)
    throw NotTogether{"a return under a condition that is not the same everywhere, in a loop"};
  // Where it returns in some lanes alone, the others go on with all that follows in the function.
  const Rest after = returns ? rests_ : Rest();
  const bool in_scan = levels_.innermost_scan(levels_.top()) > 0;
  const Flow flow = condition.is_known() && !in_scan ? split_choice(s, condition, after)
                                                     : masked_choice(s, condition, after);
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
Evaluator::Flow Evaluator::split_choice(const Statement& s, const Value& condition, const Rest& rest) {
  const Value by_lane = levels_.lifted(condition, levels_.top());
  std::vector<int64_t> lanes[2];
  for (size_t i = 0; i < by_lane.known->numbers.size(); ++i)
    lanes[by_lane.known->numbers[i] != 0 ? 0 : 1].push_back(static_cast<int64_t>(i));
  Value results[2];
  Flow flows[2] = {Flow::next, Flow::next};
  const Statement* bodies[] = {s.body.get(), s.otherwise.get()};
  for (int way = 0; way < 2; ++way) {
    if (lanes[way].empty()) continue;
    if (lanes[1 - way].empty()) return branch(bodies[way], rest);
    levels_.push_ragged(lanes[way]);
    flows[way] = branch(bodies[way], rest);
    if (flows[way] == Flow::returned) results[way] = whole(at_lanes(returned_, levels_.top()));
    if (flows[way] == Flow::broke || flows[way] == Flow::continued) throw NotTogether{"break or continue"};
    const bool has = results[way].known || results[way].tensor;
    if (has) results[way] = spread(results[way]);
    leave_level();
  }
  if (flows[0] != flows[1]) throw NotTogether{"a return in some of the rounds"};
  if (flows[0] == Flow::next) return Flow::next;
  returned_ = chosen(condition, results[0], results[1]);
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
  return traced_value(value.type, value.shape, take(value.tensor, adit::tensor(source), 0), around,
                      value.inside);
}

// Both ways are run, and each variable has the value of its way.
Evaluator::Flow Evaluator::masked_choice(const Statement& s, const Value& condition, const Rest& rest) {
  std::set<int> written = written_slots(s);
  std::set<int> inner = declared_slots(s);
  for (const auto& list : rest)
    for (const auto& statement : list) {
      written.merge(written_slots(*statement));
      inner.merge(declared_slots(*statement));
    }
  for (const int slot : inner) written.erase(slot);
  for (const int slot : written) {
    Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    if (variable.window.level) continue;
    if (Tracked* loop = tracked(slot, variable.home)) flush({&variable.value, variable.home, {}}, *loop);
  }
  const Frame before = *frame_;
  std::vector<std::map<int, Tracked>> loops_before;
  for (const Together* loop : together_) loops_before.push_back(loop->variables);
  const Value other = operate(Operator::equal, condition, known_integer(0), s.place);
  const auto run_one = [&](const Value& mask, const Statement* body, Flow& flow) {
    masks_.push_back(mask);
    flow = branch(body, rest);
    masks_.pop_back();
    if (flow == Flow::broke || flow == Flow::continued) throw NotTogether{"break or continue"};
  };
  Flow first = Flow::next, second = Flow::next;
  run_one(condition, s.body.get(), first);
  const Value first_value = returned_;
  Frame after_first = *frame_;
  std::vector<std::map<int, Tracked>> loops_first;
  for (size_t i = 0; i < together_.size(); ++i) {
    loops_first.push_back(together_[i]->variables);
    for (auto& [slot, tracked] : together_[i]->variables) {
      const Tracked& old = loops_before[i].at(slot);
      tracked.assigned = old.assigned;
      tracked.pending = old.pending, tracked.last = old.last, tracked.written = old.written;
    }
  }
  *frame_ = before;
  run_one(other, s.otherwise.get(), second);
  if (first != second) throw NotTogether{"a return under a condition on parameters"};
  for (const int slot : written) {
    const auto at_slot = static_cast<size_t>(slot);
    Stored& now = (*frame_)[at_slot];
    Tracked* second_loop = tracked(slot, now.home);
    if (second_loop && second_loop->mode == Tracked::Mode::sum) continue;
    Tracked* first_loop = nullptr;
    for (size_t i = 0; second_loop && i < together_.size(); ++i)
      if (together_[i]->variables.contains(slot) && &together_[i]->variables.at(slot) == second_loop)
        first_loop = &loops_first[i].at(slot);
    if (second_loop && second_loop->mode == Tracked::Mode::elements) {
      merge_pending(condition, *first_loop, *second_loop, now);
    } else {
      if (second_loop) {
        // Where one branch alone assigns, the other one has the value of the round before.
        if (second_loop->assigned != first_loop->assigned) second_loop->carries = true;
        second_loop->assigned = second_loop->assigned && first_loop->assigned;
      }
      const Value both = merged(condition, after_first[at_slot].value, now.value);
      // Of a part of the lanes: the others keep what they have.
      const int home = second_loop ? together_.back()->level : now.home;
      now.value =
          both.level > home && levels_.top() > home
              ? placed(whole(before[at_slot].value), home,
                       {.level = levels_.top(),
                        .block = both.size(),
                        .blocks = std::vector<int64_t>(static_cast<size_t>(levels_.at(levels_.top()).total))},
                       whole(both), false)
              : both;
    }
    for (size_t row = 0; row < now.window.rows.size() && row < 1; ++row)
      now.window.rows[row] = merged(condition, after_first[at_slot].window.rows[row], now.window.rows[row]);
  }
  if (first == Flow::returned) returned_ = merged(condition, first_value, returned_);
  return first;
}

// Writes of two branches to the same places are one write.
void Evaluator::merge_pending(const Value& condition, Tracked& first, Tracked& second, Stored& variable) {
  if (!first.pending && !second.pending) return;
  if (first.pending && second.pending && !(first.last == second.last)) {
    second.carries = second.by_row = true;
    return;
  }
  const Touch touch = first.pending ? first.last : second.last;
  const auto old = [&]() -> Value {
    // What was there before: known numbers or a tensor, by the same places.
    const Value before = whole(variable.value);
    if (touch.each != 1) throw NotTogether{"a branch that writes lists"};
    Shape blocks{touch.block ? before.size() / touch.block : 0};
    const Value shape_of_part = first.pending ? first.written : second.written;
    for (const int64_t extent : shape_of_part.shape) blocks.push_back(extent);
    Value table = before;
    table.type = array_of(shape_of_part.type);
    table.shape = blocks;
    if (!table.is_known()) {
      Shape full_shape = blocks;
      if (levels_.lanes(table.level, table.inside) > 0) full_shape.insert(0, table.tensor.shape()[0]);
      table.tensor = reshape(table.tensor, full_shape);
    }
    std::vector<double> numbers(touch.blocks.begin(), touch.blocks.end());
    const Spots spots{
        {Spot::Kind::single, known_value(scalar_type(Base::integer), {}, numbers, touch.level)}};
    second.reads.push_back(touch);
    return at(table, spots, shape_of_part.type, {});
  };
  const Value yes = first.pending ? first.written : old(), no = second.pending ? second.written : old();
  second.pending = true;
  second.last = touch;
  second.written = merged(condition, yes, no);
}

Value Evaluator::merged(const Value& condition, const Value& yes, const Value& no) {
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
