#include "interpreter_number.hpp"

#include <algorithm>

namespace adit::stan::reference {

Number exp(const Number& x) { return chain(x, std::exp(x.value), std::exp(x.value)); }
Number log(const Number& x) { return chain(x, std::log(x.value), 1 / x.value); }
Number log1p(const Number& x) { return chain(x, std::log1p(x.value), 1 / (1 + x.value)); }
Number log1m(const Number& x) { return chain(x, std::log1p(-x.value), -1 / (1 - x.value)); }
Number expm1(const Number& x) { return chain(x, std::expm1(x.value), std::exp(x.value)); }
Number sqrt(const Number& x) {
  const double root = std::sqrt(x.value);
  return chain(x, root, 0.5 / root);
}
Number cbrt(const Number& x) {
  const double root = std::cbrt(x.value);
  return chain(x, root, 1 / (3 * root * root));
}
Number square(const Number& x) { return chain(x, x.value * x.value, 2 * x.value); }
Number pow(const Number& x, const Number& y) {
  const double value = std::pow(x.value, y.value);
  const double by_x = y.value == 0 ? 0 : y.value * std::pow(x.value, y.value - 1);
  const double by_y = x.value == 0 ? 0 : value * std::log(x.value);
  return chain(x, y, value, by_x, by_y);
}
Number abs(const Number& x) { return chain(x, std::fabs(x.value), x.value > 0 ? 1 : x.value < 0 ? -1 : 0); }

Number sin(const Number& x) { return chain(x, std::sin(x.value), std::cos(x.value)); }
Number cos(const Number& x) { return chain(x, std::cos(x.value), -std::sin(x.value)); }
Number tan(const Number& x) {
  const double t = std::tan(x.value);
  return chain(x, t, 1 + t * t);
}
Number asin(const Number& x) { return chain(x, std::asin(x.value), 1 / std::sqrt(1 - x.value * x.value)); }
Number acos(const Number& x) { return chain(x, std::acos(x.value), -1 / std::sqrt(1 - x.value * x.value)); }
Number atan(const Number& x) { return chain(x, std::atan(x.value), 1 / (1 + x.value * x.value)); }
Number sinh(const Number& x) { return chain(x, std::sinh(x.value), std::cosh(x.value)); }
Number cosh(const Number& x) { return chain(x, std::cosh(x.value), std::sinh(x.value)); }
Number tanh(const Number& x) {
  const double c = std::cosh(x.value);
  return chain(x, std::tanh(x.value), 1 / (c * c));
}
Number asinh(const Number& x) { return chain(x, std::asinh(x.value), 1 / std::sqrt(x.value * x.value + 1)); }
Number acosh(const Number& x) { return chain(x, std::acosh(x.value), 1 / std::sqrt(x.value * x.value - 1)); }
Number atanh(const Number& x) { return chain(x, std::atanh(x.value), 1 / (1 - x.value * x.value)); }
Number atan2(const Number& y, const Number& x) {
  const double r = x.value * x.value + y.value * y.value;
  return chain(y, x, std::atan2(y.value, x.value), x.value / r, -y.value / r);
}
Number hypot(const Number& x, const Number& y) {
  const double r = std::hypot(x.value, y.value);
  return chain(x, y, r, x.value / r, y.value / r);
}

Number inv_logit(const Number& x) {
  const double small = std::exp(-std::fabs(x.value)), whole = 1 + small;
  return chain(x, x.value >= 0 ? 1 / whole : small / whole, small / (whole * whole));
}
Number logit(const Number& x) {
  return chain(x, std::log(x.value) - std::log1p(-x.value), 1 / (x.value * (1 - x.value)));
}
Number log1p_exp(const Number& x) {
  const double value = x.value > 0 ? x.value + std::log1p(std::exp(-x.value)) : std::log1p(std::exp(x.value));
  return chain(x, value, inv_logit(x.value).value);
}
// log(1 - e^x) of x < 0, by the form that keeps digits on each side of log(1/2).
Number log1m_exp(const Number& x) {
  if (x.value > 0) return not_a_number;
  const double value =
      x.value > -0.6931471805599453 ? std::log(-std::expm1(x.value)) : std::log1p(-std::exp(x.value));
  return chain(x, value, 1 / -std::expm1(-x.value));
}
Number log_inv_logit(const Number& x) { return -log1p_exp(-x); }
Number log1m_inv_logit(const Number& x) { return -log1p_exp(x); }
Number log_diff_exp(const Number& x, const Number& y) {
  if (y.value == -infinity) return x;
  if (x.value == y.value) return {-infinity, 0};
  return x + log1m_exp(y - x);
}

Number log_sum_exp(const std::vector<Number>& x) {
  double largest = -infinity;
  for (const Number& v : x) {
    if (std::isnan(v.value)) return not_a_number;
    largest = std::max(largest, v.value);
  }
  if (std::isinf(largest)) return largest;
  double sum = 0, slope = 0;
  for (const Number& v : x) {
    const double weight = std::exp(v.value - largest);
    sum += weight;
    slope += scaled(v.slope, weight);
  }
  return {largest + std::log(sum), slope / sum};
}

Number x_log_y(const Number& x, const Number& y) {
  if (x.value == 0 && y.value == 0) return 0;
  return chain(x, y, x.value == 0 ? 0 : x.value * std::log(y.value), std::log(y.value), x.value / y.value);
}

}  // namespace adit::stan::reference
