// Chains cut in halves, and sums over them: what the diagnostics are computed from.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::diagnostics {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Throws where the values are not chains of equal length.
void check_chains(const char* where, ChainsView x);
// Finite throughout, and not all the same: what R-hat and effective sizes are defined for.
bool varies(std::span<const double> values);
bool all_finite(std::span<const double> values);

// Each chain as two columns, without a copy. A chain of odd length loses its middle draw.
class HalfChains {
 public:
  explicit HalfChains(ChainsView x)
      : values_(x.values.data()), length_(x.length()), columns_(2 * x.chains), rows_(x.length() / 2) {}
  int64_t columns() const { return columns_; }
  int64_t rows() const { return rows_; }
  const double* column(int64_t j) const {
    return values_ + (j / 2) * length_ + (j % 2 ? length_ - rows_ : 0);
  }

 private:
  const double* values_;
  int64_t length_, columns_, rows_;
};

// The sum of term(i). Eight partial sums: the compiler may use vectors, and rounding errors stay small.
template <class Term>
double sum_of(int64_t count, Term term) {
  double parts[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t k = 0; k < 8; ++k) parts[k] += term(i + k);
  for (int64_t k = 0; i < count; ++i, ++k) parts[k] += term(i);
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

double mean_of(const double* values, int64_t count);
inline double mean_of(std::span<const double> values) {
  return mean_of(values.data(), static_cast<int64_t>(values.size()));
}
// Divided by count - 1; NaN for fewer than two.
double variance_of(const double* values, int64_t count, double mean);
inline double variance_of(std::span<const double> values) {
  return variance_of(values.data(), static_cast<int64_t>(values.size()), mean_of(values));
}

// The larger one; the other where one is not defined.
inline double larger(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::fmax(a, b); }
inline double smaller(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : std::fmin(a, b); }

}  // namespace adit::diagnostics
