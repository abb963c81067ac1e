// Arithmetic and functions of complex numbers, as pairs of kernel values. Branch cuts lie where C's (and
// NumPy's) do and the sign of a zero tells their sides apart. Errors are bounded relative to the length of
// the result.
#pragma once

#include "graph/row.hpp"

namespace adit::graph::pairs {

Scalar add(Scalar a, Scalar b);
Scalar subtract(Scalar a, Scalar b);
Scalar multiply(Scalar a, Scalar b);
Scalar divide(Scalar a, Scalar b);
Scalar negate(Scalar z);
Scalar sign(Scalar z);  // z / |z|, 0 at 0
kernel::Value length(Scalar z);
Scalar times_i(Scalar z);
Scalar over_i(Scalar z);

Scalar exp(Scalar z);
Scalar exp2(Scalar z);
Scalar expm1(Scalar z);
Scalar log(Scalar z);
Scalar log2(Scalar z);
Scalar log10(Scalar z);
Scalar log1p(Scalar z);
Scalar sqrt(Scalar z);
Scalar rsqrt(Scalar z);
Scalar pow(Scalar z, Scalar w);
Scalar sigmoid(Scalar z);

Scalar sin(Scalar z);
Scalar cos(Scalar z);
Scalar tan(Scalar z);
Scalar sinh(Scalar z);
Scalar cosh(Scalar z);
Scalar tanh(Scalar z);

Scalar asin(Scalar z);
Scalar acos(Scalar z);
Scalar atan(Scalar z);
Scalar asinh(Scalar z);
Scalar acosh(Scalar z);
Scalar atanh(Scalar z);

}  // namespace adit::graph::pairs
