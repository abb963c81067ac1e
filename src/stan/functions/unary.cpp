// Elementwise functions of one number. Where a formula has branches, the operand of the one that is not taken
// is replaced first, so that derivatives stay finite.
#include <array>
#include <cmath>
#include <numbers>

#include "stan/functions/formulas.hpp"
#include "stan/functions/numbers.hpp"

namespace adit::stan {

namespace {

constexpr double unary_pi = std::numbers::pi, unary_root2 = std::numbers::sqrt2;

Tensor unary_tgamma(const Tensor& x) {
  const Tensor is_pole = both(x <= real(0), floor(x) == x);
  const Tensor safe = select(is_pole, real(1), x);
  const Tensor value = sign_of_gamma(safe) * exp(lgamma(safe));
  return select(is_pole, select(x == real(0), reciprocal(x), not_a_number()), value);
}

// The derivative of trigamma: x is moved up by ten steps, then an asymptotic series. Below 0 by reflection.
Tensor unary_tetragamma(const Tensor& x) {
  const Tensor is_low = x <= real(0), up = select(is_low, real(1) - x, x);
  Tensor total = zeros_like(up);
  for (int k = 0; k < 10; ++k) total = total - real(2) * reciprocal((up + real(k)) * square(up + real(k)));
  const Tensor z = up + real(10), r = reciprocal(z), r2 = square(r);
  const Tensor series =
      r2 * (real(-1) - r + r2 * (real(-0.5) + r2 * (real(1.0 / 6) + r2 * (real(-1.0 / 6) + r2 * real(0.3)))));
  const Tensor angle = real(unary_pi) * guarded(is_low, x, -0.5), s = sin(angle);
  const Tensor reflected = real(-2 * unary_pi * unary_pi * unary_pi) * cos(angle) / (s * square(s));
  return select(is_low, total + series + reflected, total + series);
}
Tensor unary_trigamma(const Tensor& x) {
  const Tensor known = stop_gradient(x);
  return with_slope(trigamma(known), x, unary_tetragamma(known));
}

// erfc(z) = 2 P(Z > z sqrt 2)
Tensor unary_inv_erfc(const Tensor& x) { return -quantile_of_normal(x * real(0.5)) * real(1 / unary_root2); }
Tensor unary_phi(const Tensor& x) { return real(0.5) * erfc(-x * real(1 / unary_root2)); }
Tensor unary_phi_approx(const Tensor& x) { return sigmoid(x * (real(0.07056) * square(x) + real(1.5976))); }
// 1 - exp(-e^x); beyond 10 it is 1, and e^x would overflow.
Tensor unary_inv_cloglog(const Tensor& x) { return -expm1(-exp(minimum(x, real(10)))); }
Tensor unary_logit(const Tensor& x) { return log(x) - log1p(-x); }
Tensor unary_step(const Tensor& x) { return select(x < real(0), real(0), real(1)); }

constexpr std::array unary_table{
    UnaryFunction{"abs", [](const Tensor& x) { return abs(x); }, [](double x) { return std::fabs(x); }},
    UnaryFunction{"acos", [](const Tensor& x) { return acos(x); }, [](double x) { return std::acos(x); }},
    UnaryFunction{"acosh", [](const Tensor& x) { return acosh(x); }, [](double x) { return std::acosh(x); }},
    UnaryFunction{"asin", [](const Tensor& x) { return asin(x); }, [](double x) { return std::asin(x); }},
    UnaryFunction{"asinh", [](const Tensor& x) { return asinh(x); }, [](double x) { return std::asinh(x); }},
    UnaryFunction{"atan", [](const Tensor& x) { return atan(x); }, [](double x) { return std::atan(x); }},
    UnaryFunction{"atanh", [](const Tensor& x) { return atanh(x); }, [](double x) { return std::atanh(x); }},
    UnaryFunction{"cbrt", [](const Tensor& x) { return cbrt(x); }, [](double x) { return std::cbrt(x); }},
    UnaryFunction{"ceil", [](const Tensor& x) { return ceil(x); }, [](double x) { return std::ceil(x); }},
    UnaryFunction{"cos", [](const Tensor& x) { return cos(x); }, [](double x) { return std::cos(x); }},
    UnaryFunction{"cosh", [](const Tensor& x) { return cosh(x); }, [](double x) { return std::cosh(x); }},
    UnaryFunction{"digamma", [](const Tensor& x) { return digamma(x); }, numbers::digamma},
    UnaryFunction{"erf", [](const Tensor& x) { return erf(x); }, [](double x) { return std::erf(x); }},
    UnaryFunction{"erfc", [](const Tensor& x) { return erfc(x); }, [](double x) { return std::erfc(x); }},
    UnaryFunction{"exp", [](const Tensor& x) { return exp(x); }, [](double x) { return std::exp(x); }},
    UnaryFunction{"exp2", [](const Tensor& x) { return exp2(x); }, [](double x) { return std::exp2(x); }},
    UnaryFunction{"expm1", [](const Tensor& x) { return expm1(x); }, [](double x) { return std::expm1(x); }},
    UnaryFunction{"fabs", [](const Tensor& x) { return abs(x); }, [](double x) { return std::fabs(x); }},
    UnaryFunction{"floor", [](const Tensor& x) { return floor(x); }, [](double x) { return std::floor(x); }},
    UnaryFunction{"int_step", [](const Tensor& x) { return select(is_positive(x), real(1), real(0)); },
                  [](double x) { return x > 0 ? 1.0 : 0.0; }},
    UnaryFunction{"inv", [](const Tensor& x) { return reciprocal(x); }, [](double x) { return 1 / x; }},
    UnaryFunction{"inv_Phi", quantile_of_normal, numbers::normal_quantile},
    UnaryFunction{"inv_cloglog", unary_inv_cloglog, [](double x) { return -std::expm1(-std::exp(x)); }},
    UnaryFunction{"inv_erfc", unary_inv_erfc, numbers::inv_erfc},
    UnaryFunction{"inv_logit", [](const Tensor& x) { return sigmoid(x); }, numbers::inv_logit},
    UnaryFunction{"inv_sqrt", [](const Tensor& x) { return rsqrt(x); },
                  [](double x) { return 1 / std::sqrt(x); }},
    UnaryFunction{"inv_square", [](const Tensor& x) { return reciprocal(square(x)); },
                  [](double x) { return 1 / (x * x); }},
    UnaryFunction{"is_inf", [](const Tensor& x) { return as_type(is_infinity(x), DType::f64); },
                  [](double x) { return std::isinf(x) ? 1.0 : 0.0; }},
    UnaryFunction{"is_nan", [](const Tensor& x) { return as_type(is_nan(x), DType::f64); },
                  [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
    UnaryFunction{"lambert_w0", lambert_w0, numbers::lambert_w0},
    UnaryFunction{"lambert_wm1", lambert_wm1, numbers::lambert_wm1},
    UnaryFunction{"lgamma", [](const Tensor& x) { return lgamma(x); }, numbers::log_gamma},
    UnaryFunction{"log", [](const Tensor& x) { return log(x); }, [](double x) { return std::log(x); }},
    UnaryFunction{"log10", [](const Tensor& x) { return log10(x); }, [](double x) { return std::log10(x); }},
    UnaryFunction{"log1m", [](const Tensor& x) { return log1p(-x); },
                  [](double x) { return std::log1p(-x); }},
    UnaryFunction{"log1m_exp", stats::log1m_exp, numbers::log1m_exp},
    UnaryFunction{"log1m_inv_logit", [](const Tensor& x) { return log_sigmoid(-x); },
                  [](double x) { return numbers::log_inv_logit(-x); }},
    UnaryFunction{"log1p", [](const Tensor& x) { return log1p(x); }, [](double x) { return std::log1p(x); }},
    UnaryFunction{"log1p_exp", [](const Tensor& x) { return softplus(x); },
                  [](double x) { return -numbers::log_inv_logit(-x); }},
    UnaryFunction{"log2", [](const Tensor& x) { return log2(x); }, [](double x) { return std::log2(x); }},
    UnaryFunction{"log_inv_logit", [](const Tensor& x) { return log_sigmoid(x); }, numbers::log_inv_logit},
    UnaryFunction{"logit", unary_logit, [](double x) { return std::log(x) - std::log1p(-x); }},
    UnaryFunction{"minus", [](const Tensor& x) { return -x; }, [](double x) { return -x; }},
    UnaryFunction{"Phi", unary_phi, [](double x) { return 0.5 * std::erfc(-x / unary_root2); }},
    UnaryFunction{"Phi_approx", unary_phi_approx,
                  [](double x) { return numbers::inv_logit(x * (0.07056 * x * x + 1.5976)); }},
    UnaryFunction{"plus", [](const Tensor& x) { return x; }, [](double x) { return x; }},
    UnaryFunction{"round", [](const Tensor& x) { return round(x); }, [](double x) { return std::round(x); }},
    UnaryFunction{"sin", [](const Tensor& x) { return sin(x); }, [](double x) { return std::sin(x); }},
    UnaryFunction{"sinh", [](const Tensor& x) { return sinh(x); }, [](double x) { return std::sinh(x); }},
    UnaryFunction{"sqrt", [](const Tensor& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }},
    UnaryFunction{"square", [](const Tensor& x) { return square(x); }, [](double x) { return x * x; }},
    UnaryFunction{"std_normal_log_qf", quantile_of_normal_by_log, numbers::normal_quantile_of_log},
    UnaryFunction{"std_normal_qf", quantile_of_normal, numbers::normal_quantile},
    UnaryFunction{"step", unary_step, [](double x) { return x < 0 ? 0.0 : 1.0; }},
    UnaryFunction{"tan", [](const Tensor& x) { return tan(x); }, [](double x) { return std::tan(x); }},
    UnaryFunction{"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); }},
    UnaryFunction{"tgamma", unary_tgamma, [](double x) { return std::tgamma(x); }},
    UnaryFunction{"trigamma", unary_trigamma, numbers::trigamma},
    UnaryFunction{"trunc", [](const Tensor& x) { return trunc(x); }, [](double x) { return std::trunc(x); }},
};

}  // namespace

std::span<const UnaryFunction> unary_functions() { return unary_table; }

}  // namespace adit::stan
