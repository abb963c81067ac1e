// What the f32 functions share. All values are f32.
#pragma once

#include "kernel/math/f32.hpp"
#include "kernel/math/twofold.hpp"

namespace adit::kernel::f32 {

// x / y to 0.51 ULP where y, 1 / y and x / y are far from the ends of the range.
Value quotient(Value x, Value y);
// The root of a.high + a.low for a.high in [2^-100, 2^120], high rounded well; 0 gives 0.
Twofold root(Twofold a);

// ln 2 in two parts: the first times an integer below 2^9 is exact.
inline constexpr double log2_e = 0x1.715476p0;
inline constexpr double short_ln2 = 0x1.62e43p-1, rest_of_ln2 = -0x1.05c61p-29;

// The integer nearest to x * factor, for results below 2^21; a NaN gives NaN. The i32 is larger by `offset`
// (at most 2^9) and right modulo 2^10, which is all that power_of_two and scale look at.
struct Rounded {
  Value as_float, as_integer;
};
Rounded round_product(Value x, double factor, int offset = 0);

// exp(x) = value 2^exponent, the value in [0.7, 1.42), the exponent (i32, modulo 2^10) in [-151, 131]; beyond
// that range of results it is clamped, which still rounds to 0 or infinity. NaN stays.
struct ExpParts {
  Value value, exponent;
};
ExpParts exp_parts(Value x);

// Positive finite x = (1 + fraction) 2^exponent with 1 + fraction in [sqrt(1/2), sqrt(2)); subnormals too.
struct LogParts {
  Value fraction, exponent;  // f32 (exact), i32
};
LogParts log_parts(Value x);
// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
Value log_tail(Value f);
// log(a.high + a.low) for a normal, positive, finite a.high below 2^126.
Value log_of(Twofold a);
// y where x is positive and finite, else what a logarithm of x is: -inf at 0, inf at inf, NaN.
Value log_special(Value x, Value y);

// log2 of positive finite x with a relative error near 2^-35.
Twofold log2_twofold(Value x);

// |x| = r + k pi / 2 with r = high + low in about [-pi/4, pi/4]; k modulo 4 in the low bits of `quadrant`
// (u32).
struct Angle {
  Twofold rest;
  Value quadrant;
};
Angle reduce_angle(Value x);

}  // namespace adit::kernel::f32
