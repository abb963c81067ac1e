#include "stan/functions/numbers.hpp"

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/special_functions/owens_t.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

namespace adit::stan::numbers {

namespace {

namespace policies = boost::math::policies;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>, policies::rounding_error<policies::ignore_error>>;
constexpr Quiet quiet{};

// P(Z <= z) by its logarithm; far down by the asymptotic series of Mills' ratio.
double log_normal_cdf(double z) {
  if (z > -8)
    return z > 0 ? std::log1p(-0.5 * std::erfc(z / std::numbers::sqrt2))
                 : std::log(0.5 * std::erfc(-z / std::numbers::sqrt2));
  const double s = 1 / (z * z);
  double fraction = 1;
  for (int level = 30; level >= 1; --level) fraction = 1 + level * s / fraction;
  return -0.5 * z * z - std::log(-z) - 0.5 * std::log(2 * std::numbers::pi) - std::log(fraction);
}

}  // namespace

double digamma(double x) {
  if (x <= 0 && std::floor(x) == x) return nothing;
  return boost::math::digamma(x, quiet);
}
double trigamma(double x) {
  if (x <= 0 && std::floor(x) == x) return endless;
  return boost::math::trigamma(x, quiet);
}
double log_gamma(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x) || (x <= 0 && std::floor(x) == x)) return endless;
  return boost::math::lgamma(x, quiet);
}

double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return nothing;
  if (p == 0 || p == 1) return p == 0 ? -endless : endless;
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, quiet);
}
double normal_quantile_of_log(double log_p) {
  if (!(log_p <= 0)) return nothing;
  if (log_p == 0 || std::isinf(log_p)) return log_p == 0 ? endless : -endless;
  if (log_p > -std::numbers::ln2) return -normal_quantile_of_log(log1m_exp(log_p));
  if (log_p > -600) return normal_quantile(std::exp(log_p));
  double z = -std::sqrt(-2 * log_p);
  for (int step = 0; step < 6; ++step) {
    const double reached = log_normal_cdf(z);
    z -= (reached - log_p) * std::exp(reached + 0.5 * z * z + 0.5 * std::log(2 * std::numbers::pi));
  }
  return z;
}
double inv_erfc(double x) {
  if (!(x >= 0 && x <= 2)) return nothing;
  if (x == 0 || x == 2) return x == 0 ? endless : -endless;
  return boost::math::erfc_inv(x, quiet);
}

double inv_logit(double x) {
  const double small = std::exp(-std::fabs(x));
  return (x < 0 ? small : 1) / (1 + small);
}
double log_inv_logit(double x) { return (x < 0 ? x : 0) - std::log1p(std::exp(-std::fabs(x))); }
double log1m_exp(double x) {
  if (x > 0) return nothing;
  return x > -std::numbers::ln2 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

double log_beta(double a, double b) {
  if (!(a > 0 && b > 0)) return nothing;
  const double smaller = std::fmin(a, b), larger = std::fmax(a, b);
  if (std::isinf(larger)) return -endless;
  if (larger < 8) return std::log(boost::math::beta(a, b, quiet));
  const double ratio = boost::math::tgamma_delta_ratio(larger, smaller, quiet);  // G(l) / G(l + s)
  if (ratio > 0x1p-1000) return log_gamma(smaller) + std::log(ratio);
  // Stirling's series of each.
  const auto rest = [](double z) {
    const double r = 1 / z, r2 = r * r;
    return r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 / 1680)));
  };
  const double both = smaller + larger;
  return log_gamma(smaller) + smaller - smaller * std::log(both) -
         (larger - 0.5) * std::log1p(smaller / larger) + rest(larger) - rest(both);
}
double beta(double a, double b) {
  if (!(a > 0 && b > 0)) return nothing;
  return std::exp(log_beta(a, b));
}
double log_choose(double n, double k) {
  if (std::isnan(n) || std::isnan(k)) return nothing;
  if (k <= -1 || k >= n + 1) return -endless;
  if (k == 0 || k == n) return 0;
  return -log_beta(k + 1, n - k + 1) - std::log1p(n);
}
double choose(double n, double k) {
  if (!(k >= 0 && k <= n)) return 0;
  double product = 1;  // whole numbers, in order: every step divides
  const double least = std::fmin(k, n - k);
  for (double i = 1; i <= least && std::isfinite(product); ++i)
    product = std::round(product * (n - least + i) / i);
  return product;
}

double log_sum_exp(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return nothing;
  const double larger = std::fmax(a, b), smaller = std::fmin(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(smaller - larger));
}
double log_diff_exp(double a, double b) {
  if (b == -endless) return a;
  return a + log1m_exp(b - a);
}
double log_inv_logit_diff(double a, double b) {
  return log_inv_logit(a) + log1m_exp(b - a) + log_inv_logit(-b);
}
double multiply_log(double a, double b) { return a == 0 && b == 0 ? 0 : a * std::log(b); }

double rising_factorial(double x, double n) {
  if (n > 10000) return x > 0 ? std::exp(log_rising_factorial(x, n)) : nothing;
  double product = 1;
  for (double i = 0; i < n; ++i) product *= x + i;
  return std::isnan(n) ? nothing : product;
}
double falling_factorial(double x, double n) {
  if (n > 10000) return x >= n ? std::exp(log_falling_factorial(x, n)) : nothing;
  double product = 1;
  for (double i = 0; i < n; ++i) product *= x - i;
  return std::isnan(n) ? nothing : product;
}
double log_rising_factorial(double x, double n) {
  if (n == 0) return std::isnan(x) ? nothing : 0;
  return x > 0 && n > 0 ? log_gamma(n) - log_beta(x, n) : log_gamma(x + n) - log_gamma(x);
}
double log_falling_factorial(double x, double n) { return log_rising_factorial(x - n + 1, n); }

double gamma_p(double a, double x) {
  if (!(a > 0 && x >= 0)) return nothing;
  return std::isinf(x) ? 1 : boost::math::gamma_p(a, x, quiet);
}
double gamma_q(double a, double x) {
  if (!(a > 0 && x >= 0)) return nothing;
  return std::isinf(x) ? 0 : boost::math::gamma_q(a, x, quiet);
}
double owens_t(double h, double a) {
  if (std::isnan(h) || std::isnan(a)) return nothing;
  return boost::math::owens_t(h, a, quiet);
}

namespace {

// From here on expansions in one over the distance of (v, z) from 0 have all digits.
constexpr double bessel_far = 1000;

// The terms of Debye's expansions of I (sign 1) and K (-1) with w = 1 / sqrt(v^2 + z^2), p = v w.
double debye_sum(double p, double w, double sign) {
  const double q = p * p;
  const double first = (3 - 5 * q) / 24;
  const double second = (81 + q * (-462 + q * 385)) / 1152;
  const double third = (30375 + q * (-369603 + q * (765765 - q * 425425))) / 414720;
  const double fourth =
      (4465125 + q * (-94121676 + q * (349922430 + q * (-446185740 + q * 185910725)))) / 39813120;
  return 1 + sign * w * (first + sign * w * (second + sign * w * (third + sign * w * fourth)));
}
// log I_v(z) and log K_v(z) far out.
double log_bessel_far(double v, double z, bool is_k) {
  const double r = std::hypot(v, z), w = 1 / r;
  const double rise = r + (v == 0 ? 0 : v * (std::log(z) - std::log(v + r)));
  const double half_pi = 0.5 * std::numbers::pi, sum = std::log(debye_sum(v * w, w, is_k ? -1 : 1));
  return is_k ? -rise + 0.5 * (std::log(half_pi) - std::log(r)) + sum
              : rise - 0.5 * (std::log(2 * std::numbers::pi) + std::log(r)) + sum;
}

}  // namespace

double log_bessel_i(double v, double z) {
  if (!(v >= 0 && z >= 0)) return nothing;
  if (z == 0) return v == 0 ? 0 : -endless;
  if (std::isinf(z) || std::isinf(v)) return std::isinf(z) ? z : -endless;
  if (std::hypot(v, z) > bessel_far) return log_bessel_far(v, z, false);
  const double value = boost::math::cyl_bessel_i(v, z, quiet);
  if (value > 0x1p-900 && value < 0x1p1000) return std::log(value);
  // Beyond what a number holds: from the middle of the series, term by term.
  const double middle = std::floor(0.5 * z * z / (v + std::sqrt(v * v + z * z)));
  const auto log_term = [&](double k) {
    return (2 * k + v) * std::log(z / 2) - log_gamma(k + 1) - log_gamma(k + v + 1);
  };
  double sum = 0;
  for (const double way : {-1.0, 1.0})
    for (double k = middle + (way > 0 ? 1 : 0); k >= 0; k += way) {
      const double term = std::exp(log_term(k) - log_term(middle));
      sum += term;
      if (term < 1e-20) break;
    }
  return log_term(middle) + std::log(sum);
}
// J and Y of whole n take steps in proportion to n.
constexpr double most_bessel_order = 1e6;

double bessel_j(double n, double z) {
  if (!std::isfinite(n) || !std::isfinite(z)) return std::isinf(z) ? 0 : nothing;
  if (std::fabs(n) > most_bessel_order) {
    // So far below its turning point it is smaller than any number.
    return std::fabs(z) < 0.9 * std::fabs(n) ? 0 : nothing;
  }
  return boost::math::cyl_bessel_j(static_cast<int>(n), z, quiet);
}
double bessel_y(double n, double z) {
  if (!(z >= 0) || !std::isfinite(n)) return nothing;
  if (z == 0 || std::isinf(z)) return z == 0 ? -endless : 0;
  const bool turns = n < 0 && std::fmod(-n, 2) == 1;
  if (std::fabs(n) > most_bessel_order)
    return z < 0.9 * std::fabs(n) ? (turns ? endless : -endless) : nothing;
  const double value = boost::math::cyl_neumann(static_cast<int>(std::fabs(n)), z, quiet);
  return turns ? -value : value;
}
double bessel_i(double n, double z) {
  if (std::isnan(n) || std::isnan(z)) return nothing;
  const double order = std::fabs(n), at = std::fabs(z);
  if (std::hypot(order, at) <= bessel_far) return boost::math::cyl_bessel_i(n, z, quiet);
  const double value = std::exp(log_bessel_i(order, at));
  return z < 0 && std::fmod(order, 2) == 1 ? -value : value;
}
double bessel_k(double n, double z) {
  if (!(z >= 0)) return nothing;
  if (std::hypot(n, z) > bessel_far && z > 0)
    return std::isinf(z) ? 0 : std::exp(log_bessel_far(std::fabs(n), z, true));
  return z == 0 ? endless : boost::math::cyl_bessel_k(n, z, quiet);
}
double lambert_w0(double x) { return std::isinf(x) && x > 0 ? x : boost::math::lambert_w0(x, quiet); }
double lambert_wm1(double x) {
  if (!(x < 0)) return x == 0 ? -endless : nothing;
  return boost::math::lambert_wm1(x, quiet);
}
double binary_log_loss(double y, double p) { return y != 0 ? -std::log(p) : -std::log1p(-p); }

double inverse_incomplete_beta(double a, double b, double p) {
  if (!(a > 0 && b > 0 && p >= 0 && p <= 1) || std::isinf(a) || std::isinf(b)) return nothing;
  return boost::math::ibeta_inv(a, b, p, quiet);
}
double incomplete_beta(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return nothing;
  return boost::math::ibeta(a, b, x, quiet);
}
double log_mix(double theta, double a, double b) {
  return log_sum_exp(theta == 0 ? -endless : std::log(theta) + a,
                     theta == 1 ? -endless : std::log1p(-theta) + b);
}

}  // namespace adit::stan::numbers
