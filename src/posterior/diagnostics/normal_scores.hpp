// Normal scores of ranks (Blom): the first step of rank-normalised diagnostics.
#pragma once

#include <cstdint>
#include <vector>

#include "posterior/diagnostics/order.hpp"

namespace adit::diagnostics {

// Scores of the ranks 1 to count: of all numbers with as many draws the same, so made once.
class NormalScores {
 public:
  explicit NormalScores(int64_t count);
  int64_t count() const { return static_cast<int64_t>(scores_.size()); }
  // Of the average rank of those that stand at first ... last, counted from 0, and are equal.
  double of(int64_t first, int64_t last) const;

 private:
  double of_rank(double rank) const;
  std::vector<double> scores_;
};

// A score for each draw, at its place; equal draws share their average rank. `scores` has the size of the
// draws; draws that `sorted` leaves out keep what is there.
void assign_scores(const Ordered& sorted, const NormalScores& table, std::vector<double>& scores);

}  // namespace adit::diagnostics
