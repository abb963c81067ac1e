// Loops that are being run all rounds at once. A level is one of them (or the part of its lanes for which a
// condition on data holds); lanes of a level are numbered through all lanes of the level around it.
#pragma once

#include "stan/value.hpp"

namespace adit::stan {

// Thrown where a loop cannot be run that way; the loop is then tried in another.
struct NotTogether {
  std::string why;
};

// Thrown where a size differs between the lanes of the top level, with its number in each.
struct Differs {
  int level = 0;
  std::vector<double> numbers;
};

struct LoopLevel {
  bool is_scan = false;  // a recurrence: its step sees one round
  int64_t count = 1;     // rounds for each lane around it, where that is the same for all
  bool is_regular = true;
  std::vector<int64_t> parent;  // else: the lane around each lane
  int64_t total = 1;            // lanes, with those of recurrences
};

class Levels {
 public:
  Levels() : list_(1) {}
  int top() const { return static_cast<int>(list_.size()) - 1; }
  const LoopLevel& at(int level) const { return list_[static_cast<size_t>(level)]; }
  void push_regular(int64_t count, bool is_scan);
  void push_ragged(std::vector<int64_t> parent);
  void pop() { list_.pop_back(); }

  // Lanes that a tensor of `level` has in the step of recurrence `inside`: rounds of recurrences around the
  // step do not count. 0: it has no axis of lanes.
  int64_t lanes(int level, int inside) const;
  // The recurrence in whose step the level stands.
  int innermost_scan(int level) const;
  int64_t ancestor(int to, int from, int64_t lane) const;
  // For each lane of `to`, its lane of `from` (a level around it).
  std::vector<int64_t> ancestors(int to, int from) const;
  bool regular_between(int from, int to) const;
  // Lanes of `level` that one step of the recurrences up to `inside` sees: those of the first rounds, in
  // order.
  std::vector<int64_t> in_step(int level, int inside) const;
  // Lanes with the same number stand in the same step of the recurrences around them.
  int64_t step_of(int64_t lane, int level) const;
  // The lane of the first rounds that stands where `lane` does in its step.
  int64_t in_first_step(int64_t lane, int level, int inside) const;

  // The same value with an axis of lanes of `level`.
  Value lifted(const Value& known, int level) const;
  Tensor lifted(const Tensor& tensor, int from, int level, int inside) const;

 private:
  std::vector<LoopLevel> list_;
};

}  // namespace adit::stan
