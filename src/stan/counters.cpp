// Counters: variables that follow from data alone and go from round to round, such as a place in a list that
// each round moves on by a size of its own. Their part of the body is run beforehand, round by round on
// numbers, so that their values are known in every round and no round waits for another because of them.
#include <algorithm>
#include <cmath>

#include "stan/copies.hpp"
#include "stan/data_only.hpp"
#include "stan/evaluator.hpp"
#include "stan/uses.hpp"

namespace adit::stan {

namespace {

constexpr int64_t most_counted = 1'000'000;  // rounds in all

// The numbers that a lane of the top level has.
Value of_lane(const Levels& levels, const Value& known, int64_t lane) {
  if (known.level == 0) return known;
  const int64_t own = levels.ancestor(levels.top(), known.level, lane);
  const auto first = known.known->numbers.begin() + own * known.size();
  return known_value(known.type, known.shape, std::vector<double>(first, first + known.size()));
}

using FlaggedLoops = std::map<const Statement*, StatementPtr>;

bool has_one_of(const FlaggedLoops& loops, const Statement& s) {
  if (loops.contains(&s) || (s.body && has_one_of(loops, *s.body)) ||
      (s.otherwise && has_one_of(loops, *s.otherwise)))
    return true;
  return std::any_of(s.statements.begin(), s.statements.end(),
                     [&](const StatementPtr& inner) { return has_one_of(loops, *inner); });
}

// With loops that are left early as those that set flags: a part of them would go on where they end.
StatementPtr with_flags(const FlaggedLoops& loops, const Statement& s) {
  if (const auto other = loops.find(&s); other != loops.end()) return copy_of(*other->second);
  StatementPtr copy = shell_of(s);
  if (s.body) copy->body = with_flags(loops, *s.body);
  if (s.otherwise) copy->otherwise = with_flags(loops, *s.otherwise);
  for (const StatementPtr& inner : s.statements) copy->statements.push_back(with_flags(loops, *inner));
  return copy;
}

}  // namespace

// A number that is known when the loop begins, and that nobody outside has yet to write.
bool Evaluator::is_counter(int slot) const {
  const Stored& variable = (*frame_)[static_cast<size_t>(slot)];
  return variable.value.is_known() && !variable.value.is_nothing() && variable.value.type.is_scalar() &&
         variable.window.level == 0;
}

void Evaluator::find_counters(Rounds& rounds) {
  const Statement& s = *rounds.statement;
  if (rounds.by_element && rounds.items.level > 0) return;
  const int64_t around = levels_.at(levels_.top()).total;
  if (around > most_counted || most_rounds_of(rounds) > most_counted / around) return;
  const std::set<int> own = declared_slots(s);
  const FlaggedLoops& loops = without_jumps_.loops;
  const StatementPtr flagged = has_one_of(loops, *s.body) ? with_flags(loops, *s.body) : nullptr;
  const Statement& body = flagged ? *flagged : *s.body;
  std::set<int> wanted;
  for (const auto& [slot, use] : uses_of(body))
    if (use.writes > 0 && use.reads > 0 && !own.contains(slot) && is_counter(slot)) wanted.insert(slot);
  if (wanted.empty()) return;
  const auto is_known = [&](int slot) {
    if (slot == s.slot) return !rounds.by_element || rounds.items.is_known();
    const Value& value = (*frame_)[static_cast<size_t>(slot)].value;
    return value.is_known() && !value.is_nothing();
  };
  const std::set<int> sure = data_only_slots(body, is_known);
  std::erase_if(wanted, [&](int slot) { return !sure.contains(slot); });
  if (wanted.empty()) return;
  const StatementPtr part = part_that_writes(body, with_sources(body, wanted));
  rounds.counters = counter_values(rounds, wanted, *part);
}

// Without lanes, conditions and notes for as long as it lives.
struct Evaluator::OnNumbers {
  explicit OnNumbers(Evaluator& of)
      : evaluator(of),
        frame(of.frame_),
        levels(std::exchange(of.levels_, {})),
        together(std::exchange(of.together_, {})),
        masks(std::exchange(of.masks_, {})),
        notes(std::exchange(of.loop_notes, {})) {}
  ~OnNumbers() {
    evaluator.frame_ = frame;
    evaluator.levels_ = std::move(levels), evaluator.together_ = std::move(together);
    evaluator.masks_ = std::move(masks), evaluator.loop_notes = std::move(notes);
  }
  OnNumbers(const OnNumbers&) = delete;
  OnNumbers& operator=(const OnNumbers&) = delete;
  Evaluator& evaluator;
  Frame* frame;
  Levels levels;
  std::vector<Together*> together;
  std::vector<Mask> masks;
  LoopNotes notes;
};

// Nothing where a round cannot be run on numbers alone.
std::map<int, std::vector<double>> Evaluator::counter_values(const Rounds& rounds, const std::set<int>& slots,
                                                             const Statement& part) {
  const int top = levels_.top();
  std::set<int> read = read_slots(part);
  read.insert(slots.begin(), slots.end());
  for (const int slot : declared_slots(*rounds.statement)) read.erase(slot);
  std::map<int, Value> before;  // loops around this one hear that it is read
  for (const int slot : read) {
    Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    before[slot] = whole(read_variable(variable, slot, nullptr, variable.value.type, {}));
  }
  const Value low = levels_.lifted(rounds.low, top), high = levels_.lifted(rounds.high, top);
  const std::vector<bool> runs = running(top);
  Frame frame(frame_->size());
  std::map<int, std::vector<double>> found;
  const OnNumbers alone(*this);
  frame_ = &frame;
  try {
    for (size_t lane = 0; lane < runs.size(); ++lane) {
      for (const auto& [slot, value] : before)
        frame[static_cast<size_t>(slot)].value = of_lane(alone.levels, value, static_cast<int64_t>(lane));
      const auto first = static_cast<int64_t>(low.known->numbers[lane]),
                 last = static_cast<int64_t>(high.known->numbers[lane]);
      for (int64_t i = first; i <= last; ++i) {
        for (const int slot : slots) {
          const Value& value = frame[static_cast<size_t>(slot)].value;
          if (!value.is_known()) return {};
          found[slot].push_back(value.known->numbers.at(0));
        }
        if (!runs[lane]) continue;
        set_loop_variable(rounds, known_integer(i));
        execute(part);
      }
    }
  } catch (const RunError&) {
    return {};
  } catch (const NotTogether&) {
    return {};
  } catch (const Error&) {
    return {};
  }
  return found;
}

// The counters of a loop that has just been begun.
void Evaluator::set_counters(const Rounds& rounds, Together& loop) {
  for (const auto& [slot, numbers] : rounds.counters) {
    const auto tracked = loop.variables.find(slot);
    if (tracked == loop.variables.end()) continue;
    tracked->second.mode = Tracked::Mode::whole;
    tracked->second.assigned = true;
    Value& value = (*frame_)[static_cast<size_t>(slot)].value;
    value = known_value(value.type, {}, numbers, loop.level);
  }
}

}  // namespace adit::stan
