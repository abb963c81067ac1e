// Series of the gamma functions that their exact and their loose forms share.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel::f64 {

// a (lgamma(a) - (a - 1/2) log a + a - log(2 pi) / 2), u = 1 / a^2, a >= 4.3125
Value stirling(Value u);
// (log a - 1 / (2 a) - digamma(a)) / u, u = 1 / a^2, a >= 4
Value digamma_tail(Value u);
// sin(pi r) / (pi r), u = r^2, |r| <= 1/2
Value sine(Value u);
// pi r cot(pi r) / (1/4 - u), u = r^2, |r| <= 1/2
Value cotangent(Value u);

}  // namespace adit::kernel::f64
