// Scratch paper: a variable from outside of a loop that its rounds fill and read again, each for itself, such
// as the terms of a sum over states. Each round has a copy of its own, so that no round waits for another.
// That is right where a round reads no element before it wrote it, which is known once the body was run: all
// places are.
#include <algorithm>
#include <unordered_map>

#include "stan/evaluator.hpp"
#include "stan/snapshot.hpp"

namespace adit::stan {

namespace {

constexpr int64_t most_copied = 1 << 22;  // numbers of all copies
constexpr int64_t most_noted = 1 << 22;   // numbers of all that happens to one variable

struct NotOwn {
  int slot;
};

// Whether each write names the loop's number: rounds write to places of their own then.
bool writes_by(const Statement& s, int slot, int number) {
  if (s.kind == Statement::Kind::assign && s.target.slot == slot) {
    bool names = false;
    for (const Target::Step& step : s.target.steps)
      for (const Index& index : step.indices)
        names = names || (index.kind == Index::Kind::single &&
                          index.low->kind == Expression::Kind::variable && index.low->slot == number);
    if (!names) return false;
  }
  if (s.body && !writes_by(*s.body, slot, number)) return false;
  if (s.otherwise && !writes_by(*s.otherwise, slot, number)) return false;
  return std::all_of(s.statements.begin(), s.statements.end(),
                     [&](const auto& inner) { return writes_by(*inner, slot, number); });
}

}  // namespace

// Variables of which it pays to give each round a copy.
std::set<int> Evaluator::scratch_of(const Rounds& rounds) const {
  std::set<int> found;
  const auto known = workspaces_.find(rounds.statement);
  if (known == workspaces_.end()) return found;
  const auto lanes =
      static_cast<double>(levels_.at(levels_.top()).total) * static_cast<double>(most_rounds_of(rounds));
  for (const int slot : known->second) {
    const Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    if (variable.value.is_nothing() || variable.value.type.base == Base::tuple || variable.window.level > 0)
      continue;
    if (lanes * static_cast<double>(variable.value.size()) > static_cast<double>(most_copied)) continue;
    if (!writes_by(*rounds.statement->body, slot, rounds.statement->slot)) found.insert(slot);
  }
  return found;
}

// Runs the loop with scratch paper for each round, as far as that is right; else nothing has happened.
bool Evaluator::with_own_copies(Rounds rounds) {
  rounds.own = scratch_of(rounds);
  const Snapshot start = snapshot();
  while (!rounds.own.empty()) {
    try {
      const std::map<int, Tracked> carries = all_at_once(rounds);
      if (carries.empty()) return true;
      const Frame tried = *frame_;
      restore(start);
      give_sizes(carries, tried);
      if (rounds.is_regular)
        by_steps(rounds, carries);
      else
        of_like_lengths(rounds);
      return true;
    } catch (const NotOwn& other) {
      rounds.own.erase(other.slot);
    } catch (const NotTogether&) {
      rounds.own.clear();
    } catch (const Differs&) {
      rounds.own.clear();
    } catch (const Error&) {
      rounds.own.clear();
    } catch (const RunError&) {
      rounds.own.clear();
    }
    restore(start);
  }
  return false;
}

// Of a loop that has just been begun.
void Evaluator::begin_own(const Rounds& rounds, Together& loop) {
  loop.began = ++now_;
  for (const int slot : rounds.own) {
    loop.variables.erase(slot);
    loop.own[slot] = {};
    Stored& variable = (*frame_)[static_cast<size_t>(slot)];
    variable.value = unset_like(whole(variable.value));
    variable.home = loop.level;
    variable.window = {};
  }
}

bool Evaluator::is_own(int slot) const {
  return std::any_of(together_.begin(), together_.end(),
                     [&](const Together* loop) { return loop->frame == frame_ && loop->own.contains(slot); });
}

// A read or write of an own copy. What may not be written counts for nothing.
void Evaluator::note_own(const Stored& variable, int slot, const Spots& spots, bool writes) {
  if (!is_own(slot)) return;
  Value form = variable.value;
  const int top = levels_.top();
  const std::optional<Touch> touch = touch_of({&form, variable.home, spots}, top);
  const bool is_sure =
      std::all_of(masks_.begin(), masks_.end(), [](const Mask& mask) { return mask.own.is_known(); });
  const std::vector<bool> runs = running(top);
  const int64_t now = ++now_;
  for (Together* loop : together_) {
    const auto found = loop->frame == frame_ ? loop->own.find(slot) : loop->own.end();
    if (found == loop->own.end()) continue;
    OwnUse& use = found->second;
    use.is_known = use.is_known && (touch || writes) && use.size <= most_noted;
    if (!use.is_known || (writes && !(is_sure && touch))) continue;
    auto events = std::make_shared<std::vector<OwnUse::Event>>();
    for (size_t lane = 0; lane < runs.size(); ++lane) {
      if (!runs[lane]) continue;
      const auto at = static_cast<int64_t>(lane);
      OwnUse::Event event{.writes = writes, .lane = levels_.ancestor(top, loop->level, at)};
      for (const Together* inner : together_)
        if (inner->level > loop->level) {
          event.when.push_back(inner->began);
          event.when.push_back(levels_.ancestor(top, inner->level, at));
        }
      event.when.push_back(now);
      const int64_t* blocks = touch->blocks.data() + at * touch->each;
      for (int64_t k = 0; k < touch->each; ++k)
        for (int64_t e = 0; e < touch->block; ++e) event.elements.push_back(blocks[k] * touch->block + e);
      use.size += 8 + std::ssize(event.elements);
      events->push_back(std::move(event));
    }
    use.events.push_back(std::move(events));
  }
}

// Every round reads what it wrote itself, and rounds do write to the same places.
void Evaluator::expect_own(const Together& loop) const {
  for (const auto& [slot, use] : loop.own) {
    if (!use.is_known) throw NotOwn{slot};
    std::vector<const OwnUse::Event*> order;
    for (const auto& list : use.events)
      for (const OwnUse::Event& event : *list) order.push_back(&event);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return a->lane != b->lane ? a->lane < b->lane : a->when < b->when;
    });
    std::unordered_map<int64_t, int64_t> writer;  // of each element
    bool is_shared = false;
    for (const OwnUse::Event* event : order)
      for (const int64_t element : event->elements) {
        const auto [at, is_new] = writer.try_emplace(element, -1);
        if (event->writes) {
          is_shared = is_shared || (!is_new && at->second != event->lane);
          at->second = event->lane;
        } else if (at->second != event->lane) {
          throw NotOwn{slot};
        }
      }
    if (!is_shared) throw NotOwn{slot};
  }
}

}  // namespace adit::stan
