// Draws against known means and variances, in units of their Monte Carlo standard errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::test {

// Columns of one number: chains of equal length, of one seed after the other.
struct Pool {
  std::vector<double> values;
  int64_t chains = 0;
  void add(const std::vector<double>& more, int64_t more_chains) {
    values.insert(values.end(), more.begin(), more.end());
    chains += more_chains;
  }
  template <class F>
  Pool map(F f) const {
    Pool mapped = *this;
    for (double& v : mapped.values) v = f(v);
    return mapped;
  }
};

inline double mean_of(const Pool& pool) {
  double sum = 0;
  for (const double v : pool.values) sum += v;
  return sum / static_cast<double>(pool.values.size());
}

// How many standard errors the mean of the draws lies from `mean`.
inline double errors_of_mean(const Pool& pool, double mean) {
  const double error = mcse_mean({pool.values, pool.chains});
  // Chains that stand still have no error of which to speak: they are infinitely wrong.
  if (!(error > 0)) return std::numeric_limits<double>::infinity();
  return std::abs(mean_of(pool) - mean) / error;
}

// The larger of that of the mean and that of the variance.
inline double errors_of_moments(const Pool& pool, double mean, double variance) {
  const Pool squares = pool.map([&](double v) { return (v - mean) * (v - mean); });
  return std::max(errors_of_mean(pool, mean), errors_of_mean(squares, variance));
}

inline constexpr double most_errors = 4;

}  // namespace adit::test
