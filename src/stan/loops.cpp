// Loops. All rounds at once where none needs another (the rounds are lanes then); as a recurrence where they
// do; else one by one.
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/snapshot.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

constexpr int64_t few_rounds = 4;  // shorter loops are run one by one: less to compile than lanes
constexpr int64_t few_steps = 8;   // the same for recurrences
// Rounds that solve differential equations go one after the other up to here: each by steps of its own
// length, while lanes would wait for the slowest, and each lane's numbers would be written out.
constexpr int64_t most_solved_in_turn = 32;
constexpr int64_t most_lanes = 1 << 26;  // rounds of nested loops in all

// Whether a way to run a loop is one for it; what it left behind is the caller's to take back.
template <class Way>
bool fits(const Way& way) {
  try {
    way();
    return true;
  } catch (const NotTogether&) {
  } catch (const Differs&) {
  } catch (const Error&) {
  } catch (const RunError&) {
  }
  return false;
}

}  // namespace

Evaluator::Snapshot Evaluator::snapshot() {
  Snapshot now{*frame_,
               terms.size(),
               draws_,
               masks_,
               rests_,
               levels_,
               {},
               loop_notes.size(),
               around_,
               witnesses_,
               catches_ ? catches_->list.size() : 0};
  for (const Together* loop : together_) now.loops.push_back(*loop);
  return now;
}

void Evaluator::restore(const Snapshot& then) {
  *frame_ = then.frame;
  terms.resize(then.terms);
  draws_ = then.draws;
  masks_ = then.masks;
  rests_ = then.rests;
  levels_ = then.levels;
  loop_notes.cut(then.loop_notes);
  around_ = then.around;
  witnesses_ = then.witnesses;
  if (catches_) catches_->list.resize(then.caught);
  together_.resize(then.loops.size());
  for (size_t i = 0; i < then.loops.size(); ++i) *together_[i] = then.loops[i];
}

// Data alone: nothing is traced in it, and no rounds run together are around it.
bool Evaluator::is_plain(const Statement& statement) {
  if (!together_.empty() || !masks_.empty()) return false;
  if ((has_density && adds_terms(statement)) || draws_numbers(statement)) return false;
  const std::set<int> inside = declared_slots(statement);
  for (const int slot : read_slots(statement)) {
    if (inside.contains(slot)) continue;
    const Value& value = (*frame_)[static_cast<size_t>(slot)].value;
    if (!value.is_known() || value.level > 0) return false;
  }
  return true;
}

Evaluator::Flow Evaluator::for_range(const Statement& s) {
  Rounds rounds{.statement = &s, .low = evaluate(*s.low), .high = evaluate(*s.high), .items = {}};
  if (!rounds.low.is_known() || !rounds.high.is_known()) return traced_for(s, rounds.low, rounds.high);
  for (const Value* bound : {&rounds.low, &rounds.high})
    for (const double number : bound->known->numbers)
      if (std::isnan(number))
        fail(s.low->place, "expected bounds of a loop, got a variable that has no value yet");
  return run_loop(std::move(rounds));
}

Evaluator::Flow Evaluator::for_each(const Statement& s) {
  Value items = evaluate(*s.value);
  // A matrix goes by columns, as it does in Stan.
  if (items.type.is(Base::matrix)) {
    items = transposed(items);
    items.shape = {items.size()};
    items.type = array_of(scalar_type(Base::real));
    if (!items.is_known()) items.tensor = reshape(items.tensor, items.shape);
  }
  Rounds rounds{.statement = &s,
                .low = known_integer(1),
                .high = known_integer(items.shape[0]),
                .items = items,
                .by_element = true};
  return run_loop(std::move(rounds));
}

Evaluator::Flow Evaluator::run_loop(Rounds rounds) {
  const int level = std::max(rounds.low.level, rounds.high.level);
  rounds.low = levels_.lifted(rounds.low, level), rounds.high = levels_.lifted(rounds.high, level);
  const auto count_of = [&](size_t lane) {
    return std::max<int64_t>(
        0, static_cast<int64_t>(rounds.high.known->numbers[lane] - rounds.low.known->numbers[lane]) + 1);
  };
  const size_t lanes = rounds.low.known->numbers.size();
  rounds.count = lanes ? count_of(0) : 0;
  for (size_t lane = 0; lane < lanes; ++lane)
    rounds.is_regular = rounds.is_regular && count_of(lane) == rounds.count;
  if (most_rounds_of(rounds) == 0) return Flow::next;
  const bool uniform = level == 0;
  const bool plain = uniform && is_plain(*rounds.statement);
  const auto other = without_jumps_.loops.find(rounds.statement);
  if (other != without_jumps_.loops.end() && !(plain && is_data_only)) return execute(*other->second);
  if (plain) return one_by_one(rounds, true);
  const bool solves = rounds.is_regular && rounds.count > 1 && rounds.count <= most_solved_in_turn &&
                      has_solver(*rounds.statement);
  if (uniform && rounds.count <= few_rounds && !solves) return written_out(rounds, "they are few");
  find_counters(rounds);
  if (!rounds.is_regular && levels_.innermost_scan(levels_.top()) > 0) rounds = padded(rounds);
  const Snapshot start = snapshot();
  std::string why;
  if (solves && in_turn(rounds, start)) return Flow::next;
  const std::pair which{rounds.statement, levels_.top()};
  if (const auto known = given_up_.find(which); known != given_up_.end() && uniform)
    return written_out(rounds, known->second);
  if (with_own_copies(rounds)) return Flow::next;
  try {
    const std::map<int, Tracked> carries = all_at_once(rounds);
    if (carries.empty()) return Flow::next;
    const Frame tried = *frame_;
    restore(start);
    give_sizes(carries, tried);
    if (!rounds.is_regular) return of_like_lengths(rounds);
    if (uniform && rounds.count <= few_steps) return written_out(rounds, "they need each other, and are few");
    by_steps(rounds, carries);
    return Flow::next;
  } catch (const Differs&) {
    restore(start);
    why = "a number that differs from round to round";
    if (!uniform) throw NotTogether{why};
  } catch (const NotTogether& reason) {
    restore(start);
    why = reason.why;
    if (!uniform) throw;
  } catch (const Error& error) {  // shapes that do not meet
    restore(start);
    why = error.what();
    if (!uniform) throw NotTogether{why};
  } catch (const RunError& error) {  // it may come of rounds that did not wait for each other
    restore(start);
    why = error.text;
    if (!uniform) throw;
  }
  if (uniform && (after_the_first(rounds, start) || with_all_written(rounds, start))) return Flow::next;
  given_up_[which] = why;
  const Place& place = rounds.statement->place;
  const LineColumn at_line = line_of(program_.sources[place.file], place.begin);
  notes.push_back(
      fmt::format("line {}: {} rounds are written out one by one: {}", at_line.line, rounds.count, why));
  return written_out(rounds, why);
}

// As a loop of steps, whether or not they need each other.
bool Evaluator::in_turn(const Rounds& rounds, const Snapshot& start) {
  if (fits([&] { by_steps(rounds, {}); })) return true;
  restore(start);
  return false;
}

// A function's result has no size before it returns.
void Evaluator::give_sizes(const std::map<int, Tracked>& carries, const Frame& tried) {
  for (const auto& [slot, _] : carries) {
    const auto at_slot = static_cast<size_t>(slot);
    Value& value = (*frame_)[at_slot].value;
    if (value.is_nothing() && !tried[at_slot].value.is_nothing()) value = unset_like(tried[at_slot].value);
  }
}

// A long loop whose rounds read at places what others wrote.
bool Evaluator::with_all_written(const Rounds& rounds, const Snapshot& start) {
  constexpr int64_t many_rounds = 50;  // as many are long as one piece of code
  if (rounds.by_element || rounds.count < many_rounds) return false;
  const bool is_one = fits([&] {
    counting_for(*rounds.statement, rounds.low, rounds.high, rounds.count);
    loop_notes.tell(*rounds.statement,
                    fmt::format("{} rounds one after the other, of all that they write", rounds.count));
  });
  if (!is_one) restore(start);
  return is_one;
}

// The first rounds often differ from all others (x[1] alone has nothing before it): those one by one, the
// rest together.
bool Evaluator::after_the_first(const Rounds& rounds, const Snapshot& start) {
  const double first = rounds.low.known->numbers[0];
  for (const int64_t peeled : {1, 2, 4, 8, 16}) {
    if (rounds.count < 4 * peeled || rounds.count < 2 * few_steps) break;
    Rounds head = rounds, tail = rounds;
    head.count = peeled;
    tail.low = known_integer(static_cast<int64_t>(first) + peeled);
    tail.count = rounds.count - peeled;
    tail.counters.clear();
    const bool is_one = fits([&] {
      written_out(head, "the others come together");
      find_counters(tail);
      const Snapshot between = snapshot();
      const std::map<int, Tracked> carries = all_at_once(tail);
      if (carries.empty()) return;
      const Frame tried = *frame_;
      restore(between);
      give_sizes(carries, tried);
      by_steps(tail, carries);
    });
    if (is_one) return true;
    restore(start);
  }
  return false;
}

void Evaluator::set_loop_variable(const Rounds& rounds, const Value& index) {
  const Statement& s = *rounds.statement;
  Value value = index;
  if (rounds.by_element) {
    const Value number = operate(Operator::subtract, index, known_integer(1), s.place);
    value = at(rounds.items, {{Spot::Kind::single, number}}, type_of_element(rounds.items.type), s.place);
  }
  Stored& variable = (*frame_)[static_cast<size_t>(s.slot)];
  variable = {};
  variable.value = value;
  variable.home = levels_.top();
}

Evaluator::Flow Evaluator::written_out(const Rounds& rounds, const std::string& why) {
  loop_notes.tell(*rounds.statement, fmt::format("{} rounds written out: {}", rounds.count, why));
  return one_by_one(rounds, false);
}

Evaluator::Flow Evaluator::one_by_one(const Rounds& rounds, bool plain) {
  if (plain) loop_notes.on_data(*rounds.statement, rounds.count);
  const auto first = static_cast<int64_t>(rounds.low.known->numbers[0]);
  for (int64_t i = 0; i < rounds.count; ++i) {
    if (!plain && --rounds_left_ < 0)
      fail(rounds.statement->place,
           "this loop's rounds depend on each other in a way that cannot be kept as a loop, and there are "
           "too many to "
           "write out");
    set_loop_variable(rounds, known_integer(first + i));
    around_.push_back({rounds.statement, frame_});
    const Flow flow = execute(*rounds.statement->body);
    around_.pop_back();
    if (flow == Flow::broke) break;
    if (flow == Flow::returned) return flow;
  }
  return Flow::next;
}

void Evaluator::push_level(const Rounds& rounds, bool is_scan) {
  if (rounds.is_regular) {
    if (levels_.at(levels_.top()).total > most_lanes / rounds.count)
      throw NotTogether{fmt::format("more than {} rounds in all", most_lanes)};
    return levels_.push_regular(rounds.count, is_scan);
  }
  const int top = levels_.top();
  const Value low = levels_.lifted(rounds.low, top), high = levels_.lifted(rounds.high, top);
  std::vector<int64_t> parent;
  for (size_t lane = 0; lane < low.known->numbers.size(); ++lane)
    for (double i = low.known->numbers[lane]; i <= high.known->numbers[lane]; ++i)
      parent.push_back(static_cast<int64_t>(lane));
  levels_.push_ragged(std::move(parent));
}

// The loop's number in each lane of its level, which is the top one.
Value Evaluator::index_by_lane(const Rounds& rounds) {
  const int level = levels_.top();
  const Value low = levels_.lifted(rounds.low, level);
  std::vector<double> numbers(static_cast<size_t>(levels_.at(level).total));
  const std::vector<int64_t> parent = levels_.ancestors(level, level - 1);
  int64_t round = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    round = i > 0 && parent[i] == parent[i - 1] ? round + 1 : 0;
    numbers[i] = low.known->numbers[i] + static_cast<double>(round);
  }
  // Steps that wait stay at their last round. Lanes beside each other that wait in a step count on: their
  // places are their own then, and not those that the last round writes.
  if (rounds.is_padded && levels_.at(level).is_scan) {
    const Value high = levels_.lifted(rounds.high, level);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = std::min(numbers[i], std::max(low.known->numbers[i], high.known->numbers[i]));
  }
  return known_value(scalar_type(Base::integer), {}, std::move(numbers), level);
}

void Evaluator::track(Together& loop, const Statement& statement) {
  const std::set<int> inside = declared_slots(statement);
  for (const auto& [slot, use] : uses_of(*statement.body)) {
    if (use.writes == 0 || inside.contains(slot)) continue;
    Tracked tracked;
    tracked.mode = use.sums == use.writes && use.reads == 0 ? Tracked::Mode::sum
                   : use.indexed == 0                       ? Tracked::Mode::whole
                                                            : Tracked::Mode::elements;
    if ((*frame_)[static_cast<size_t>(slot)].value.type.base == Base::tuple)
      throw NotTogether{"a tuple that rounds write"};
    // What loops around have not written yet must be there: the rounds may read it.
    Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    if (variable.window.level == 0)
      if (Tracked* outer = this->tracked(slot, variable.home))
        flush({&variable.value, variable.home, {}}, *outer);
    loop.variables[slot] = std::move(tracked);
  }
}

// Numbers of a level in lanes of one around it; none where a lane may have several. Lanes that a condition on
// data left out have no number, and are a group of their own.
std::optional<std::vector<double>> Evaluator::by_lanes_around(const Differs& size, int level) const {
  std::vector<double> numbers = size.numbers;
  for (int inner = size.level; inner > level; --inner) {
    if (levels_.at(inner).is_regular) return {};
    const std::vector<int64_t>& parent = levels_.at(inner).parent;
    std::vector<double> around(static_cast<size_t>(levels_.at(inner - 1).total), -1);
    if (std::set<int64_t>(parent.begin(), parent.end()).size() < parent.size()) return {};
    for (size_t i = 0; i < parent.size(); ++i) around[static_cast<size_t>(parent[i])] = numbers[i];
    numbers = std::move(around);
  }
  return numbers;
}

// A body for all lanes of the top level; where a size in it differs, for those of one size after the other.
void Evaluator::in_groups(const Statement& body) {
  constexpr size_t most_groups = 40;
  const Snapshot start = snapshot();
  try {
    execute(body);
    return;
  } catch (const Differs& size) {
    const int level = start.levels.top();
    const auto numbers = size.level < level || levels_.innermost_scan(size.level) > 0
                             ? std::nullopt
                             : by_lanes_around(size, level);
    if (!numbers) throw NotTogether{"a number that differs from round to round"};
    std::map<double, std::vector<int64_t>> groups;
    for (size_t i = 0; i < numbers->size(); ++i) groups[(*numbers)[i]].push_back(static_cast<int64_t>(i));
    if (groups.size() > most_groups && groups.size() * few_rounds > numbers->size())
      throw NotTogether{"sizes that differ from round to round"};
    restore(start);
    for (auto& [number, lanes] : groups) {
      levels_.push_ragged(std::move(lanes));
      in_groups(body);
      leave_level();
    }
  }
}

// Of the top level, which is this loop's.
std::string Evaluator::together_text(const Rounds& rounds) const {
  const LoopLevel &own = levels_.at(levels_.top()), &around = levels_.at(levels_.top() - 1);
  if (around.total == 1) return fmt::format("{} rounds together", own.total);
  if (!rounds.is_regular)
    return fmt::format("{} rounds together, of different counts in {} rounds around it", own.total,
                       around.total);
  return fmt::format("{} rounds together in each of {} rounds around it", own.count, around.total);
}

std::map<int, Tracked> Evaluator::all_at_once(const Rounds& rounds) {
  Together loop{.frame = frame_, .masks = masks_.size()};
  push_level(rounds, false);
  loop.level = levels_.top();
  track(loop, *rounds.statement);
  const Frame before = *frame_;
  together_.push_back(&loop);
  set_loop_variable(rounds, index_by_lane(rounds));
  set_counters(rounds, loop);
  begin_own(rounds, loop);
  around_.push_back({rounds.statement, frame_});
  run_rounds(rounds);
  around_.pop_back();
  expect_own(loop);
  std::map<int, Tracked> carries;
  for (const auto& [slot, tracked] : loop.variables)
    if (needs_others(tracked, slot, loop.level)) carries[slot] = tracked;
  if (carries.empty()) {
    loop_notes.tell(*rounds.statement, together_text(rounds));
    finish(loop, before);
  }
  return carries;
}

// Sums at places, which lanes of the loop around have made together: who wrote there is known by `touches`.
void Evaluator::add_total(Stored& variable, Tracked& loop, const Value& total,
                          const std::vector<Touch>& touches) {
  const Storage storage = variable.window.level ? Storage{&variable.window.rows[0], variable.window.level, {}}
                                                : Storage{&variable.value, variable.home, {}};
  if (loop.mode != Tracked::Mode::elements || total.inside > storage.home) {
    loop.carries = true;
    return;
  }
  flush(storage, loop);
  for (Touch touch : touches) {
    touch.when = ++now_;
    loop.reads.push_back(touch);
    loop.writes.push_back(std::move(touch));
  }
  const Type type = storage.value->type;
  *storage.value = operate(Operator::add, whole(*storage.value), total, {});
  storage.value->type = type;
}

// What the rounds did to variables from outside becomes what the loop did to them.
void Evaluator::finish(Together& loop, const Frame& before) {
  const int level = loop.level;
  together_.pop_back();
  for (const auto& [slot, _] : loop.own)  // nobody else reads it
    (*frame_)[static_cast<size_t>(slot)] = before[static_cast<size_t>(slot)];
  struct Write {
    int slot;
    Value value;
    Spots spots;
    bool adds, is_total = false;
    std::vector<Touch> touches{};
  };
  std::vector<Write> writes;
  for (auto& [slot, tracked] : loop.variables) {
    Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    const Storage storage = variable.window.level
                                ? Storage{&variable.window.rows[0], variable.window.level, {}}
                                : Storage{&variable.value, variable.home, {}};
    if (tracked.mode == Tracked::Mode::whole) {
      if (!tracked.assigned) continue;
      // A lane without a round keeps what it had, which a round of a loop around may have written.
      Tracked* outer = has_empty_lanes(level) ? this->tracked(slot, storage.home) : nullptr;
      if (outer && !(outer->mode == Tracked::Mode::whole && outer->assigned)) outer->carries = true;
      writes.push_back(
          {slot, last_of_lanes(variable.value, before[static_cast<size_t>(slot)].value, level), {}, false});
      variable.value = before[static_cast<size_t>(slot)].value;
      continue;
    }
    for (const Tracked::Addend& addend : tracked.addends) {
      if (addend.is_total) {
        writes.push_back({slot, addend.value, {}, true, true});
        for (const Touch& touch : addend.touches) writes.back().touches.push_back(around(touch));
        continue;
      }
      bool varies = false;
      for (const Spot& spot : addend.spots)
        varies = varies || (spot.kind != Spot::Kind::all && spot.numbers.level >= level);
      if (!varies) {
        writes.push_back({slot, sum_of_lanes(at_lanes(addend.value, level), level - 1), addend.spots, true});
        continue;
      }
      const std::optional<Touch> touch = touch_of({storage.value, storage.home, addend.spots}, level);
      if (!touch) throw NotTogether{"sums at places that follow from parameters"};
      const Value zero = known_value(storage.value->type, storage.value->shape,
                                     std::vector<double>(static_cast<size_t>(storage.value->size())));
      const Value total = placed(zero, storage.home, *touch, at_lanes(addend.value, level), true);
      writes.push_back({slot, total, {}, true, true, {around(counted_only(*touch))}});
    }
    Tracked* outer = tracked.mode == Tracked::Mode::elements ? this->tracked(slot, storage.home) : nullptr;
    if (outer) {
      for (const Touch& touch : tracked.reads) outer->reads.push_back(around(touch));
      for (const Touch& touch : tracked.writes) outer->writes.push_back(around(touch));
    }
    if (!tracked.pending.empty() && outer && levels_.at(level).is_regular) {
      for (const Pending& one : tracked.pending) {
        Value all = at_lanes(one.written, level);
        all.shape.insert(0, levels_.at(level).count);
        if (!all.is_known()) {
          Shape shape = all.shape;
          const int64_t lanes = levels_.lanes(level - 1, all.inside);
          if (lanes > 0) shape.insert(0, lanes);
          all.tensor = reshape(all.tensor, shape);
        }
        all.level = level - 1;
        outer->pending.push_back({.touch = around(one.touch), .written = std::move(all)});
      }
    } else {
      flush(storage, tracked);
      if (tracked.carries && outer) outer->carries = true;
    }
  }
  leave_level();
  for (const Write& write : writes) {
    Stored& variable = (*frame_)[static_cast<size_t>(write.slot)];
    Tracked* outer = write.is_total ? tracked(write.slot, variable.home) : nullptr;
    if (outer && outer->mode == Tracked::Mode::sum)
      outer->addends.push_back({write.value, {}, true, write.touches});
    else if (outer)
      add_total(variable, *outer, write.value, write.touches);
    else if (write.adds)
      add_to_variable(variable, write.slot, write.spots, write.value, {});
    else
      write_variable(variable, write.slot, write.spots, write.value, {});
  }
}

}  // namespace adit::stan
