#include <algorithm>
#include <cmath>

#include <adit/diagnostics.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/distribution_quantiles.hpp"
#include "posterior/diagnostics/measures.hpp"

namespace adit {

using namespace diagnostics;

double mcse_mean(ChainsView x) { return std::sqrt(variance_of(x.values) / ess_mean(x)); }

// The variance of the squared deviations, carried over to the root by the delta method.
double mcse_sd(ChainsView x) {
  check_chains("mcse_sd", x);
  if (!varies(x.values)) return not_a_number;
  const double mean = mean_of(x.values);
  std::vector<double> distance(x.values.begin(), x.values.end());
  for (double& value : distance) value = std::fabs(value - mean);
  const auto count = static_cast<int64_t>(distance.size());
  const double second =
      sum_of(count, [&](int64_t i) { return std::pow(distance[i], 2); }) / static_cast<double>(count);
  const double fourth =
      sum_of(count, [&](int64_t i) { return std::pow(distance[i], 4); }) / static_cast<double>(count);
  const double variance = (fourth - second * second) / effective_size({distance, x.chains});
  return std::sqrt(std::max(variance, 0.0) / (4 * second));
}

// Half the distance between the draws at the ends of a one-sigma interval for the quantile's rank.
double mcse_quantile(ChainsView x, double p) {
  const double size = ess_quantile(x, p);
  if (std::isnan(size)) return not_a_number;
  std::vector<double> sorted(x.values.begin(), x.values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  const double one_sigma = 0.15865525393145705;  // below -1 of a standard normal
  const double low = beta_quantile(one_sigma, size * p + 1, size * (1 - p) + 1);
  const double high = beta_quantile(1 - one_sigma, size * p + 1, size * (1 - p) + 1);
  const auto first = static_cast<size_t>(std::max(std::floor(low * count), 1.0)) - 1;
  const auto last = static_cast<size_t>(std::min(std::ceil(high * count), count)) - 1;
  return 0.5 * (sorted[last] - sorted[first]);
}

}  // namespace adit
