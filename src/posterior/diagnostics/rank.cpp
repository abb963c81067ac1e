#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/distribution_quantiles.hpp"
#include "posterior/diagnostics/normal_scores.hpp"

namespace adit::diagnostics {

NormalScores::NormalScores(int64_t count) : scores_(static_cast<size_t>(count)) {
  for (int64_t i = 0; i < (count + 1) / 2; ++i) {
    const double score = 2 * i + 1 == count ? 0 : of_rank(static_cast<double>(i + 1));
    scores_[i] = score;
    scores_[count - 1 - i] = -score;
  }
}

double NormalScores::of_rank(double rank) const {
  return normal_quantile((rank - 0.375) / (static_cast<double>(count()) + 0.25));
}

double NormalScores::of(int64_t first, int64_t last) const {
  if ((first + last) % 2 == 0) return scores_[(first + last) / 2];
  return of_rank(0.5 * static_cast<double>(first + last) + 1);
}

void assign_scores(const Ordered& sorted, const NormalScores& table, std::vector<double>& scores) {
  const auto count = static_cast<int64_t>(sorted.values.size());
  for (int64_t first = 0; first < count;) {
    int64_t last = first;
    while (last + 1 < count && sorted.values[last + 1] == sorted.values[first]) ++last;
    const double score = table.of(first, last);
    for (; first <= last; ++first) scores[sorted.places[first]] = score;
  }
}

}  // namespace adit::diagnostics
