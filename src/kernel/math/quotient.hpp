// Division of numbers of moderate size.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

// a / b by an inverse of b that is good to a few ULP, which is all that a Loose asks for in f64.
inline Value quotient(Value a, Value b, Value inverse) {
  Value q = a * inverse;
  if (a.type() == Type::f64 && a.builder().has_loose_functions()) return q;
  return fma(fma(-q, b, a), inverse, q);
}

// a / b to 1 ULP however loose the device's division is; a, b and a / b far from the ends of the range.
inline Value quotient(Value a, Value b) { return quotient(a, b, 1 / b); }

}  // namespace adit::kernel
