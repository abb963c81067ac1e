// The same functions for numbers that are known before anything is traced. None of them throws: NaN outside
// of a domain, infinities at poles.
#pragma once

namespace adit::stan::numbers {

double digamma(double x);
double trigamma(double x);
double log_gamma(double x);
double normal_quantile(double p);
double normal_quantile_of_log(double log_p);
double inv_erfc(double x);
double inv_logit(double x);
double log_inv_logit(double x);
double log1m_exp(double x);

double beta(double a, double b);
double log_beta(double a, double b);
double log_choose(double n, double k);
double choose(double n, double k);
double log_sum_exp(double a, double b);
double log_diff_exp(double a, double b);
double log_inv_logit_diff(double a, double b);
double multiply_log(double a, double b);
double rising_factorial(double x, double n);
double falling_factorial(double x, double n);
double log_rising_factorial(double x, double n);
double log_falling_factorial(double x, double n);
double gamma_p(double a, double x);
double gamma_q(double a, double x);
double owens_t(double h, double a);
double log_bessel_i(double v, double z);
double bessel_j(double n, double z);
double bessel_y(double n, double z);
double bessel_i(double n, double z);
double bessel_k(double n, double z);
double lambert_w0(double x);
double lambert_wm1(double x);
double binary_log_loss(double y, double p);

double incomplete_beta(double a, double b, double x);
double inverse_incomplete_beta(double a, double b, double p);
double log_mix(double theta, double a, double b);

}  // namespace adit::stan::numbers
