#include "posterior/diagnostics/beta_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace adit::diagnostics {
namespace {

// log Gamma(x) for x >= 1 by Stirling's series. (std::lgamma writes a global variable: no good in threads.)
double log_gamma(double x) {
  double shift = 0;
  for (; x < 16; x += 1) shift -= std::log(x);
  const double y = 1 / (x * x);
  const double series = (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y / 1188)))) / x;
  return shift + (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + series;
}

// The continued fraction of the incomplete beta function by Lentz's method; converges fast for
// x < (a + 1) / (a + b + 2).
double fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300;
  const auto keep = [](double v) { return std::fabs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / keep(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m < 100000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / keep(1 + even * d);
    c = keep(1 + even / c);
    value *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / keep(1 + odd * d);
    c = keep(1 + odd / c);
    value *= c * d;
    if (std::fabs(c * d - 1) < 4 * std::numeric_limits<double>::epsilon()) break;
  }
  return value;
}

// P(X <= x).
double beta_share(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * fraction(x, a, b) / a : 1 - front * fraction(1 - x, b, a) / b;
}

}  // namespace

double beta_quantile(double p, double a, double b) {
  double low = 0, high = 1;
  // Halving: sixty steps are all the digits there are near 1/2, and it cannot miss.
  for (int step = 0; step < 200 && high - low > 1e-15 * high; ++step) {
    const double middle = 0.5 * (low + high);
    (beta_share(middle, a, b) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace adit::diagnostics
