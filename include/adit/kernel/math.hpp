// The math library of the kernel language: f32 and f64, the same on every device, to the bounds in
// docs/numerics.md. No device's own transcendental functions are used: their bounds are too loose or, in f64,
// they do not exist.
#pragma once

#include <adit/kernel/builder.hpp>

#pragma GCC visibility push(default)
namespace adit::kernel {

// Exponentials and logarithms
Value exp(Value x);
Value exp2(Value x);
Value expm1(Value x);
Value log(Value x);
Value log2(Value x);
Value log10(Value x);
Value log1p(Value x);
// Roots and powers
Value sqrt(Value x);
Value rsqrt(Value x);
Value cbrt(Value x);
Value pow(Value x, Value y);          // as C's pow
Value pow_integer(Value x, Value n);  // n: i32; by repeated squaring
Value pow_integer(Value x, int n);    // n known while the kernel is written
Value hypot(Value x, Value y);
// Trigonometric; the whole range of arguments
Value sin(Value x);
Value cos(Value x);
Value tan(Value x);
Value asin(Value x);
Value acos(Value x);
Value atan(Value x);
Value atan2(Value y, Value x);
// Hyperbolic
Value sinh(Value x);
Value cosh(Value x);
Value tanh(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);
// Special
Value erf(Value x);
Value erfc(Value x);
Value erf_inv(Value x);
Value lgamma(Value x);  // log |gamma(x)|
Value digamma(Value x);
Value trigamma(Value x);     // the derivative of digamma
Value sigmoid(Value x);      // 1 / (1 + exp(-x))
Value softplus(Value x);     // log(1 + exp(x))
Value log_sigmoid(Value x);  // -softplus(-x)
// Remainders and rounding
Value divide(Value x, Value y);     // x / y to 1 ULP on every device
Value fmod(Value x, Value y);       // exact; the sign of x
Value remainder(Value x, Value y);  // exact; x - n y with n the integer nearest to x / y, as C's remainder
Value floor_mod(Value x, Value y);  // exact up to one rounding; the sign of y
Value round(Value x);               // halves away from zero
Value sign(Value x);                // -1, 0 (signed), 1; NaN stays
Value copysign(Value magnitude, Value sign);

}  // namespace adit::kernel
#pragma GCC visibility pop
