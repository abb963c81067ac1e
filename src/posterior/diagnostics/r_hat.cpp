#include <cmath>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/measures.hpp"

namespace adit {
namespace diagnostics {

// sqrt((B / W + n - 1) / n): B is n times the variance of the halves' means, W the mean of their variances.
double split_r_hat(ChainsView x) {
  const HalfChains halves(x);
  const int64_t rows = halves.rows();
  if (rows < 2) return not_a_number;
  std::vector<double> means;
  double within = 0;
  for (int64_t j = 0; j < halves.columns(); ++j) {
    means.push_back(mean_of(halves.column(j), rows));
    within += variance_of(halves.column(j), rows, means.back());
  }
  within /= static_cast<double>(halves.columns());
  const auto n = static_cast<double>(rows);
  // Constant halves that differ: infinite. Constant halves that agree: 0 / 0.
  return std::sqrt((n * variance_of(means) / within + n - 1) / n);
}

Ranked rank(ChainsView x, const NormalScores& table) {
  Ranked result;
  result.sorted = order(x.values);
  result.median = sorted_quantile(result.sorted.values, 0.5);
  const Ordered distances = fold(result.sorted, result.median);
  result.median_distance = sorted_quantile(distances.values, 0.5);
  result.bulk.resize(x.values.size());
  result.folded.resize(x.values.size());
  if (x.length() % 2) {
    assign_scores(without_middles(result.sorted, x.length()), table, result.bulk);
    assign_scores(without_middles(distances, x.length()), table, result.folded);
  } else {
    assign_scores(result.sorted, table, result.bulk);
    assign_scores(distances, table, result.folded);
  }
  return result;
}

}  // namespace diagnostics

using namespace diagnostics;

double r_hat(ChainsView x) {
  check_chains("r_hat", x);
  if (!varies(x.values)) return not_a_number;
  const Ranked ranked = rank(x, NormalScores(split_count(x)));
  // One of the two may be undefined: two values at equal distance from the median, say.
  return larger(split_r_hat({ranked.bulk, x.chains}), split_r_hat({ranked.folded, x.chains}));
}

double r_hat_plain(ChainsView x) {
  check_chains("r_hat_plain", x);
  return varies(x.values) ? split_r_hat(x) : not_a_number;
}

// Margossian et al. (2024): superchains start at one point each, so that chains of few draws (even one) can
// be judged: sqrt(1 + variance of the superchains' means / mean variance inside of them).
double nested_r_hat(ChainsView x, int64_t superchains) {
  check_chains("nested_r_hat", x);
  if (superchains < 1 || x.chains % superchains)
    throw Error(ErrorKind::bad_argument, "[nested_r_hat] superchains: expected a divisor of " +
                                             std::to_string(x.chains) + " chains, got " +
                                             std::to_string(superchains));
  if (superchains < 2 || !varies(x.values)) return not_a_number;
  const int64_t members = x.chains / superchains, length = x.length();
  std::vector<double> super_means;
  double within = 0;
  for (int64_t k = 0; k < superchains; ++k) {
    std::vector<double> means;
    double inside = 0;
    for (int64_t m = 0; m < members; ++m) {
      const double* chain = x.values.data() + (k * members + m) * length;
      means.push_back(mean_of(chain, length));
      if (length > 1) inside += variance_of(chain, length, means.back()) / static_cast<double>(members);
    }
    super_means.push_back(mean_of(means));
    within += inside + (members > 1 ? variance_of(means) : 0);
  }
  within /= static_cast<double>(superchains);
  return std::sqrt(1 + variance_of(super_means) / within);
}

}  // namespace adit
