#include "math_reference.hpp"

#include <cmath>

namespace adit::test::exact {

void rsqrt(Real& result, const Real& x, const Real&) {
  mpfr_rec_sqrt(result, x, MPFR_RNDN);
  if (mpfr_zero_p(x)) mpfr_copysign(result, result, x, MPFR_RNDN);
}

namespace {

// Winitzki's closed form, good to 0.2 %.
double erf_inv_guess(double x) {
  if (std::abs(x) < 1e-8) return 0.886226925452758 * x;
  double logarithm = std::log1p(-x * x), middle = 2 / (M_PI * 0.147) + logarithm / 2;
  return std::copysign(std::sqrt(std::sqrt(middle * middle - logarithm / 0.147) - middle), x);
}

}  // namespace

// Halley's method on erf(y) = x; near 1 on erfc(y) = 1 - x, which is exact there. Each step triples the
// digits.
void erf_inv(Real& result, const Real& x, const Real&) {
  if (mpfr_nan_p(x) || mpfr_cmpabs(x, Real(1)) > 0) return mpfr_set_nan(result);
  if (mpfr_cmpabs(x, Real(1)) == 0) return mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
  mpfr_set(result, x, MPFR_RNDN);
  if (mpfr_zero_p(x)) return;
  Real a, y, value, slope, gap, scale;
  mpfr_abs(a, x, MPFR_RNDN);
  mpfr_ui_sub(gap, 1, a, MPFR_RNDN);
  bool tail = mpfr_cmp_d(a, 0.5) > 0;
  double start = mpfr_get_d(a, MPFR_RNDN);
  mpfr_set_d(y, start < 1 ? erf_inv_guess(start) : 5.8, MPFR_RNDN);
  mpfr_const_pi(scale, MPFR_RNDN);
  mpfr_sqrt(scale, scale, MPFR_RNDN);
  mpfr_div_2ui(scale, scale, 1, MPFR_RNDN);
  for (int step = 0; step < 5; ++step) {
    if (tail) {
      mpfr_erfc(value, y, MPFR_RNDN);
      mpfr_sub(value, gap, value, MPFR_RNDN);
    } else {
      mpfr_erf(value, y, MPFR_RNDN);
      mpfr_sub(value, value, a, MPFR_RNDN);
    }
    mpfr_sqr(slope, y, MPFR_RNDN);
    mpfr_exp(slope, slope, MPFR_RNDN);
    mpfr_mul(value, value, slope, MPFR_RNDN);
    mpfr_mul(value, value, scale, MPFR_RNDN);
    mpfr_fma(slope, y, value, Real(1), MPFR_RNDN);
    mpfr_div(value, value, slope, MPFR_RNDN);
    mpfr_sub(y, y, value, MPFR_RNDN);
    if (mpfr_zero_p(value) || mpfr_get_exp(value) < mpfr_get_exp(y) - 50) break;
  }
  mpfr_copysign(result, y, x, MPFR_RNDN);
}

void lgamma(Real& result, const Real& x, const Real&) {
  int sign = 0;
  mpfr_lgamma(result, &sign, x, MPFR_RNDN);
}

void digamma(Real& result, const Real& x, const Real&) {
  if (mpfr_zero_p(x)) return mpfr_set_inf(result, mpfr_signbit(x) ? 1 : -1);
  mpfr_digamma(result, x, MPFR_RNDN);
}

namespace {

// For x > 0: the recurrence up to 40, then the asymptotic series 1 / x + 1 / (2 x^2) + sum of B_2k / x^(2k +
// 1).
void trigamma_right(Real& result, const Real& x) {
  constexpr double bernoulli[][2] = {{1, 6},        {-1, 30},
                                     {1, 42},       {-1, 30},
                                     {5, 66},       {-691, 2730},
                                     {7, 6},        {-3617, 510},
                                     {43867, 798},  {-174611, 330},
                                     {854513, 138}, {-236364091, 2730},
                                     {8553103, 6},  {-23749461029.0, 870}};
  Real a, inverse, square, power, term;
  mpfr_set(a, x, MPFR_RNDN);
  mpfr_set_zero(result, 1);
  while (mpfr_cmp_d(a, 40) < 0) {
    mpfr_sqr(term, a, MPFR_RNDN);
    mpfr_ui_div(term, 1, term, MPFR_RNDN);
    mpfr_add(result, result, term, MPFR_RNDN);
    mpfr_add_ui(a, a, 1, MPFR_RNDN);
  }
  mpfr_ui_div(inverse, 1, a, MPFR_RNDN);
  mpfr_sqr(square, inverse, MPFR_RNDN);
  mpfr_add(result, result, inverse, MPFR_RNDN);
  mpfr_div_2ui(term, square, 1, MPFR_RNDN);
  mpfr_add(result, result, term, MPFR_RNDN);
  mpfr_set(power, inverse, MPFR_RNDN);
  for (const auto& [over, under] : bernoulli) {
    mpfr_mul(power, power, square, MPFR_RNDN);
    mpfr_mul_d(term, power, over, MPFR_RNDN);
    mpfr_div_d(term, term, under, MPFR_RNDN);
    mpfr_add(result, result, term, MPFR_RNDN);
  }
}

}  // namespace

// On the left (pi / sin(pi r))^2 - trigamma(1 - x), with r the distance from the nearest pole.
void trigamma(Real& result, const Real& x, const Real&) {
  if (mpfr_nan_p(x) || (mpfr_inf_p(x) && mpfr_signbit(x))) return mpfr_set_nan(result);
  if (mpfr_inf_p(x)) return mpfr_set_zero(result, 1);
  if (!mpfr_signbit(x) && !mpfr_zero_p(x)) return trigamma_right(result, x);
  if (mpfr_integer_p(x)) return mpfr_set_inf(result, 1);
  Real mirror, sine, pi;
  mpfr_rint(mirror, x, MPFR_RNDN);
  mpfr_sub(sine, x, mirror, MPFR_RNDN);
  mpfr_const_pi(pi, MPFR_RNDN);
  mpfr_mul(sine, sine, pi, MPFR_RNDN);
  mpfr_sin(sine, sine, MPFR_RNDN);
  mpfr_div(sine, pi, sine, MPFR_RNDN);
  mpfr_sqr(sine, sine, MPFR_RNDN);
  mpfr_ui_sub(mirror, 1, x, MPFR_RNDN);
  trigamma_right(result, mirror);
  mpfr_sub(result, sine, result, MPFR_RNDN);
}

void sigmoid(Real& result, const Real& x, const Real&) {
  Real below;
  mpfr_neg(below, x, MPFR_RNDN);
  mpfr_exp(below, below, MPFR_RNDN);
  mpfr_add_ui(below, below, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, below, MPFR_RNDN);
}

void softplus(Real& result, const Real& x, const Real&) {
  Real tail;
  mpfr_abs(tail, x, MPFR_RNDN);
  mpfr_neg(tail, tail, MPFR_RNDN);
  mpfr_exp(tail, tail, MPFR_RNDN);
  mpfr_log1p(tail, tail, MPFR_RNDN);
  if (mpfr_nan_p(x) || !mpfr_signbit(x))
    mpfr_add(result, x, tail, MPFR_RNDN);
  else
    mpfr_set(result, tail, MPFR_RNDN);
}

void log_sigmoid(Real& result, const Real& x, const Real& y) {
  Real minus;
  mpfr_neg(minus, x, MPFR_RNDN);
  softplus(result, minus, y);
  mpfr_neg(result, result, MPFR_RNDN);
}

// The sign of y, a zero's too, as Python's % has it.
void floor_mod(Real& result, const Real& x, const Real& y) {
  mpfr_fmod(result, x, y, MPFR_RNDN);
  if (mpfr_nan_p(result)) return;
  if (mpfr_zero_p(result))
    mpfr_copysign(result, result, y, MPFR_RNDN);
  else if (mpfr_signbit(result) != mpfr_signbit(y))
    mpfr_add(result, result, y, MPFR_RNDN);
}

void sign(Real& result, const Real& x, const Real&) {
  mpfr_set(result, x, MPFR_RNDN);
  if (!mpfr_nan_p(x) && !mpfr_zero_p(x)) mpfr_set_si(result, mpfr_signbit(x) ? -1 : 1, MPFR_RNDN);
}

}  // namespace adit::test::exact
