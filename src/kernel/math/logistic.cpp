// The logistic family in f32 and f64. All but sigmoid in f32 work on exp(-|x|), which cannot overflow.
#include <adit/kernel/math.hpp>

#include "kernel/math/f32/internal.hpp"
#include "kernel/math/f64.hpp"
#include "kernel/math/quotient.hpp"

namespace adit::kernel {
namespace {

Value logistic(Value x) {
  Value e = exp(-abs(x)), below = 1 + e;
  Value above = select(x < 0, e, 1);
  return select(below == 1, above, quotient(above, below));  // far out `above` may be subnormal
}

// log(1 + exp(-|x|))
Value bend(Value x) { return log1p(exp(-abs(x))); }

Value soft_maximum(Value x) { return max(x, 0) + bend(x); }
Value soft_minimum(Value x) { return min(x, -0.0) - bend(x); }

}  // namespace

// 1 / (1 + exp(-x)) with the divisor 2^-24 of that, so that neither it nor its reciprocal leaves the range.
// -x = k ln 2 - r, and exp(-r) is the polynomial of exp with the odd signs turned.
Value f32::sigmoid(Value x) {
  Value bounded = min(max(x, -104.0), 40.0);
  Rounded k = round_product(bounded, -log2_e, 127 - 24);
  Value r = fma(k.as_float, rest_of_ln2, fma(k.as_float, short_ln2, bounded));
  Value e =
      polynomial(r, {1, -1, 0x1.fffffap-2, -0x1.55549p-3, 0x1.555a22p-5, -0x1.123b04p-7, 0x1.695414p-10});
  Value below = fma(e, bitcast(k.as_integer << 23, Type::f32), 0x1p-24), inverse = 1.0 / below;
  return fma(fma(-inverse, below, 1.0), inverse, inverse) * 0x1p-24;
}
Value f64::sigmoid(Value x) { return logistic(x); }
Value f32::softplus(Value x) { return soft_maximum(x); }
Value f64::softplus(Value x) { return soft_maximum(x); }
Value f32::log_sigmoid(Value x) { return soft_minimum(x); }
Value f64::log_sigmoid(Value x) { return soft_minimum(x); }

}  // namespace adit::kernel
