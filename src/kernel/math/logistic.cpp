// The logistic family in f32 and f64. All but sigmoid in f32 work on exp(-|x|), which cannot overflow.
#include <adit/kernel/math.hpp>

#include "kernel/decay.hpp"
#include "kernel/math/f32/internal.hpp"
#include "kernel/math/f64.hpp"
#include "kernel/math/f64/loose.hpp"
#include "kernel/math/quotient.hpp"

namespace adit::kernel {
namespace {

Value logistic(Value x) {
  Value e = exp(-abs(x)), below = 1 + e;
  Value above = select(x < 0, e, 1);
  return select(below == 1, above, quotient(above, below));  // far out `above` may be subnormal
}

// log(1 + e) for e from 0 to 1 in f64, which needs no reduction: with s = e / (2 + e) it is 2 atanh(s),
// summed as e - e^2/2 + s (e^2/2 + R(s^2)). R for s^2 <= 1/9 with an error of 2^-58.3 relative to s.
Value log_one_plus_part(Value e) {
  Value s = e / (2.0 + e), z = s * s;
  Value r = z * polynomial(
                    z, {0x1.555555555553cp-1, 0x1.999999999f821p-2, 0x1.24924920ebc7ep-2,
                        0x1.c71c73f58ae37p-3, 0x1.745cb8a74d173p-3, 0x1.3b1d83398fc95p-3, 0x1.106bde39fbfdp-3,
                        0x1.ef9cc4fd6c9afp-4, 0x1.56a2695021aa4p-4, 0x1.5ba78923926fp-3});
  Value half_square = 0.5 * e * e;
  return e + fma(s, half_square + r, -half_square);
}

// log(1 + exp(-|x|))
Value bend(Value x) {
  Value e = exp(-abs(x));
  return x.type() == Type::f64 ? log_one_plus_part(e) : log1p(e);
}

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

Value decay(Value x) {
  if (x.type() != Type::f64 || !x.builder().has_loose_functions()) return exp(-abs(x));
  const Loose exact(x.builder(), false);
  return f64::loose::exp_of_negative_size(x);
}

}  // namespace adit::kernel
