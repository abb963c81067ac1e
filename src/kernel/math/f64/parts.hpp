// What the f64 functions share. Each is a few instructions or the core of several functions.
#pragma once

#include "kernel/math/f64.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel::f64 {

// Constants as unevaluated sums; the tails are correct to the last bit too.
inline constexpr double ln2_high = 0x1.62e42fefa39efp-1, ln2_low = 0x1.abc9e3b39803fp-56;
inline constexpr double log2_e = 0x1.71547652b82fep+0, log2_e_low = 0x1.777d0ffda0d24p-56;
inline constexpr double half_pi_high = 0x1.921fb54442d18p+0, half_pi_low = 0x1.1a62633145c07p-54;

// Added to a number below 2^51, this leaves the number's nearest integer in the low bits of the sum.
inline constexpr double rounding_shift = 0x1.8p52;
inline constexpr int64_t rounding_shift_bits = 0x4338000000000000;

// The integer nearest to x * factor, as f64 and as i64. A NaN gives a NaN and some integer.
struct Nearest {
  Value number, integer;
};
Nearest nearest(Value x, double factor);
// An i64 below 2^51 as f64; without a conversion of 64-bit integers, which few SIMD units have.
Value number_of(Value integer);

// 0.5 / s, up to 10 % too small, for s in [2^-1000, 2^1000] (0 gives something finite). It turns the residual
// of a root or quotient into its correction; being small, it leaves a correctly rounded one alone.
Value half_reciprocal(Value s);
// The root of z as high + low, for z = 0 or in [2^-900, 2^1000].
Twofold root(Value z, Value z_low);
// n / d nearly as good as n and d are; their low parts are some ULP of the high ones at most.
Twofold quotient(Twofold n, Twofold d);

// x = 2^k (r + tail) with |r| <= ln 2 / 2, for |x| < 2^10.
struct ExpReduction {
  Value r, tail, k;
};
ExpReduction reduce_exp(Value x);
// (e^r - 1 - r) / r^2 for |r| <= 0.3473.
Value exp_quadratic(Value r);
// e^(x.high + x.low), correct to about 0.55 ULP when x is that good.
Value exp(Twofold x);

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), for finite x > 0, subnormals included.
struct LogReduction {
  Value f, k;
};
LogReduction reduce_log(Value x);
// log(1 + f) = f - half_square + rest.
struct LogSeries {
  Value half_square, rest;
};
LogSeries log_series(Value f);
// log(2^k u) for u.high normal, and log(2^k (1 + v)) for v.high > -1 with v's full relative precision at k =
// 0.
Value log(Twofold u, Value k);
Value log_one_plus(Twofold v, Value k);

}  // namespace adit::kernel::f64
