// Elementwise functions of two numbers, and of three.
#include <array>
#include <cmath>

#include "stan/functions/formulas.hpp"
#include "stan/functions/numbers.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor binary_multiply_log(const Tensor& a, const Tensor& b) {
  const Tensor is_nothing = both(a == real(0), b == real(0));
  return a * log(select(is_nothing, real(1), b));
}
// A NaN counts as missing.
Tensor binary_fmax(const Tensor& a, const Tensor& b) {
  return select(is_nan(a), b, select(is_nan(b), a, maximum(a, b)));
}
Tensor binary_fmin(const Tensor& a, const Tensor& b) {
  return select(is_nan(a), b, select(is_nan(b), a, minimum(a, b)));
}
Tensor binary_fdim(const Tensor& a, const Tensor& b) {
  const Tensor is_below = a <= b;
  return select(is_below, real(0), a - select(is_below, a, b));
}
Tensor binary_beta(const Tensor& a, const Tensor& b) { return exp(log_beta(a, b)); }
Tensor binary_choose(const Tensor& n, const Tensor& k) { return round(exp(log_choose(n, k))); }
Tensor binary_log_inv_logit_diff(const Tensor& a, const Tensor& b) {
  return log_sigmoid(a) + stats::log1m_exp(b - a) + log_sigmoid(-b);
}

// log |gamma(x + n) / gamma(x)|; for x > 0 without cancellation.
Tensor binary_log_rising(const Tensor& x, const Tensor& n) {
  const Tensor is_plain = both(is_positive(x), n >= real(0));
  const Tensor plain = log_rising(guarded(is_plain, x, 1), guarded(is_plain, n, 1));
  const Tensor other = select(is_plain, real(-0.5), x), steps = select(is_plain, real(0), n);
  return select(is_plain, plain, lgamma(other + steps) - lgamma(other));
}
Tensor binary_rising(const Tensor& x, const Tensor& n) {
  return sign_of_gamma(x) * sign_of_gamma(x + n) * exp(binary_log_rising(x, n));
}
Tensor binary_log_falling(const Tensor& x, const Tensor& n) { return binary_log_rising(x - n + real(1), n); }
Tensor binary_falling(const Tensor& x, const Tensor& n) { return binary_rising(x - n + real(1), n); }

Tensor binary_log_loss(const Tensor& y, const Tensor& p) {
  const Tensor is_one = y != real(0);
  return -select(is_one, log(guarded(is_one, p, 1)), log1p(-select(is_one, real(0), p)));
}

constexpr std::array binary_table{
    BinaryFunction{"atan2", [](const Tensor& a, const Tensor& b) { return atan2(a, b); },
                   [](double a, double b) { return std::atan2(a, b); }},
    BinaryFunction{"bessel_first_kind", bessel_j, numbers::bessel_j},
    BinaryFunction{"bessel_second_kind", bessel_y, numbers::bessel_y},
    BinaryFunction{"beta", binary_beta, numbers::beta},
    BinaryFunction{"binary_log_loss", binary_log_loss, numbers::binary_log_loss},
    BinaryFunction{"binomial_coefficient_log", log_choose, numbers::log_choose},
    BinaryFunction{"choose", binary_choose, numbers::choose},
    BinaryFunction{"falling_factorial", binary_falling, numbers::falling_factorial},
    BinaryFunction{"fdim", binary_fdim, [](double a, double b) { return std::fdim(a, b); }},
    BinaryFunction{"fmax", binary_fmax, [](double a, double b) { return std::fmax(a, b); }},
    BinaryFunction{"fmin", binary_fmin, [](double a, double b) { return std::fmin(a, b); }},
    BinaryFunction{"fmod", [](const Tensor& a, const Tensor& b) { return remainder(a, b); },
                   [](double a, double b) { return std::fmod(a, b); }},
    BinaryFunction{"gamma_p", [](const Tensor& a, const Tensor& b) { return exp(log_gamma_p(a, b)); },
                   numbers::gamma_p},
    BinaryFunction{"gamma_q", [](const Tensor& a, const Tensor& b) { return exp(log_gamma_q(a, b)); },
                   numbers::gamma_q},
    BinaryFunction{"hypot", [](const Tensor& a, const Tensor& b) { return hypot(a, b); },
                   [](double a, double b) { return std::hypot(a, b); }},
    BinaryFunction{"lbeta", log_beta, numbers::log_beta},
    BinaryFunction{"lchoose", log_choose, numbers::log_choose},
    BinaryFunction{"ldexp", [](const Tensor& a, const Tensor& b) { return a * exp2(b); },
                   [](double a, double b) { return a * std::exp2(b); }},
    BinaryFunction{"lmultiply", binary_multiply_log, numbers::multiply_log},
    BinaryFunction{"log_diff_exp", log_diff_exp, numbers::log_diff_exp},
    BinaryFunction{"log_falling_factorial", binary_log_falling, numbers::log_falling_factorial},
    BinaryFunction{"log_inv_logit_diff", binary_log_inv_logit_diff, numbers::log_inv_logit_diff},
    BinaryFunction{"log_modified_bessel_first_kind", log_bessel_i, numbers::log_bessel_i},
    BinaryFunction{"log_rising_factorial", binary_log_rising, numbers::log_rising_factorial},
    BinaryFunction{"log_sum_exp", log_sum_exp_of_two, numbers::log_sum_exp},
    BinaryFunction{"lower_bound_constrain", lower_bound_constrain, nullptr},
    BinaryFunction{"lower_bound_log_determinant", lower_bound_log_determinant, nullptr},
    BinaryFunction{"lower_bound_unconstrain", lower_bound_unconstrain, nullptr},
    BinaryFunction{"modified_bessel_first_kind", bessel_i, numbers::bessel_i},
    BinaryFunction{"modified_bessel_second_kind", bessel_k, numbers::bessel_k},
    BinaryFunction{"modulus", [](const Tensor& a, const Tensor& b) { return remainder(a, b); },
                   [](double a, double b) { return std::fmod(a, b); }},
    BinaryFunction{"multiply_log", binary_multiply_log, numbers::multiply_log},
    BinaryFunction{"owens_t", owens_t, numbers::owens_t},
    BinaryFunction{"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); },
                   [](double a, double b) { return std::pow(a, b); }},
    BinaryFunction{"rising_factorial", binary_rising, numbers::rising_factorial},
    BinaryFunction{"upper_bound_constrain", upper_bound_constrain, nullptr},
    BinaryFunction{"upper_bound_log_determinant", upper_bound_log_determinant, nullptr},
    BinaryFunction{"upper_bound_unconstrain", upper_bound_unconstrain, nullptr},
};

Tensor ternary_log_mix(const Tensor& theta, const Tensor& a, const Tensor& b) {
  return log_sum_exp_of_two(stats::log_from_zero(theta) + a, stats::log1m_to_one(theta) + b);
}
Tensor ternary_inc_beta(const Tensor& a, const Tensor& b, const Tensor& x) {
  return exp(log_incomplete_beta(a, b, x, real(1) - x));
}

constexpr std::array ternary_table{
    TernaryFunction{"fma", [](const Tensor& a, const Tensor& b, const Tensor& c) { return a * b + c; },
                    [](double a, double b, double c) { return std::fma(a, b, c); }},
    TernaryFunction{"inc_beta", ternary_inc_beta, numbers::incomplete_beta},
    TernaryFunction{"inv_inc_beta", inverse_incomplete_beta, numbers::inverse_incomplete_beta},
    TernaryFunction{"log_mix", ternary_log_mix, numbers::log_mix},
    TernaryFunction{"lower_upper_bound_constrain", lower_upper_bound_constrain, nullptr},
    TernaryFunction{"lower_upper_bound_log_determinant", lower_upper_bound_log_determinant, nullptr},
    TernaryFunction{"lower_upper_bound_unconstrain", lower_upper_bound_unconstrain, nullptr},
    TernaryFunction{"offset_multiplier_constrain", offset_multiplier_constrain, nullptr},
    TernaryFunction{"offset_multiplier_log_determinant", offset_multiplier_log_determinant, nullptr},
    TernaryFunction{"offset_multiplier_unconstrain", offset_multiplier_unconstrain, nullptr},
};

}  // namespace

std::span<const BinaryFunction> binary_functions() { return binary_table; }
std::span<const TernaryFunction> ternary_functions() { return ternary_table; }

}  // namespace adit::stan
