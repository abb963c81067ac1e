// The shape that lgamma, digamma and trigamma have in f32 and f64; f32/gamma.cpp and f64/gamma.cpp bring the
// polynomials.
#pragma once

#include <adit/kernel/builder.hpp>

namespace adit::kernel {

struct LgammaParts {
  // lgamma(2 + z) / z for z in [-11/16, 5/16]
  Value (*centre)(Value z);
  // a (lgamma(a) - (a - 1/2) log a + a - log(2 pi) / 2), u = 1 / a^2, a >= 4.3125
  Value (*stirling)(Value u);
  // sin(pi r) / (pi r), u = r^2, |r| <= 1/2
  Value (*sine)(Value u);
};
Value lgamma(Value x, const LgammaParts& parts);

struct DigammaParts {
  Value (*centre)(Value z);     // digamma(t) / (t - root), t = 3/2 + z, |z| <= 1/2
  Value (*tail)(Value u);       // (log a - 1 / (2 a) - digamma(a)) / u, u = 1 / a^2, a >= 4
  Value (*cotangent)(Value u);  // pi r cot(pi r) / (1/4 - u), u = r^2, |r| <= 1/2
  double root_high, root_low;   // the positive zero, 1.46163..., to twice the precision
};
Value digamma(Value x, const DigammaParts& parts);

struct TrigammaParts {
  Value (*centre)(Value z);  // trigamma(3/2 + z), |z| <= 1/2
  Value (*tail)(Value u);    // (trigamma(a) - 1 / a - 1 / (2 a^2)) a^3, u = 1 / a^2, a >= 4
  Value (*sine)(Value u);    // as for lgamma
};
Value trigamma(Value x, const TrigammaParts& parts);

}  // namespace adit::kernel
