// The shape that erf and erfc have in f32 and f64; f32/error_function.cpp and f64/error_function.cpp bring
// the numbers.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

struct ErfParts {
  Value (*centre)(Value u);    // erf(x) / x - 1, u = x^2, |x| <= 1
  Value (*exponent)(Value a);  // -log erfc(a), 1 <= a <= last
  double last;                 // from here on erf is 1
};
Value erf(Value x, const ErfParts& parts);

struct ErfcParts {
  Value (*core)(Value t);  // (1 + 2 a) exp(a^2) erfc(a), t = (a - pivot) / (a + pivot), 0 <= a <= last
  double pivot;
  double last;  // from here on erfc is 0
};
Value erfc(Value x, const ErfcParts& parts);

struct ErfcxParts {
  Value (*core)(Value t);  // (1 + 2 a) exp(a^2) erfc(a), t = (a - pivot) / (a + pivot), a >= 0
  double pivot;
  double far;   // from here on t is 1
  double most;  // the largest number that is finite
};
Value erfcx(Value x, const ErfcxParts& parts);

Value erfcx(Value x);  // exp(x^2) erfc(x)

}  // namespace adit::kernel
