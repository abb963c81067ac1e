#include "posterior/diagnostics/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "posterior/diagnostics/chains.hpp"

namespace adit::diagnostics {

double log_sum_exp(std::span<const double> values) {
  if (values.empty()) return -HUGE_VAL;
  const double most = *std::max_element(values.begin(), values.end());
  if (!std::isfinite(most)) return most;
  return most + std::log(sum_of(static_cast<int64_t>(values.size()),
                                [&](int64_t i) { return std::exp(values[i] - most); }));
}

// With theta = -shape/scale, the shape at a given theta is mean(log(1 - theta x)); theta itself is the mean
// of its profile likelihood over a grid that reaches to 1 / max(x).
ParetoFit fit_pareto(std::span<const double> x) {
  const auto count = static_cast<int64_t>(x.size());
  if (count < 2) return {not_a_number, not_a_number};
  const auto n = static_cast<double>(count);
  const auto shape_at = [&](double theta) {
    return sum_of(count, [=](int64_t i) { return std::log1p(-theta * x[i]); }) / n;
  };
  const int64_t grid = 30 + static_cast<int64_t>(std::sqrt(n));
  const double quartile = x[std::max<int64_t>((count + 2) / 4, 1) - 1];
  std::vector<double> thetas, likelihoods;
  for (int64_t j = 1; j <= grid; ++j) {
    const double root = std::sqrt(static_cast<double>(grid) / (static_cast<double>(j) - 0.5));
    const double theta = 1 / x.back() + (1 - root) / (3 * quartile);
    const double shape = shape_at(theta);
    thetas.push_back(theta);
    likelihoods.push_back(n * (std::log(-theta / shape) - shape - 1));
  }
  const double total = log_sum_exp(likelihoods);
  double theta = 0;
  for (size_t j = 0; j < thetas.size(); ++j) theta += thetas[j] * std::exp(likelihoods[j] - total);
  const double shape = shape_at(theta);
  return {(shape * n + 5) / (n + 10), -shape / theta};
}

double pareto_quantile(const ParetoFit& fit, double p) {
  const double exponential = -std::log1p(-p);
  return fit.scale * (fit.shape == 0 ? exponential : std::expm1(fit.shape * exponential) / fit.shape);
}

double smooth_weights(std::vector<double>& log_weights, double efficiency) {
  const auto count = static_cast<double>(log_weights.size());
  const double most = *std::max_element(log_weights.begin(), log_weights.end());
  for (double& weight : log_weights) weight -= most;
  const auto tail = static_cast<size_t>(std::ceil(std::min(count / 5, 3 * std::sqrt(count / efficiency))));
  double shape = HUGE_VAL;
  if (tail >= 5) {
    std::vector<uint32_t> order(log_weights.size());
    std::iota(order.begin(), order.end(), 0u);
    const size_t first = order.size() - tail;
    const auto lighter = [&](uint32_t a, uint32_t b) { return log_weights[a] < log_weights[b]; };
    std::nth_element(order.begin(), order.begin() + (first - 1), order.end(), lighter);
    std::sort(order.begin() + first, order.end(), lighter);
    const double cut = std::exp(log_weights[order[first - 1]]);
    std::vector<double> exceedances;
    for (size_t i = first; i < order.size(); ++i)
      exceedances.push_back(std::exp(log_weights[order[i]]) - cut);
    if (exceedances.back() <= 0 || exceedances.back() - exceedances.front() <= 0) {
      shape = 0;  // the largest weights are all the same: no tail at all
    } else if (const ParetoFit fit = fit_pareto(exceedances); std::isfinite(fit.shape)) {
      shape = fit.shape;
      for (size_t i = 0; i < tail; ++i) {
        const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(tail);
        // No weight beyond the largest that was seen, which is exp(0).
        log_weights[order[first + i]] = std::min(0.0, std::log(pareto_quantile(fit, p) + cut));
      }
    }
  }
  const double total = log_sum_exp(log_weights);
  for (double& weight : log_weights) weight -= total;
  return shape;
}

}  // namespace adit::diagnostics
