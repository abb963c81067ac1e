// R-hat and effective sizes on numbers that are already ranked, folded or compared; for the public functions
// and for summaries, which share the sorting.
#pragma once

#include "posterior/diagnostics/normal_scores.hpp"

namespace adit::diagnostics {

// Of split chains as they are. NaN where there is no variance, or a value is not finite.
double split_r_hat(ChainsView x);
double effective_size(ChainsView x);
// Of the indicator x <= bound, or x >= bound.
double effective_size_below(ChainsView x, double bound);
double effective_size_above(ChainsView x, double bound);

// The draws in order, and normal scores in the order of the draws.
struct Ranked {
  Ordered sorted;
  double median = 0;
  double median_distance = 0;  // the median of |x - median|
  std::vector<double> bulk, folded;
};
// Needs draws that vary. `table` has a score for each draw of the split chains.
Ranked rank(ChainsView x, const NormalScores& table);
inline int64_t split_count(ChainsView x) { return x.chains * (x.length() / 2) * 2; }

void check_probability(const char* where, double p);

}  // namespace adit::diagnostics
