// x^y = e^(y log x) with log x to about 2^-66, so that the product is good to 2^-56 up to the overflow
// threshold.
#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

namespace {

// log(1 + f) = 2 s (1 + z/3 + z^2 q(z)), s = f / (2 + f), z = s^2 <= 0.02945; error of the polynomial 2^-69
// relative.
Twofold log_twofold(LogReduction x) {
  Twofold denominator = fast_two_sum(x.f.like(2), x.f);
  Twofold s = quotient({x.f, x.f.like(0)}, denominator);
  s = fast_two_sum(s.high, s.low);
  Twofold z = two_product(s.high, s.high);
  z.low = fma(s.high + s.high, s.low, z.low);
  Value q = polynomial(
      z.high, {0x1.999999999999ap-3, 0x1.24924924922fep-3, 0x1.c71c71c74c769p-4, 0x1.745d173ce5aecp-4,
               0x1.3b13a9cae2773p-4, 0x1.1115514a06fd6p-4, 0x1.e0196596ecc75p-5, 0x1.daa5e1fdb6931p-5});
  // 1/3 + z q
  Twofold inner = fast_two_sum(x.f.like(0x1.5555555555555p-2), z.high * q);
  inner.low = inner.low + 0x1.5555555555555p-56;
  Twofold factor = multiply(multiply(inner, z), s);
  Twofold twice{s.high + s.high, s.low + s.low};
  Twofold tail{factor.high + factor.high, factor.low + factor.low};
  // k ln 2 is 0 or more than the rest.
  Twofold whole = two_product(x.k, x.f.like(ln2_high));
  whole.low = fma(x.k, ln2_low, whole.low);
  Twofold sum = fast_two_sum(whole.high, twice.high);
  Twofold more = fast_two_sum(sum.high, tail.high);
  return fast_two_sum(more.high, more.low + (sum.low + ((twice.low + tail.low) + whole.low)));
}

}  // namespace

Value pow(Value x, Value y) {
  Value magnitude = abs(x);
  Twofold log_x = log_twofold(reduce_log(magnitude));
  Value none = x.like(0);
  Value regular = magnitude > 0.0 && magnitude < infinity(x);
  Value edge = select(magnitude == 0.0, -infinity(x), magnitude);  // log of 0, infinity or NaN
  Value log_high = select(regular, log_x.high, edge);
  Value log_low = select(regular, log_x.low, none);

  Value product = y * log_high;
  Value low = fma(y, log_high, -product) + y * log_low;
  Value result = exp(Twofold{product, select(abs(product) < 1000.0, low, none)});
  result = select(magnitude == 1.0, x.like(1), result);

  // The sign is that of x if y is odd; other powers of negative numbers are not real.
  Value half = 0.5 * y;
  Value whole = trunc(y) == y, odd = whole && trunc(half) != half;
  result = select(odd, with_sign(result, sign_bit(x)), result);
  result = select(x < 0.0 && x > -infinity(x) && !whole, not_a_number(x), result);
  result = select(x == x && y == y, result, x + y);
  return select(x == 1.0 || y == 0.0, x.like(1), result);
}

}  // namespace adit::kernel::f64
