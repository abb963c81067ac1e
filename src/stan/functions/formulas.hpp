// Formulas that several built-in functions share. Numbers of formulas are written real(0.5), see
// stats/formula.hpp.
#pragma once

#include <functional>

#include "stan/functions/table.hpp"
#include "stats/formula.hpp"
#include "stats/whole_number.hpp"

namespace adit::stan {

using stats::distance;
using stats::guarded;
using stats::infinity;
using stats::minus_infinity;
using stats::not_a_number;
using stats::real;
using stats::support_term;

// A domain of parameters as a term of a log density: 0 inside, NaN outside.
inline Tensor domain_term(const Tensor& inside) { return select(inside, real(0), not_a_number()); }
inline Tensor both(const Tensor& a, const Tensor& b) { return logical_and(a, b); }
inline Tensor is_positive(const Tensor& x) { return x > real(0); }
inline Tensor is_finite(const Tensor& x) { return abs(x) < infinity(); }

// A value whose derivative with respect to x is `slope`, both computed without derivatives of their own: adds
// slope (x - x), which is 0. Not for second derivatives.
inline Tensor with_slope(const Tensor& value, const Tensor& x, const Tensor& slope) {
  const Tensor safe = select(is_finite(x), x, real(0));
  const Tensor known = stop_gradient(slope);
  return stop_gradient(value) + (safe - stop_gradient(safe)) * select(is_finite(known), known, real(0));
}

// The logarithm of a sum of powers, whose terms have no derivative where it is 0: none of them can be.
Tensor log_of_powers(const Tensor& sum);
// log(e^a + e^b), log(e^a - e^b); infinities as limits.
Tensor log_sum_exp_of_two(const Tensor& a, const Tensor& b);
Tensor log_diff_exp(const Tensor& a, const Tensor& b);
// log(1 - exp(-e^h)), sharp for every h.
Tensor log1m_exp_minus_exp(const Tensor& h);
// log(p(0) + ... + p(last)), last = 0, 1, ..., by log p(last) and log p(j + 1) - log p(j): a loop from the
// last one down.
Tensor log_sum_of_masses(const Tensor& log_last, const Tensor& last,
                         const std::function<Tensor(const Tensor& j)>& log_ratio);
// z with P(Z <= z) = p
Tensor quantile_of_normal(const Tensor& p);
Tensor quantile_of_normal_by_log(const Tensor& log_p);

// --- Gamma and beta functions ------------------------------------------------------------------------------
// log gamma(a + x) - log gamma(a) for a > 0, x >= 0, without the cancellation of large terms.
Tensor log_rising(const Tensor& a, const Tensor& x);
Tensor log_beta(const Tensor& a, const Tensor& b);
// log of n choose k, of reals as well; -infinity where k < 0 or k > n.
Tensor log_choose(const Tensor& n, const Tensor& k);
Tensor sign_of_gamma(const Tensor& x);
// log I_0(k) - k, k >= 0.
Tensor log_bessel_i0_scaled(const Tensor& k);

// log of the regularised incomplete gamma functions, P (lower) and Q (upper), a > 0, x >= 0; derivatives in
// both arguments. Relative error some 1e-13 of P and Q.
Tensor log_gamma_p(const Tensor& a, const Tensor& x);
Tensor log_gamma_q(const Tensor& a, const Tensor& x);
// log I_x(a, b) with y = 1 - x given besides, so that either may be tiny.
Tensor log_incomplete_beta(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& y);
// x with I_x(a, b) = p.
Tensor inverse_incomplete_beta(const Tensor& a, const Tensor& b, const Tensor& p);
// Owen's T function.
Tensor owens_t(const Tensor& h, const Tensor& a);

// --- Modified Bessel functions and Lambert's W (bessel.cpp) -----------------------------------------------
// log I_v(z) for v >= 0, with derivatives in both; I_n and K_n of whole n.
Tensor log_bessel_i(const Tensor& v, const Tensor& z);
Tensor bessel_i(const Tensor& n, const Tensor& z);
Tensor bessel_k(const Tensor& n, const Tensor& z);
// J_n and Y_n of whole n (bessel_real.cpp).
Tensor bessel_j(const Tensor& n, const Tensor& z);
Tensor bessel_y(const Tensor& n, const Tensor& z);
// The branches of w e^w = x above and below -1.
Tensor lambert_w0(const Tensor& x);
Tensor lambert_wm1(const Tensor& x);

}  // namespace adit::stan
