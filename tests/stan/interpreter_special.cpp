// Special functions with derivatives. Where a derivative has no closed form (by the shape of an incomplete
// gamma or beta function) it is a difference of sixth order in long double, which keeps some 13 digits.
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/bessel_prime.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/math/special_functions/lambert_w.hpp>
#include <boost/math/special_functions/owens_t.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>

#include "interpreter_number.hpp"

namespace adit::stan::reference {

namespace {

namespace policies = boost::math::policies;
// Infinities and NaN are values here, not exceptions.
using Quiet = policies::policy<
    policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
    policies::overflow_error<policies::ignore_error>, policies::underflow_error<policies::ignore_error>,
    policies::evaluation_error<policies::ignore_error>, policies::promote_double<true>>;
const Quiet quiet;

template <class F>
double special_difference(const F& f, long double x) {
  const long double h = 2e-3L * std::max(0.05L, std::min(std::fabs(x), 1.0L));
  const auto central = [&](int k) { return f(x + k * h) - f(x - k * h); };
  return static_cast<double>((45 * central(1) - 9 * central(2) + central(3)) / (60 * h));
}

double phi_density(double x) { return std::exp(-0.5 * x * x - half_log_two_pi); }

}  // namespace

Number lgamma(const Number& x) {
  if (x.value <= 0 && std::floor(x.value) == x.value) return infinity;
  return chain(x, boost::math::lgamma(x.value, quiet),
               x.slope == 0 ? 0 : boost::math::digamma(x.value, quiet));
}
Number tgamma(const Number& x) {
  const double value = boost::math::tgamma(x.value, quiet);
  return chain(x, value, value * boost::math::digamma(x.value, quiet));
}
Number digamma(const Number& x) {
  return chain(x, boost::math::digamma(x.value, quiet), boost::math::trigamma(x.value, quiet));
}
Number trigamma(const Number& x) {
  return chain(x, boost::math::trigamma(x.value, quiet), boost::math::polygamma(2, x.value, quiet));
}
Number lbeta(const Number& a, const Number& b) { return lgamma(a) + lgamma(b) - lgamma(a + b); }
Number lchoose(const Number& n, const Number& k) {
  if (k.value == 0) return 0;
  return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

Number erf(const Number& x) {
  return chain(x, std::erf(x.value), 2 / std::sqrt(pi) * std::exp(-x.value * x.value));
}
Number erfc(const Number& x) {
  return chain(x, std::erfc(x.value), -2 / std::sqrt(pi) * std::exp(-x.value * x.value));
}
Number phi(const Number& x) {
  return chain(x, 0.5 * std::erfc(-x.value / std::sqrt(2.0)), phi_density(x.value));
}
Number log_phi(const Number& x) {
  const auto tail = std::erfc(-static_cast<long double>(x.value) / std::sqrt(2.0L));
  const double value = x.value > 5 ? std::log1p(-0.5 * std::erfc(x.value / std::sqrt(2.0)))
                                   : static_cast<double>(std::log(0.5L * tail));
  return chain(x, value, std::exp(-0.5 * x.value * x.value - half_log_two_pi - value));
}
Number inv_phi(const Number& p) {
  const double value = -std::sqrt(2.0) * boost::math::erfc_inv(2 * p.value, quiet);
  return chain(p, value, 1 / phi_density(value));
}

namespace {

// An incomplete gamma function and the derivative of its logarithm or of itself.
Number special_gamma(const Number& a, const Number& x, bool upper, bool is_log) {
  const auto at = [upper, is_log](long double shape, long double end) {
    const long double v =
        upper ? boost::math::gamma_q(shape, end, quiet) : boost::math::gamma_p(shape, end, quiet);
    return is_log ? std::log(v) : v;
  };
  if (x.value <= 0) return is_log ? (upper ? 0.0 : -infinity) : (upper ? 1.0 : 0.0);
  if (std::isinf(x.value)) return is_log ? (upper ? -infinity : 0.0) : (upper ? 0.0 : 1.0);
  const auto value = static_cast<double>(at(a.value, x.value));
  const double log_density = (a.value - 1) * std::log(x.value) - x.value - lgamma(a.value).value;
  const double by_x = (upper ? -1 : 1) * std::exp(log_density - (is_log ? value : 0));
  const double by_a =
      a.slope == 0 ? 0 : special_difference([&](long double shape) { return at(shape, x.value); }, a.value);
  return chain(a, x, value, by_a, by_x);
}

}  // namespace

Number gamma_p(const Number& a, const Number& x) { return special_gamma(a, x, false, false); }
Number gamma_q(const Number& a, const Number& x) { return special_gamma(a, x, true, false); }
Number log_gamma_p(const Number& a, const Number& x) { return special_gamma(a, x, false, true); }
Number log_gamma_q(const Number& a, const Number& x) { return special_gamma(a, x, true, true); }

namespace {

Number special_beta(const Number& a, const Number& b, const Number& x, bool is_log) {
  if (x.value <= 0) return is_log ? -infinity : 0.0;
  if (x.value >= 1) return is_log ? 0.0 : 1.0;
  const auto at = [is_log](long double p, long double q, long double end) {
    const long double v = boost::math::ibeta(p, q, end, quiet);
    return is_log ? std::log(v) : v;
  };
  const auto value = static_cast<double>(at(a.value, b.value, x.value));
  const double log_density = (a.value - 1) * std::log(x.value) + (b.value - 1) * std::log1p(-x.value) -
                             lbeta(a.value, b.value).value;
  Number result = chain(x, value, std::exp(log_density - (is_log ? value : 0)));
  if (a.slope != 0)
    result.slope +=
        a.slope * special_difference([&](long double p) { return at(p, b.value, x.value); }, a.value);
  if (b.slope != 0)
    result.slope +=
        b.slope * special_difference([&](long double q) { return at(a.value, q, x.value); }, b.value);
  return result;
}

}  // namespace

Number inc_beta(const Number& a, const Number& b, const Number& x) { return special_beta(a, b, x, false); }
Number log_inc_beta(const Number& a, const Number& b, const Number& x) { return special_beta(a, b, x, true); }

// By Boost; the slope from inc_beta(a, b, x) = p.
Number inv_inc_beta(const Number& a, const Number& b, const Number& p) {
  const double x = boost::math::ibeta_inv(a.value, b.value, p.value, quiet);
  const double by_shapes = inc_beta(a, b, x).slope, by_x = inc_beta(a.value, b.value, Number(x, 1)).slope;
  return {x, (p.slope - by_shapes) / by_x};
}

Number owens_t(const Number& h, const Number& a) {
  const double by_h = -0.5 * phi_density(h.value) * std::erf(a.value * h.value / std::sqrt(2.0));
  const double whole = 1 + a.value * a.value;
  const double by_a = std::exp(-0.5 * h.value * h.value * whole) / (2 * pi * whole);
  return chain(h, a, boost::math::owens_t(h.value, a.value, quiet), by_h, by_a);
}

Number bessel_j(int64_t order, const Number& x) {
  const auto v = static_cast<double>(order);
  return chain(x, boost::math::cyl_bessel_j(v, x.value, quiet),
               boost::math::cyl_bessel_j_prime(v, x.value, quiet));
}
Number bessel_y(int64_t order, const Number& x) {
  const auto v = static_cast<double>(order);
  return chain(x, boost::math::cyl_neumann(v, x.value, quiet),
               boost::math::cyl_neumann_prime(v, x.value, quiet));
}
Number bessel_i(int64_t order, const Number& x) {
  const auto v = static_cast<double>(order);
  return chain(x, boost::math::cyl_bessel_i(v, x.value, quiet),
               boost::math::cyl_bessel_i_prime(v, x.value, quiet));
}
Number bessel_k(int64_t order, const Number& x) {
  const auto v = static_cast<double>(order);
  return chain(x, boost::math::cyl_bessel_k(v, x.value, quiet),
               boost::math::cyl_bessel_k_prime(v, x.value, quiet));
}
// In long double, whose range holds what a double's exponential would not.
Number log_bessel_i(const Number& order, const Number& x) {
  const auto at = [](long double v, long double y) { return boost::math::cyl_bessel_i(v, y, quiet); };
  const long double value = at(order.value, x.value);
  const long double after = at(order.value + 1, x.value);
  const auto by_x = static_cast<double>(after / value) + order.value / x.value;
  const double by_order =
      order.slope == 0
          ? 0
          : special_difference([&](long double v) { return std::log(at(v, x.value)); }, order.value);
  return chain(order, x, static_cast<double>(std::log(value)), by_order, by_x);
}

Number lambert_w0(const Number& x) {
  const double w = boost::math::lambert_w0(x.value, quiet);
  return chain(x, w, 1 / (x.value + std::exp(w)));
}
Number lambert_wm1(const Number& x) {
  const double w = boost::math::lambert_wm1(x.value, quiet);
  return chain(x, w, 1 / (x.value + std::exp(w)));
}

}  // namespace adit::stan::reference
