// e^x = 2^k e^r with k the integer nearest to x / ln 2, so |r| <= ln 2 / 2.
#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

// The first product is exact inside the fma: x - k ln2_high is a multiple of 2^-54 and below 1/2. The tail is
// what the rounding of r leaves.
ExpReduction reduce_exp(Value x) {
  Nearest k = nearest(x, log2_e);
  Value t = fma(k.number, -ln2_high, x);
  Value r = fma(k.number, -ln2_low, t);
  return {r, fma(k.number, -ln2_low, t - r), k.integer};
}

// Absolute error of r^2 times this: 2^-62.
Value exp_quadratic(Value r) {
  return polynomial(
      r, {0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555557p-5, 0x1.1111111110037p-7, 0x1.6c16c16c15694p-10,
          0x1.a01a01ac3207bp-13, 0x1.a01a01aba345p-16, 0x1.71de0162f5b14p-19, 0x1.27e4cf8d269fp-22,
          0x1.af4f71f116c06p-26, 0x1.1f873463fca37p-29});
}

// Beyond the clamps the result is 0 or infinite already; a NaN passes them.
Value exp(Value x) {
  ExpReduction e = reduce_exp(min(max(x, -746.0), 710.0));
  return scale(1.0 + fma(e.r * e.r, exp_quadratic(e.r), e.r), e.k);
}

Value exp(Twofold x) {
  Value clamped = min(max(x.high, -746.0), 710.0);
  Nearest k = nearest(clamped, log2_e);
  Value t = fma(k.number, -ln2_high, clamped);
  Value low = fma(k.number, -ln2_low, select(x.high == clamped, x.low, 0.0));
  Value r = t + low, tail = (t - r) + low;
  Twofold one = fast_two_sum(r.like(1), r);
  Value rest = fma(r * r, exp_quadratic(r), fma(tail, r, tail));
  return scale(one.high + (one.low + rest), k.integer);
}

// 2^x = 2^k (1 + r q(r)), |r| <= 1/2 exactly; absolute error of the polynomial 2^-59.7.
Value exp2(Value x) {
  Value clamped = min(max(x, -1080.0), 1024.0);
  Nearest k = nearest(clamped, 1);
  Value r = clamped - k.number;
  Value q = polynomial(
      r, {0x1.62e42fefa39efp-1, 0x1.ebfbdff82c58fp-3, 0x1.c6b08d704a1dp-5, 0x1.3b2ab6fba4d46p-7,
          0x1.5d87fe7875782p-10, 0x1.430912f8c3083p-13, 0x1.ffcbfd4249b5ep-17, 0x1.62c020e4a098fp-20,
          0x1.b52342801c933p-24, 0x1.e4d409c81d2dfp-28, 0x1.ec56cff032ba1p-32, 0x1.bde761ae6a0a2p-36});
  return scale(fma(r, q, 1.0), k.integer);
}

// e^x - 1 = 2 ((h - 1/2) + h r + h (e^r - 1 - r)) with h = 2^(k-1), which does not overflow before the
// result.
Value expm1(Value x) {
  ExpReduction e = reduce_exp(min(max(x, -40.0), 710.0));
  Value half = power_of_two(e.k - 1);
  Value rest = fma(e.r * e.r, exp_quadratic(e.r), e.tail);
  Twofold sum = fast_two_sum(half - 0.5, half * e.r);
  Value result = 2.0 * (sum.high + fma(half, rest, sum.low));
  return select(abs(x) < 0x1p-54, x, result);
}

}  // namespace adit::kernel::f64
