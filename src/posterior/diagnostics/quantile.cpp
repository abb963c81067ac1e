#include <algorithm>
#include <cmath>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/measures.hpp"

namespace adit {

void diagnostics::check_probability(const char* where, double p) {
  if (p >= 0 && p <= 1) return;
  throw Error(ErrorKind::bad_argument,
              std::string("[") + where + "] p: expected 0 to 1, got " + std::to_string(p));
}

double quantile(std::span<const double> values, double p) {
  diagnostics::check_probability("quantile", p);
  const auto is_nan = [](double v) { return std::isnan(v); };
  if (values.empty() || std::any_of(values.begin(), values.end(), is_nan)) return diagnostics::not_a_number;
  // Two order statistics are enough: nothing is sorted.
  std::vector<double> copy(values.begin(), values.end());
  const double at = p * static_cast<double>(copy.size() - 1);
  const auto below = static_cast<size_t>(at);
  std::nth_element(copy.begin(), copy.begin() + below, copy.end());
  const double share = at - static_cast<double>(below), low = copy[below];
  if (share == 0) return low;
  const double high = *std::min_element(copy.begin() + below + 1, copy.end());
  return low == high ? low : low + share * (high - low);
}

double median_absolute_deviation(std::span<const double> values) {
  const double median = quantile(values, 0.5);
  std::vector<double> distances(values.begin(), values.end());
  for (double& value : distances) value = std::fabs(value - median);
  return 1.4826 * quantile(distances, 0.5);
}

}  // namespace adit
