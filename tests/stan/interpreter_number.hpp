// A number with its derivative along one direction: what the plain interpreter of Stan programs computes
// with.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace adit::stan::reference {

struct Number {
  double value = 0, slope = 0;
  Number() = default;
  Number(double v) : value(v) {}  // NOLINT: a plain number is one
  Number(double v, double s) : value(v), slope(s) {}
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 3.141592653589793238462643383279502884;
constexpr double half_log_two_pi = 0.918938533204672741780329736405617640;

// slope * factor, where a slope of nothing stays nothing beside an infinite factor.
inline double scaled(double slope, double factor) { return slope == 0 ? 0 : slope * factor; }
inline Number chain(const Number& x, double value, double derivative) {
  return {value, scaled(x.slope, derivative)};
}
inline Number chain(const Number& x, const Number& y, double value, double dx, double dy) {
  return {value, scaled(x.slope, dx) + scaled(y.slope, dy)};
}

inline Number operator+(const Number& a, const Number& b) { return {a.value + b.value, a.slope + b.slope}; }
inline Number operator-(const Number& a, const Number& b) { return {a.value - b.value, a.slope - b.slope}; }
inline Number operator-(const Number& a) { return {-a.value, -a.slope}; }
inline Number operator*(const Number& a, const Number& b) {
  return chain(a, b, a.value * b.value, b.value, a.value);
}
inline Number operator/(const Number& a, const Number& b) {
  return chain(a, b, a.value / b.value, 1 / b.value, -a.value / (b.value * b.value));
}
inline Number& operator+=(Number& a, const Number& b) { return a = a + b; }
inline Number& operator-=(Number& a, const Number& b) { return a = a - b; }
inline Number& operator*=(Number& a, const Number& b) { return a = a * b; }
inline bool operator<(const Number& a, const Number& b) { return a.value < b.value; }
inline bool operator>(const Number& a, const Number& b) { return a.value > b.value; }
inline bool operator<=(const Number& a, const Number& b) { return a.value <= b.value; }
inline bool operator>=(const Number& a, const Number& b) { return a.value >= b.value; }

Number exp(const Number& x);
Number log(const Number& x);
Number log1p(const Number& x);
Number log1m(const Number& x);
Number expm1(const Number& x);
Number sqrt(const Number& x);
Number cbrt(const Number& x);
Number square(const Number& x);
Number pow(const Number& x, const Number& y);
Number abs(const Number& x);
Number sin(const Number& x);
Number cos(const Number& x);
Number tan(const Number& x);
Number asin(const Number& x);
Number acos(const Number& x);
Number atan(const Number& x);
Number sinh(const Number& x);
Number cosh(const Number& x);
Number tanh(const Number& x);
Number asinh(const Number& x);
Number acosh(const Number& x);
Number atanh(const Number& x);
Number atan2(const Number& y, const Number& x);
Number hypot(const Number& x, const Number& y);
Number inv_logit(const Number& x);
Number logit(const Number& x);
Number log1p_exp(const Number& x);
Number log1m_exp(const Number& x);
Number log_inv_logit(const Number& x);
Number log1m_inv_logit(const Number& x);
Number log_diff_exp(const Number& x, const Number& y);
Number log_sum_exp(const std::vector<Number>& x);
Number x_log_y(const Number& x, const Number& y);  // 0 where x is, as Stan's multiply_log

// interpreter_special.cpp
Number lgamma(const Number& x);
Number tgamma(const Number& x);
Number digamma(const Number& x);
Number trigamma(const Number& x);
Number lbeta(const Number& a, const Number& b);
Number lchoose(const Number& n, const Number& k);
Number erf(const Number& x);
Number erfc(const Number& x);
Number phi(const Number& x);      // the standard normal's distribution function
Number log_phi(const Number& x);  // its logarithm, far tails too
Number inv_phi(const Number& p);
Number gamma_p(const Number& a, const Number& x);
Number gamma_q(const Number& a, const Number& x);
Number log_gamma_p(const Number& a, const Number& x);
Number log_gamma_q(const Number& a, const Number& x);
Number inc_beta(const Number& a, const Number& b, const Number& x);
Number log_inc_beta(const Number& a, const Number& b, const Number& x);
Number inv_inc_beta(const Number& a, const Number& b, const Number& p);
Number owens_t(const Number& h, const Number& a);
Number bessel_j(int64_t order, const Number& x);
Number bessel_y(int64_t order, const Number& x);
Number bessel_i(int64_t order, const Number& x);
Number bessel_k(int64_t order, const Number& x);
Number log_bessel_i(const Number& order, const Number& x);
Number lambert_w0(const Number& x);
Number lambert_wm1(const Number& x);

}  // namespace adit::stan::reference
