// The f64 functions behind math.hpp; each takes and yields f64 values.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel::f64 {

Value exp(Value x);
Value exp2(Value x);
Value expm1(Value x);
Value log(Value x);
Value log2(Value x);
Value log10(Value x);
Value log1p(Value x);
Value sqrt(Value x);
Value rsqrt(Value x);
Value cbrt(Value x);
Value pow(Value x, Value y);
Value hypot(Value x, Value y);
Value sin(Value x);
Value cos(Value x);
Value tan(Value x);
Value asin(Value x);
Value acos(Value x);
Value atan(Value x);
Value atan2(Value y, Value x);
Value sinh(Value x);
Value cosh(Value x);
Value tanh(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);
Value erf(Value x);
Value erfc(Value x);
Value erfcx(Value x);
Value erf_inv(Value x);
Value lgamma(Value x);
Value digamma(Value x);
Value trigamma(Value x);
Value sigmoid(Value x);
Value softplus(Value x);
Value log_sigmoid(Value x);
Value divide(Value x, Value y);
Value fmod(Value x, Value y);
Value remainder(Value x, Value y);

}  // namespace adit::kernel::f64
