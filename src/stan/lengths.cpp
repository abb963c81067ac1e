// Loops with different numbers of rounds in the lanes around them. Where rounds need each other all lanes go
// on to the end of the longest, and those that are done keep what they have.
#include <algorithm>
#include <cmath>

#include "stan/evaluator.hpp"
#include "stan/snapshot.hpp"

namespace adit::stan {

namespace {

constexpr int64_t most_waiting = 3;  // rounds made for each that is wanted, before lanes are sorted by length

int64_t rounds_in(const Value& low, const Value& high, size_t lane) {
  return std::max<int64_t>(0, static_cast<int64_t>(high.known->numbers[lane] - low.known->numbers[lane]) + 1);
}

}  // namespace

int64_t Evaluator::most_rounds_of(const Rounds& rounds) {
  int64_t most = 0;
  for (size_t lane = 0; lane < rounds.low.known->numbers.size(); ++lane)
    most = std::max(most, rounds_in(rounds.low, rounds.high, lane));
  return most;
}

// As many rounds in each lane as the longest has.
Evaluator::Rounds Evaluator::padded(const Rounds& rounds) const {
  Rounds all = rounds;
  all.is_regular = all.is_padded = true;
  all.count = most_rounds_of(rounds);
  const Value low = levels_.lifted(rounds.low, levels_.top()),
              high = levels_.lifted(rounds.high, levels_.top());
  for (auto& [slot, numbers] : all.counters) {
    std::vector<double> longer;
    size_t next = 0;
    for (size_t lane = 0; lane < low.known->numbers.size(); ++lane) {
      const auto own = static_cast<size_t>(rounds_in(low, high, lane));
      for (size_t i = 0; i < static_cast<size_t>(all.count); ++i)
        longer.push_back(own > 0 ? numbers[next + std::min(i, own - 1)] : 0);
      next += own;
    }
    numbers = std::move(longer);
  }
  return all;
}

// Of each lane of a padded loop's level, which is the top one: whether this round is one of its own.
Value Evaluator::lasting(const Rounds& rounds) const {
  const int level = levels_.top();
  const Value low = levels_.lifted(rounds.low, level), high = levels_.lifted(rounds.high, level);
  std::vector<double> lasts;
  for (size_t i = 0; i < low.known->numbers.size(); ++i)
    lasts.push_back(static_cast<int64_t>(i) % rounds.count < rounds_in(low, high, i));
  return known_value(scalar_type(Base::integer), {}, std::move(lasts), level);
}

// The body for all lanes of the top level.
void Evaluator::run_rounds(const Rounds& rounds) {
  const Statement& body = *rounds.statement->body;
  const bool in_scan = levels_.innermost_scan(levels_.top()) > 0;
  if (!rounds.is_padded) {
    if (in_scan)
      execute(body);
    else
      in_groups(body);
    return;
  }
  const Value lasts = lasting(rounds);
  if (in_scan) {
    masked_choice({&body, nullptr}, lasts, {});
    return;
  }
  std::vector<int64_t> lanes;
  for (size_t i = 0; i < lasts.known->numbers.size(); ++i)
    if (lasts.known->numbers[i] != 0) lanes.push_back(static_cast<int64_t>(i));
  levels_.push_ragged(std::move(lanes));
  in_groups(body);
  leave_level();
}

void Evaluator::run_padded(const Rounds& rounds) {
  const Rounds all = padded(rounds);
  const Snapshot start = snapshot();
  const std::map<int, Tracked> carries = all_at_once(all);
  if (carries.empty()) return;
  const Frame tried = *frame_;
  restore(start);
  give_sizes(carries, tried);
  by_steps(all, carries);
}

// A recurrence of different lengths: lanes of about the same length together, where one long one would keep
// many waiting.
Evaluator::Flow Evaluator::of_like_lengths(const Rounds& rounds) {
  const int top = levels_.top();
  const Value low = levels_.lifted(rounds.low, top), high = levels_.lifted(rounds.high, top);
  std::map<int, std::vector<int64_t>> classes;
  int64_t wanted = 0;
  for (size_t lane = 0; lane < low.known->numbers.size(); ++lane) {
    const int64_t own = rounds_in(low, high, lane);
    wanted += own;
    if (own > 0) classes[std::ilogb(static_cast<double>(own)) / 2].push_back(static_cast<int64_t>(lane));
  }
  const int64_t made = most_rounds_of(rounds) * std::ssize(low.known->numbers);
  if (made <= most_waiting * wanted || levels_.innermost_scan(top) > 0) {
    run_padded(rounds);
    return Flow::next;
  }
  for (auto& [_, lanes] : classes) {
    levels_.push_ragged(std::move(lanes));
    Rounds part = rounds;
    part.counters.clear();
    part.low = levels_.lifted(low, levels_.top()), part.high = levels_.lifted(high, levels_.top());
    find_counters(part);
    run_padded(part);
    leave_level();
  }
  return Flow::next;
}

}  // namespace adit::stan
