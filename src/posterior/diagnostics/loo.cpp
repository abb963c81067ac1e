#include <algorithm>
#include <cmath>

#include <adit/diagnostics.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/measures.hpp"
#include "posterior/diagnostics/parallel.hpp"
#include "posterior/diagnostics/pareto.hpp"

namespace adit {

using namespace diagnostics;

namespace {

struct Point {
  double elpd = not_a_number, lppd = not_a_number, shape = HUGE_VAL;
};

// Draws per draw that the likelihood of one observation is worth.
double efficiency_of(const std::vector<double>& log_likelihood, int64_t chains) {
  const double most = *std::max_element(log_likelihood.begin(), log_likelihood.end());
  std::vector<double> likelihood(log_likelihood.size());
  std::transform(log_likelihood.begin(), log_likelihood.end(), likelihood.begin(),
                 [=](double v) { return std::exp(v - most); });
  const double efficiency = effective_size({likelihood, chains}) / static_cast<double>(log_likelihood.size());
  return efficiency > 0 ? efficiency : 1;
}

// The density of one observation given the others: draws weighted by 1 / likelihood.
Point leave_out(const std::vector<double>& log_likelihood, int64_t chains) {
  Point point;
  if (!all_finite(log_likelihood)) return point;
  std::vector<double> weights(log_likelihood.size());
  std::transform(log_likelihood.begin(), log_likelihood.end(), weights.begin(), [](double v) { return -v; });
  point.shape = smooth_weights(weights, efficiency_of(log_likelihood, chains));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] += log_likelihood[i];
  point.elpd = log_sum_exp(weights);
  point.lppd = log_sum_exp(log_likelihood) - std::log(static_cast<double>(log_likelihood.size()));
  return point;
}

}  // namespace

Loo psis_loo(const Draws& draws, const DrawsVariable& log_likelihood) {
  const int64_t observations = log_likelihood.size(), total = draws.chains * draws.draws;
  std::vector<Point> points(static_cast<size_t>(observations));
  if (total > 0)
    for_each_piece(observations, observations * total > 100'000, [&](int64_t i) {
      points[i] = leave_out(element_draws(draws, log_likelihood, i), draws.chains);
    });
  Loo loo;
  loo.k_threshold = total > 1 ? std::min(1 - 1 / std::log10(static_cast<double>(total)), 0.7) : 0;
  for (const Point& point : points) {
    loo.pointwise.push_back(point.elpd);
    loo.pareto_k.push_back(point.shape);
    loo.elpd += point.elpd;
    loo.p_loo += point.lppd - point.elpd;
    loo.bad += !(point.shape <= loo.k_threshold);
  }
  loo.se = std::sqrt(static_cast<double>(observations) * variance_of(loo.pointwise));
  loo.looic = -2 * loo.elpd;
  return loo;
}

}  // namespace adit
