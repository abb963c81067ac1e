#include "posterior/diagnostics/chains.hpp"

#include <algorithm>

#include <adit/error.hpp>

namespace adit::diagnostics {

void check_chains(const char* where, ChainsView x) {
  const auto count = static_cast<int64_t>(x.values.size());
  if (x.chains >= 1 && count % x.chains == 0) return;
  throw Error(ErrorKind::bad_argument,
              std::string("[") + where + "] x: expected chains of equal length, got " +
                  std::to_string(count) + " values in " + std::to_string(x.chains) + " chains");
}

bool all_finite(std::span<const double> values) {
  // 0 * x is NaN for infinities and NaN; one sum tells for all.
  return sum_of(static_cast<int64_t>(values.size()), [&](int64_t i) { return 0.0 * values[i]; }) == 0;
}

bool varies(std::span<const double> values) {
  if (values.empty() || !all_finite(values)) return false;
  return std::any_of(values.begin(), values.end(), [&](double v) { return v != values.front(); });
}

double mean_of(const double* values, int64_t count) {
  if (count < 1) return not_a_number;
  // From the first value on: a large common offset costs no digits.
  const double first = std::isfinite(values[0]) ? values[0] : 0;
  return first + sum_of(count, [=](int64_t i) { return values[i] - first; }) / static_cast<double>(count);
}

double variance_of(const double* values, int64_t count, double mean) {
  if (count < 2) return not_a_number;
  const double squares = sum_of(count, [=](int64_t i) { return (values[i] - mean) * (values[i] - mean); });
  return squares / static_cast<double>(count - 1);
}

}  // namespace adit::diagnostics
