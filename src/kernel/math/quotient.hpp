// Division of numbers of moderate size.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

// a / b by an inverse of b that is good to a few ULP.
inline Value quotient(Value a, Value b, Value inverse) {
  Value q = a * inverse;
  return fma(fma(-q, b, a), inverse, q);
}

// a / b to 1 ULP however loose the device's division is; a, b and a / b far from the ends of the range.
inline Value quotient(Value a, Value b) { return quotient(a, b, 1 / b); }

}  // namespace adit::kernel
