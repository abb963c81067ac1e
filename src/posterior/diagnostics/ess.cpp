#include <algorithm>
#include <cmath>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/diagnostics/autocovariance.hpp"
#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/measures.hpp"

namespace adit {
namespace diagnostics {
namespace {

// Geyer's initial monotone sequence: pairs of neighbouring autocorrelations while their sum is positive, none
// larger than the one before; then the even one of the pair that ended it, where it is positive. Pairs reach
// no further than the lag rows - 2; the last of these counts as one that ended the sequence.
template <class Correlation>
double autocorrelation_time(int64_t rows, Correlation correlation) {
  double sum = 0, previous = HUGE_VAL;
  for (int64_t lag = 0;; lag += 2) {
    const double even = lag == 0 ? 1 : correlation(lag), odd = correlation(lag + 1);
    const double pair = even + odd;
    const bool more = lag + 3 <= rows - 2;
    if (lag == 0 && !more && pair > 0) return -1 + 2 * pair;  // fewer than five rows: there is one pair
    if (!(pair > 0) || !more) return -1 + 2 * sum + std::max(even, 0.0);
    previous = std::min(previous, pair);
    sum += previous;
  }
}

}  // namespace

double effective_size(ChainsView x) {
  const HalfChains halves(x);
  const int64_t rows = halves.rows(), columns = halves.columns();
  if (rows < 3) return not_a_number;
  std::vector<double> centred(static_cast<size_t>(rows * columns)), means;
  for (int64_t j = 0; j < columns; ++j) {
    const double mean = mean_of(halves.column(j), rows);
    means.push_back(mean);
    std::transform(halves.column(j), halves.column(j) + rows, &centred[j * rows],
                   [=](double value) { return value - mean; });
  }
  Autocovariances covariances(std::move(centred), columns);
  const auto n = static_cast<double>(rows);
  const double within = covariances.at(0) * n / (n - 1);
  const double total = within * (n - 1) / n + variance_of(means);
  if (!(total > 0) || !std::isfinite(total)) return not_a_number;
  const double time =
      autocorrelation_time(rows, [&](int64_t lag) { return 1 - (within - covariances.at(lag)) / total; });
  // Antithetic chains can do better than independent draws, but not without bound.
  const double count = n * static_cast<double>(columns);
  return count / std::max(time, 1 / std::log10(count));
}

double effective_size_below(ChainsView x, double bound) {
  std::vector<double> inside(x.values.size());
  std::transform(x.values.begin(), x.values.end(), inside.begin(),
                 [=](double v) { return v <= bound ? 1.0 : 0.0; });
  return effective_size({inside, x.chains});
}

double effective_size_above(ChainsView x, double bound) {
  std::vector<double> inside(x.values.size());
  std::transform(x.values.begin(), x.values.end(), inside.begin(),
                 [=](double v) { return v >= bound ? 1.0 : 0.0; });
  return effective_size({inside, x.chains});
}

}  // namespace diagnostics

using namespace diagnostics;

double ess_bulk(ChainsView x) {
  check_chains("ess_bulk", x);
  if (!varies(x.values)) return not_a_number;
  const Ranked ranked = rank(x, NormalScores(split_count(x)));
  return effective_size({ranked.bulk, x.chains});
}

double ess_tail(ChainsView x) { return smaller(ess_quantile(x, 0.05), ess_quantile(x, 0.95)); }

double ess_mean(ChainsView x) {
  check_chains("ess_mean", x);
  return varies(x.values) ? effective_size(x) : not_a_number;
}

// The tail that is cut off counts: with ties at the end of the range, the other side may be every draw.
double ess_quantile(ChainsView x, double p) {
  check_chains("ess_quantile", x);
  check_probability("ess_quantile", p);
  if (!varies(x.values)) return not_a_number;
  const double bound = quantile(x.values, p);
  return p <= 0.5 ? effective_size_below(x, bound) : effective_size_above(x, bound);
}

std::vector<double> autocorrelation(std::span<const double> values, int64_t lags) {
  if (lags < 0)
    throw Error(ErrorKind::bad_argument,
                "[autocorrelation] lags: expected 0 or more, got " + std::to_string(lags));
  const int64_t known = std::min<int64_t>(lags, static_cast<int64_t>(values.size()) - 1);
  std::vector<double> result(static_cast<size_t>(known + 1), not_a_number);
  if (!varies(values)) return result;
  const double mean = mean_of(values);
  std::vector<double> centred(values.begin(), values.end());
  for (double& value : centred) value -= mean;
  Autocovariances covariances(std::move(centred), 1);
  const double variance = covariances.at(0);
  for (int64_t lag = 0; lag <= known; ++lag) result[lag] = covariances.at(lag) / variance;
  return result;
}

}  // namespace adit
