// Numbers as unevaluated sums of two (high + low, about twice the precision), and work on the bits of floats.
// Everything here serves f32 and f64 alike. It leans on what the language promises: + - * round to nearest,
// fma is fused, nothing is contracted or reordered.
#pragma once

#include <initializer_list>

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

struct Twofold {
  Value high, low;
};

// Exact sums and products, as long as nothing overflows or underflows.
Twofold two_sum(Value a, Value b);
Twofold fast_two_sum(Value a, Value b);  // |a| >= |b| or a == 0
Twofold two_product(Value a, Value b);

// Sums, products and quotients to nearly twice the precision, normalised: low is at most half an ULP of high.
Twofold add(Twofold a, Value b);
Twofold add(Twofold a, Twofold b);
Twofold multiply(Twofold a, Value b);
Twofold multiply(Twofold a, Twofold b);
// Good though operator/ is loose; quotient and divisor must be far from the ends of the range.
Twofold divide(Twofold a, Twofold b);
inline Value sum(Twofold a) { return a.high + a.low; }

// c0 + x (c1 + x (c2 + ...)), one fma a coefficient.
Value polynomial(Value x, std::initializer_list<double> coefficients);

// The layout of a float type.
int mantissa_bits(Type type);  // stored: 23 or 52
int exponent_bias(Type type);  // 127 or 1023
Type integer_like(Value x);    // i32 or i64: the type of exponents
Type bits_like(Value x);       // u32 or u64: the type of bits

Value bits(Value x);                                // as unsigned integer
Value float_of_bits(Value unsigned_bits);           // u32 -> f32, u64 -> f64
Value sign_bit(Value x);                            // only the sign bit, as unsigned integer
Value flip_sign(Value x, Value sign_bits);          // x with its sign changed where sign_bits has the top bit
Value with_sign(Value magnitude, Value sign_bits);  // magnitude >= 0
Value is_negative(Value x);                         // the sign bit, so true for -0
Value is_infinite(Value x);
Value is_finite(Value x);
Value infinity(Value x);  // constants of x's type
Value not_a_number(Value x);

// 2^n for an integer n (i32 for f32, i64 for f64) in the normal range.
Value power_of_two(Value n);
// x 2^n, rounded once, for |x| in [1/4, 4) or 0, infinite or NaN, and any n in [-2 bias, 2 bias].
Value scale(Value x, Value n);

// |x| = mantissa 2^exponent with the mantissa in [1, 2), for finite x other than 0, subnormals included.
struct Split {
  Value mantissa, exponent;
};
Split split(Value x);

}  // namespace adit::kernel
