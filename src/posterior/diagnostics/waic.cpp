#include <cmath>

#include <adit/diagnostics.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/parallel.hpp"
#include "posterior/diagnostics/pareto.hpp"

namespace adit {

using namespace diagnostics;

// Watanabe (2010): the log of the mean likelihood, less the variance of its logarithm, point by point.
Waic waic(const Draws& draws, const DrawsVariable& log_likelihood) {
  const int64_t observations = log_likelihood.size(), total = draws.chains * draws.draws;
  std::vector<double> densities(static_cast<size_t>(observations), not_a_number), penalties = densities;
  if (total > 0)
    for_each_piece(observations, observations * total > 1'000'000, [&](int64_t i) {
      const std::vector<double> values = element_draws(draws, log_likelihood, i);
      densities[i] = log_sum_exp(values) - std::log(static_cast<double>(total));
      penalties[i] = variance_of(values);
    });
  Waic result;
  for (int64_t i = 0; i < observations; ++i) {
    result.pointwise.push_back(densities[i] - penalties[i]);
    result.elpd += result.pointwise.back();
    result.p_waic += penalties[i];
  }
  result.se = std::sqrt(static_cast<double>(observations) * variance_of(result.pointwise));
  result.waic = -2 * result.elpd;
  return result;
}

}  // namespace adit
