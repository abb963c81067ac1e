#include "stan/signature_rows.hpp"

namespace adit::stan {

namespace {

constexpr const char* one_number = "elementwise (numbers)";
constexpr const char* two_numbers = "elementwise (numbers, numbers)";

constexpr Signature table_constants[] = {
    {"e", "real ()", "The base of the natural logarithm."},
    {"log10", "real ()", "The natural logarithm of 10."},
    {"log2", "real ()", "The natural logarithm of 2."},
    {"machine_precision", "real ()", "The distance from 1 to the next number."},
    {"negative_infinity", "real ()", "Minus infinity."},
    {"not_a_number", "real ()", "NaN."},
    {"pi", "real ()", "The circumference of a circle over its diameter."},
    {"positive_infinity", "real ()", "Infinity."},
    {"sqrt2", "real ()", "The square root of 2."},
};

constexpr Signature table_unary[] = {
    {"Phi", one_number, "The cumulative probability of the standard normal distribution."},
    {"Phi_approx", one_number, "A quick approximation of Phi by the logistic function."},
    {"abs", "integers (integers)", "The absolute value of integers."},
    {"abs", one_number, "The absolute value."},
    {"acos", one_number, "The arc cosine."},
    {"acosh", one_number, "The inverse hyperbolic cosine."},
    {"asin", one_number, "The arc sine."},
    {"asinh", one_number, "The inverse hyperbolic sine."},
    {"atan", one_number, "The arc tangent."},
    {"atanh", one_number, "The inverse hyperbolic tangent."},
    {"cbrt", one_number, "The cube root."},
    {"ceil", one_number, "The least whole number that is not less."},
    {"cos", one_number, "The cosine."},
    {"cosh", one_number, "The hyperbolic cosine."},
    {"digamma", one_number, "The derivative of lgamma."},
    {"erf", one_number, "The error function."},
    {"erfc", one_number, "1 less the error function."},
    {"exp", one_number, "e to the power of x."},
    {"exp2", one_number, "2 to the power of x."},
    {"expm1", one_number, "exp(x) - 1, precise near 0."},
    {"floor", one_number, "The greatest whole number that is not greater."},
    {"inv", one_number, "1 over x."},
    {"inv_Phi", one_number, "The quantile of the standard normal distribution."},
    {"inv_cloglog", one_number, "1 - exp(-exp(x))."},
    {"inv_erfc", one_number, "The inverse of erfc."},
    {"inv_logit", one_number, "The logistic function."},
    {"inv_sqrt", one_number, "1 over the square root."},
    {"inv_square", one_number, "1 over the square."},
    {"lgamma", one_number, "The logarithm of the absolute value of the gamma function."},
    {"log", one_number, "The natural logarithm."},
    {"log10", one_number, "The logarithm to base 10."},
    {"log1m", one_number, "log(1 - x)."},
    {"log1m_exp", one_number, "log(1 - exp(x)) for negative x."},
    {"log1m_inv_logit", one_number, "log(1 - inv_logit(x))."},
    {"log1p", one_number, "log(1 + x)."},
    {"log1p_exp", one_number, "log(1 + exp(x))."},
    {"log2", one_number, "The logarithm to base 2."},
    {"log_inv_logit", one_number, "log(inv_logit(x))."},
    {"logit", one_number, "The log odds of a probability."},
    {"round", one_number, "The nearest whole number, halves away from 0."},
    {"sin", one_number, "The sine."},
    {"sinh", one_number, "The hyperbolic sine."},
    {"sqrt", one_number, "The square root."},
    {"square", one_number, "x times x."},
    {"std_normal_log_qf", one_number, "The quantile of the standard normal distribution at exp(x)."},
    {"std_normal_qf", one_number, "The quantile of the standard normal distribution."},
    {"step", "real (real)", "1 where x is not negative, else 0."},
    {"tan", one_number, "The tangent."},
    {"tanh", one_number, "The hyperbolic tangent."},
    {"tgamma", one_number, "The gamma function."},
    {"trigamma", one_number, "The second derivative of lgamma."},
    {"trunc", one_number, "The whole number towards 0."},
};

constexpr Signature table_binary[] = {
    {"atan2", two_numbers, "The angle of the point (x, y), given as (y, x)."},
    {"beta", two_numbers, "The beta function."},
    {"fdim", two_numbers, "x - y where that is positive, else 0."},
    {"fma", "elementwise (dense, dense, dense)", "x * y + z."},
    {"fmax", two_numbers, "The greater one."},
    {"fmin", two_numbers, "The lesser one."},
    {"fmod", two_numbers, "The remainder of x / y with the sign of x."},
    {"hypot", two_numbers, "sqrt(x^2 + y^2)."},
    {"lbeta", two_numbers, "The logarithm of the beta function."},
    {"lchoose", two_numbers, "The logarithm of the binomial coefficient, for reals too."},
    {"ldexp", "elementwise (numbers, integers)", "x * 2^n."},
    {"lmultiply", two_numbers, "x * log(y), which is 0 where x and y are."},
    {"log_diff_exp", two_numbers, "log(exp(x) - exp(y))."},
    {"log_inv_logit_diff", two_numbers, "log(inv_logit(x) - inv_logit(y))."},
    {"log_mix", "real (real, real, real)",
     "The log of a mixture of two densities by its weight and their logs."},
    {"log_mix", "real (list, list)", "The log of a mixture of densities by weights and their logs."},
    {"log_mix", "real (list, vector[])", "The sum of log mixtures with the same weights."},
    {"log_mix", "real (list, row_vector[])", "The sum of log mixtures with the same weights."},
    {"log_sum_exp", two_numbers, "log(exp(x) + exp(y))."},
    {"pow", two_numbers, "x to the power of y."},
};

constexpr Signature table_special[] = {
    {"bessel_first_kind", "elementwise (integers, numbers)",
     "The Bessel function of the first kind, of order n and at z."},
    {"bessel_second_kind", "elementwise (integers, numbers)",
     "The Bessel function of the second kind, of order n and at z."},
    {"binary_log_loss", "elementwise (integers, numbers)",
     "The loss of a probability given the outcome 0 or 1."},
    {"falling_factorial", "integers (integers, integers)", "x (x - 1) ... (x - n + 1) of integers."},
    {"falling_factorial", "elementwise (numbers, integers)", "x (x - 1) ... (x - n + 1)."},
    {"gamma_p", two_numbers, "The regularised lower incomplete gamma function."},
    {"gamma_q", two_numbers, "The regularised upper incomplete gamma function."},
    {"hypergeometric_1F0", "real (real, real)", "(1 - z)^-a for z below 1."},
    {"hypergeometric_2F1", "real (real, real, real, real)",
     "Gauss's hypergeometric function of a, b, c and z at most 1."},
    {"hypergeometric_3F2", "real (list, list, real)",
     "The hypergeometric function of three numbers, two and z between -1 and 1."},
    {"hypergeometric_pFq", "real (list, list, real)",
     "The hypergeometric function of lists a and b at z, where its sum converges."},
    {"inc_beta", "real (real, real, real)", "The regularised incomplete beta function of a, b and x."},
    {"inv_inc_beta", "real (real, real, real)",
     "The x whose regularised incomplete beta function with a and b is p."},
    {"lmgamma", "elementwise (integers, numbers)", "The logarithm of the multivariate gamma function."},
    {"lambert_w0", one_number, "The w above -1 with w exp(w) = x."},
    {"lambert_wm1", one_number, "The w below -1 with w exp(w) = x."},
    {"log_falling_factorial", two_numbers, "The logarithm of the falling factorial."},
    {"log_modified_bessel_first_kind", two_numbers,
     "The logarithm of the modified Bessel function of the first kind, of order v and at z."},
    {"log_rising_factorial", two_numbers, "The logarithm of the rising factorial."},
    {"modified_bessel_first_kind", "elementwise (integers, numbers)",
     "The modified Bessel function of the first kind, of order n and at z."},
    {"modified_bessel_second_kind", "elementwise (integers, numbers)",
     "The modified Bessel function of the second kind, of order n and at z."},
    {"owens_t", two_numbers, "Owen's T function."},
    {"rising_factorial", "integers (integers, integers)", "x (x + 1) ... (x + n - 1) of integers."},
    {"rising_factorial", "elementwise (numbers, integers)", "x (x + 1) ... (x + n - 1)."},
    {"student_t_qf", "real (real, real, real, real)",
     "The quantile of Student's t distribution at p, with degrees, location and scale."},
};

constexpr Signature table_integer[] = {
    {"choose", "integers (integers, integers)", "The number of ways to choose y things of x."},
    {"int_step", "int (real)", "1 where x is positive, else 0."},
    {"is_inf", "int (real)", "Whether a number is infinite."},
    {"is_nan", "int (real)", "Whether a number is NaN."},
    {"max", "int (int, int)", "The greater of two integers."},
    {"min", "int (int, int)", "The lesser of two integers."},
    {"modulus", "int (int, int)", "The remainder of x / y with the sign of x."},
    {"to_int", "integers (scalars)", "Reals, which must be data, as integers, towards 0."},
};

constexpr Signature table_old[] = {
    {"binomial_coefficient_log", two_numbers, "The old name of lchoose."},
    {"cov_exp_quad", "matrix (real[], real, real)", "The old name of gp_exp_quad_cov."},
    {"cov_exp_quad", "matrix (vector[], real, real)", "The old name of gp_exp_quad_cov."},
    {"cov_exp_quad", "matrix (real[], real[], real, real)", "The old name of gp_exp_quad_cov."},
    {"cov_exp_quad", "matrix (vector[], vector[], real, real)", "The old name of gp_exp_quad_cov."},
    {"fabs", one_number, "The old name of abs."},
    {"multiply_log", two_numbers, "The old name of lmultiply."},
};

}  // namespace

std::span<const Signature> constant_rows() { return table_constants; }
std::span<const Signature> unary_rows() { return table_unary; }
std::span<const Signature> binary_rows() { return table_binary; }
std::span<const Signature> special_rows() { return table_special; }
std::span<const Signature> integer_rows() { return table_integer; }
std::span<const Signature> old_rows() { return table_old; }

}  // namespace adit::stan
