// Whether rounds that are run together, statement by statement, give what they give one after the other:
// every read finds what the same write left, and what is left at the end is the same. All places are known,
// and the order in which statements were run, so both orders are gone through and compared.
#include <algorithm>

#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

// A read or write of all lanes, and which of its lanes are a round's: from first[round] to first[round + 1].
struct Event {
  const Touch* touch = nullptr;
  bool writes = false;
  std::vector<int64_t> homes{}, first{};
};

constexpr int64_t nobody = -1;

// Elements that rounds first .. last - 1 touch, in either order.
class Replay {
 public:
  Replay(std::vector<Event> events, int64_t size, int64_t elements)
      : events_(std::move(events)), size_(size), together_(elements, nobody), in_turn_(elements, nobody) {}

  // Whether one of them touches what another one wrote.
  bool meet(int64_t first, int64_t last) {
    const auto meets = [&](bool of_writes) {
      for (const Event& event : events_) {
        if (event.writes != of_writes) continue;
        for (int64_t round = first; round < last; ++round) {
          bool met = false;
          each(event, round, [&](int64_t element) {
            int64_t& owner = together_[static_cast<size_t>(element)];
            met = met || (owner >= first && owner != round);
            if (of_writes) owner = round;
          });
          if (met) return true;
        }
      }
      return false;
    };
    const bool found = meets(true) || meets(false);
    for (const Event& event : events_)
      for (int64_t round = first; event.writes && round < last; ++round)
        each(event, round, [&](int64_t element) { together_[static_cast<size_t>(element)] = nobody; });
    return found;
  }

  // Whether both orders leave the same writes to be read.
  bool agree(int64_t first, int64_t last) {
    const auto rounds = last - first, count = std::ssize(events_);
    std::vector<std::vector<int64_t>> found(static_cast<size_t>(rounds * count));  // by reads, together
    const auto found_by = [&](int64_t event, int64_t round) -> std::vector<int64_t>& {
      return found[static_cast<size_t>((round - first) * count + event)];
    };
    const auto write = [&](std::vector<int64_t>& writer, int64_t event, int64_t round) {
      each(events_[static_cast<size_t>(event)], round,
           [&](int64_t element) { writer[static_cast<size_t>(element)] = round * count + event; });
    };
    for (int64_t event = 0; event < count; ++event)
      for (int64_t round = first; round < last; ++round) {
        const Event& at = events_[static_cast<size_t>(event)];
        if (at.writes) {
          write(together_, event, round);
          continue;
        }
        std::vector<int64_t>& own = found_by(event, round);
        each(at, round, [&](int64_t element) { own.push_back(together_[static_cast<size_t>(element)]); });
      }
    bool same = true;
    for (int64_t round = first; round < last; ++round)
      for (int64_t event = 0; event < count; ++event) {
        const Event& at = events_[static_cast<size_t>(event)];
        if (at.writes) {
          write(in_turn_, event, round);
          continue;
        }
        size_t next = 0;
        const std::vector<int64_t>& own = found_by(event, round);
        each(at, round,
             [&](int64_t element) { same = same && own[next++] == in_turn_[static_cast<size_t>(element)]; });
      }
    for (const Event& event : events_)
      for (int64_t round = first; event.writes && round < last; ++round)
        each(event, round, [&](int64_t element) {
          const auto at = static_cast<size_t>(element);
          same = same && together_[at] == in_turn_[at];
        });
    for (const Event& event : events_)
      for (int64_t round = first; event.writes && round < last; ++round)
        each(event, round, [&](int64_t element) {
          together_[static_cast<size_t>(element)] = in_turn_[static_cast<size_t>(element)] = nobody;
        });
    return same;
  }

 private:
  template <class On>
  void each(const Event& event, int64_t round, const On& on) const {
    const Touch& touch = *event.touch;
    const auto from = event.first[static_cast<size_t>(round)],
               to = event.first[static_cast<size_t>(round) + 1];
    for (int64_t lane = from; lane < to; ++lane)
      for (int64_t k = 0; k < touch.each; ++k) {
        const int64_t number = touch.blocks[static_cast<size_t>(lane * touch.each + k)];
        if (number < 0) continue;
        const int64_t begin = event.homes[static_cast<size_t>(lane)] * size_ + number * touch.block;
        for (int64_t element = begin; element < begin + touch.block; ++element) on(element);
      }
  }

  std::vector<Event> events_;
  int64_t size_;
  std::vector<int64_t> together_, in_turn_;  // of each element: its last writer
};

}  // namespace

// Whether a round of the loop at `level` needs what another one wrote, and would not find it were they run
// together. Rounds of other lanes around the loop are no matter here: the loops around it ask for those.
bool Evaluator::depends(const Tracked& tracked, const Value& value, int home, int level) const {
  std::vector<Event> events;
  bool has_order = true;
  for (const auto* list : {&tracked.reads, &tracked.writes})
    for (const Touch& touch : *list) {
      events.push_back({.touch = &touch, .writes = list == &tracked.writes});
      has_order = has_order && touch.when > 0;
    }
  // A write that keeps some of what is there reads it just before.
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.touch->when < b.touch->when; });
  const int64_t lanes = levels_.at(level).total;
  for (Event& event : events) {
    event.homes = levels_.ancestors(event.touch->level, home);
    const std::vector<int64_t> rounds = levels_.ancestors(event.touch->level, level);
    if (!std::is_sorted(rounds.begin(), rounds.end())) return true;
    event.first.assign(static_cast<size_t>(lanes) + 1, 0);
    for (const int64_t round : rounds) ++event.first[static_cast<size_t>(round) + 1];
    for (size_t i = 1; i < event.first.size(); ++i) event.first[i] += event.first[i - 1];
  }
  const int64_t size = value.size();
  Replay replay(std::move(events), size, size * (home ? levels_.at(home).total : 1));
  const std::vector<int64_t> around = levels_.ancestors(level, level - 1);
  for (int64_t first = 0, last = 0; first < lanes; first = last) {
    while (last < lanes && around[static_cast<size_t>(last)] == around[static_cast<size_t>(first)]) ++last;
    if (replay.meet(first, last) && !(has_order && replay.agree(first, last))) return true;
  }
  return false;
}

bool Evaluator::needs_others(const Tracked& tracked, int slot, int level) const {
  if (tracked.carries || tracked.mode != Tracked::Mode::elements) return tracked.carries;
  const Stored& variable = (*frame_)[static_cast<size_t>(slot)];
  const Window& window = variable.window;
  return window.level ? depends(tracked, window.rows[0], window.level, level)
                      : depends(tracked, variable.value, variable.home, level);
}

}  // namespace adit::stan
