// Work on the bits of floats in kernels, f32 and f64 alike.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

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
