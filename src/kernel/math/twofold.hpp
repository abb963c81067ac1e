// Numbers as unevaluated sums of two (high + low, about twice the precision).
// Everything here serves f32 and f64 alike. It leans on what the language promises: + - * round to nearest,
// fma is fused, nothing is contracted or reordered.
#pragma once

#include <initializer_list>

#include <adit/kernel/builder.hpp>

#include "kernel/float_bits.hpp"

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

// c0 + x (c1 + x (c2 + ...)), one fma a coefficient; under a Loose in f64 by even and odd powers.
Value polynomial(Value x, std::initializer_list<double> coefficients);

}  // namespace adit::kernel
