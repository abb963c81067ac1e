// Functions of numbers, applied to each element of containers and arrays.
#include <algorithm>

#include "interpreter_builtin.hpp"

namespace adit::stan::reference {

namespace {

using One = Number (*)(const Number&);
using Two = Number (*)(const Number&, const Number&);

Number elementwise_factorial(const Number& x, const Number& n, bool rises) {
  Number result = 1;
  for (int k = 0; k < static_cast<int>(n.value); ++k) result *= rises ? x + k : x - k;
  return result;
}

Number elementwise_cloglog(const Number& p) { return log(-log1m(p)); }

const std::unordered_map<std::string, One>& elementwise_ones() {
  using N = const Number&;
  static const std::unordered_map<std::string, One> table{
      {"exp", exp},
      {"log", log},
      {"log1p", log1p},
      {"log1m", log1m},
      {"expm1", expm1},
      {"sqrt", sqrt},
      {"cbrt", cbrt},
      {"square", square},
      {"abs", abs},
      {"fabs", abs},
      {"sin", sin},
      {"cos", cos},
      {"tan", tan},
      {"asin", asin},
      {"acos", acos},
      {"atan", atan},
      {"sinh", sinh},
      {"cosh", cosh},
      {"tanh", tanh},
      {"asinh", asinh},
      {"acosh", acosh},
      {"atanh", atanh},
      {"inv_logit", inv_logit},
      {"logit", logit},
      {"log1p_exp", log1p_exp},
      {"log1m_exp", log1m_exp},
      {"log_inv_logit", log_inv_logit},
      {"log1m_inv_logit", log1m_inv_logit},
      {"lgamma", lgamma},
      {"tgamma", tgamma},
      {"digamma", digamma},
      {"trigamma", trigamma},
      {"erf", erf},
      {"erfc", erfc},
      {"Phi", phi},
      {"inv_Phi", inv_phi},
      {"std_normal_qf", inv_phi},
      {"lambert_w0", lambert_w0},
      {"lambert_wm1", lambert_wm1},
      {"cloglog", elementwise_cloglog},
      {"minus", [](N x) { return -x; }},
      {"Phi_approx", [](N x) { return inv_logit(0.07056 * pow(x, 3) + 1.5976 * x); }},
      {"std_normal_log_qf", [](N x) { return inv_phi(exp(x)); }},
      {"inv_erfc", [](N x) { return inv_phi(0.5 * x) * (-std::sqrt(0.5)); }},
      {"inv", [](N x) { return 1 / x; }},
      {"inv_sqrt", [](N x) { return 1 / sqrt(x); }},
      {"inv_square", [](N x) { return 1 / square(x); }},
      {"inv_cloglog", [](N x) { return -expm1(-exp(x)); }},
      {"exp2", [](N x) { return exp(x * std::log(2.0)); }},
      {"log2", [](N x) { return chain(x, std::log2(x.value), 1 / (x.value * std::log(2.0))); }},
      {"log10", [](N x) { return chain(x, std::log10(x.value), 1 / (x.value * std::log(10.0))); }},
      {"floor", [](N x) { return Number(std::floor(x.value)); }},
      {"ceil", [](N x) { return Number(std::ceil(x.value)); }},
      {"round", [](N x) { return Number(std::round(x.value)); }},
      {"trunc", [](N x) { return Number(std::trunc(x.value)); }},
      {"step", [](N x) { return Number(x.value < 0 ? 0 : 1); }},
  };
  return table;
}

const std::unordered_map<std::string, Two>& elementwise_twos() {
  using N = const Number&;
  static const std::unordered_map<std::string, Two> table{
      {"pow", pow},
      {"atan2", atan2},
      {"hypot", hypot},
      {"lbeta", lbeta},
      {"lchoose", lchoose},
      {"binomial_coefficient_log", lchoose},
      {"log_diff_exp", log_diff_exp},
      {"lmultiply", x_log_y},
      {"multiply_log", x_log_y},
      {"gamma_p", gamma_p},
      {"gamma_q", gamma_q},
      {"owens_t", owens_t},
      {"log_modified_bessel_first_kind", log_bessel_i},
      {"beta", [](N a, N b) { return exp(lbeta(a, b)); }},
      {"log_sum_exp",
       [](N a, N b) {
         return log_sum_exp({a, b});
       }},
      {"log_inv_logit_diff",
       [](N a, N b) { return log_inv_logit(a) + log1m_inv_logit(b) + log1m_exp(b - a); }},
      {"fmin", [](N a, N b) { return b < a || std::isnan(a.value) ? b : a; }},
      {"fmax", [](N a, N b) { return b > a || std::isnan(a.value) ? b : a; }},
      {"fdim", [](N a, N b) { return a > b ? a - b : Number(0); }},
      {"fmod",
       [](N a, N b) { return chain(a, b, std::fmod(a.value, b.value), 1, -std::trunc(a.value / b.value)); }},
      {"ldexp", [](N a, N b) { return a * std::exp2(b.value); }},
      {"log_falling_factorial", [](N x, N n) { return lgamma(x + 1) - lgamma(x - n + 1); }},
      {"log_rising_factorial", [](N x, N n) { return lgamma(x + n) - lgamma(x); }},
      {"falling_factorial", [](N x, N n) { return elementwise_factorial(x, n, false); }},
      {"rising_factorial", [](N x, N n) { return elementwise_factorial(x, n, true); }},
      {"binary_log_loss", [](N y, N p) { return y.value != 0 ? -log(p) : -log1m(p); }},
      {"lmgamma",
       [](N n, N x) {
         Number sum = 0.25 * n.value * (n.value - 1) * std::log(pi);
         for (int k = 1; k <= static_cast<int>(n.value); ++k) sum += lgamma(x + 0.5 * (1 - k));
         return sum;
       }},
      {"bessel_first_kind", [](N n, N x) { return bessel_j(static_cast<int64_t>(n.value), x); }},
      {"bessel_second_kind", [](N n, N x) { return bessel_y(static_cast<int64_t>(n.value), x); }},
      {"modified_bessel_first_kind", [](N n, N x) { return bessel_i(static_cast<int64_t>(n.value), x); }},
      {"modified_bessel_second_kind", [](N n, N x) { return bessel_k(static_cast<int64_t>(n.value), x); }},
  };
  return table;
}

const std::unordered_map<std::string, double>& elementwise_constants() {
  static const std::unordered_map<std::string, double> table{{"pi", pi},
                                                             {"e", std::exp(1.0)},
                                                             {"sqrt2", std::sqrt(2.0)},
                                                             {"log2", std::log(2.0)},
                                                             {"log10", std::log(10.0)},
                                                             {"machine_precision", 0x1p-52},
                                                             {"positive_infinity", infinity},
                                                             {"negative_infinity", -infinity},
                                                             {"not_a_number", not_a_number}};
  return table;
}

Value elementwise_integers(const Value& value, int64_t (*f)(int64_t)) {
  if (value.is_scalar()) return integer(f(value.whole()));
  Value result = value;
  for (Value& part : result.parts) part = elementwise_integers(part, f);
  return result;
}

// Two arrays of ints, or an int and an array, to ints.
Value elementwise_integers(const Value& a, const Value& b, int64_t (*f)(int64_t, int64_t)) {
  if (a.is_scalar() && b.is_scalar()) return integer(f(a.whole(), b.whole()));
  Value result = a.is_scalar() ? b : a;
  for (size_t i = 0; i < result.parts.size(); ++i)
    result.parts[i] =
        elementwise_integers(a.is_scalar() ? a : a.parts[i], b.is_scalar() ? b : b.parts.at(i), f);
  return result;
}

int64_t elementwise_choose(int64_t n, int64_t k) {
  int64_t result = 1;
  if (k < 0 || k > n) return 0;
  for (int64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

// Functions of ints that give ints.
bool elementwise_of_integers(const std::string& name, const Values& a, Value& result) {
  const bool one = a.size() == 1 && a[0].base == Base::integer;
  const bool two = a.size() == 2 && a[0].base == Base::integer && a[1].base == Base::integer;
  if (one && (name == "abs" || name == "fabs"))
    result = elementwise_integers(a[0], [](int64_t x) { return x < 0 ? -x : x; });
  else if (one && name == "minus")
    result = elementwise_integers(a[0], [](int64_t x) { return -x; });
  else if (two && name == "choose")
    result = elementwise_integers(a[0], a[1], elementwise_choose);
  else if (two && name == "modulus")
    result = elementwise_integers(a[0], a[1], [](int64_t x, int64_t y) { return x % y; });
  else if (two && (name == "max" || name == "min") && a[0].is_scalar())
    result =
        integer(name == "max" ? std::max(a[0].integer, a[1].integer) : std::min(a[0].integer, a[1].integer));
  else if (two && name == "falling_factorial")
    result = elementwise_integers(a[0], a[1], [](int64_t x, int64_t n) {
      return static_cast<int64_t>(
          elementwise_factorial(static_cast<double>(x), static_cast<double>(n), false).value);
    });
  else if (two && name == "rising_factorial")
    result = elementwise_integers(a[0], a[1], [](int64_t x, int64_t n) {
      return static_cast<int64_t>(
          elementwise_factorial(static_cast<double>(x), static_cast<double>(n), true).value);
    });
  else
    return false;
  return true;
}

Value elementwise_to_integers(const Value& x) {
  if (x.is_scalar()) return integer(static_cast<int64_t>(x.number().value));
  Value result = x;
  result.base = Base::integer;
  for (Value& part : result.parts) part = elementwise_to_integers(part);
  return result;
}

}  // namespace

bool call_elementwise(const std::string& name, const Values& a, Value& result) {
  if (a.empty()) {
    const auto at = elementwise_constants().find(name);
    if (at != elementwise_constants().end()) result = real(at->second);
    return at != elementwise_constants().end();
  }
  if (elementwise_of_integers(name, a, result)) return true;
  if (a.size() == 1) {
    if (name == "to_int") return result = elementwise_to_integers(a[0]), true;
    if (name == "is_nan") return result = integer(std::isnan(a[0].number().value)), true;
    if (name == "is_inf") return result = integer(std::isinf(a[0].number().value)), true;
    if (name == "int_step") return result = integer(a[0].number().value > 0), true;
    const auto at = elementwise_ones().find(name);
    if (at != elementwise_ones().end()) result = map(a[0], at->second);
    return at != elementwise_ones().end();
  }
  if (a.size() == 2) {
    const auto at = elementwise_twos().find(name);
    if (at != elementwise_twos().end()) result = zip(a[0], a[1], at->second);
    return at != elementwise_twos().end();
  }
  if (a.size() == 3 && name == "fma") {
    const Value scaled = zip(a[0], a[1], [](const Number& x, const Number& y) { return x * y; });
    return result = zip(scaled, a[2], [](const Number& x, const Number& y) { return x + y; }), true;
  }
  if (a.size() == 3 && name == "inc_beta")
    return result = real(inc_beta(a[0].number(), a[1].number(), a[2].number())), true;
  if (a.size() == 3 && name == "inv_inc_beta")
    return result = real(inv_inc_beta(a[0].number(), a[1].number(), a[2].number())), true;
  if (a.size() == 3 && name == "log_mix") {
    const Number p = a[0].number();
    return result = real(log_sum_exp({log(p) + a[1].number(), log1m(p) + a[2].number()})), true;
  }
  return false;
}

}  // namespace adit::stan::reference
