// Division and roots: the device's own results are a few ULP off, one exact residual mends them.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

Value quotient(Value x, Value y) {
  Value inverse = 1.0 / y;
  Value q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
}

Twofold root(Twofold a) {
  Value r = sqrt_device(a.high);
  Value half_inverse = 0.5 / max(r, 0x1p-60);
  r = fma(fma(-r, r, a.high), half_inverse, r);
  return {r, (fma(-r, r, a.high) + a.low) * half_inverse};
}

namespace {

// Any operands: the mantissas are divided, then scaled; the special values are told apart by hand.
Value divide_slowly(Value x, Value y) {
  Split a = split(x), b = split(y);
  Value sign = sign_bit(x) ^ sign_bit(y);
  Value q = scale(quotient(a.mantissa, b.mantissa), max(min(a.exponent - b.exponent, 200), -200));
  Value x_zero = bits(x) << 1 == 0, y_zero = bits(y) << 1 == 0;
  Value x_infinite = is_infinite(x), y_infinite = is_infinite(y);
  q = select(x_zero || y_infinite, 0.0, q);
  q = select(y_zero || x_infinite, infinity(x), q);
  Value invalid = is_nan(x) || is_nan(y) || (x_zero && y_zero) || (x_infinite && y_infinite);
  return select(invalid, not_a_number(x), with_sign(q, sign));
}

// 2^least <= |x| < 2^most, in one comparison of bits.
Value between(Value x, int least, int most) {
  return (bits(x) << 1) - (static_cast<uint32_t>(127 + least) << 24) < static_cast<uint32_t>(most - least)
                                                                           << 24;
}

}  // namespace

// The short way holds where the divisor and the quotient are moderate: then so are x and the reciprocal, and
// the residual is exact. A zero x would lose its sign in the last step.
Value divide(Value x, Value y) {
  Value inverse = 1.0 / y;
  Value q = x * inverse;
  Value mended = fma(fma(-q, y, x), inverse, q);
  Value zero = bits(x) << 1 == 0;
  Value short_way = between(y, -50, 64) && (between(q, -50, 62) || zero);
  Variable result = x.builder().variable(select(zero, q, mended));
  x.builder().if_(!short_way, [&] { result = divide_slowly(x, y); });
  return result;
}

namespace {

// x = mantissa 4^exponent with the mantissa in [1/2, 2), by bits alone; the exponent stands where that of a
// float does.
struct Quarters {
  Value mantissa, exponent_bits;
};
Quarters split_quarters(Value x) {
  Value raw = bitcast(x, Type::i32);
  // A subnormal's bits, converted, are x 2^149; once more makes it an even power.
  Value tiny = raw < 0x00800000;
  Value normal = select(tiny, bitcast(convert(raw, Type::f32), Type::i32) + 0x00800000, raw);
  Value mantissa = bitcast((normal & 0x00ffffff) | 0x3f000000, Type::f32);
  Value exponent = (normal >> 1 & 0x7f800000) - select(tiny, raw.like((63 + 75) << 23), raw.like(63 << 23));
  return {mantissa, exponent};
}

Value positive_finite(Value x) { return bits(x) - 1 < 0x7f7fffff; }

}  // namespace

Value sqrt(Value x) {
  Quarters q = split_quarters(x);
  Value r = sqrt_device(q.mantissa);
  // 1 / (2 r) to 6 % is enough for what is only a few ULP.
  Value half_inverse = fma(r, -0.47059, 0.99826);
  r = fma(fma(-r, r, q.mantissa), half_inverse, r);
  Value y = bitcast(bitcast(r, Type::i32) + q.exponent_bits, Type::f32);
  return select(positive_finite(x), y, select(x >= 0.0, x, not_a_number(x)));
}

Value rsqrt(Value x) {
  Quarters q = split_quarters(x);
  Value r = 1.0 / sqrt_device(q.mantissa);
  // One Newton step, r + r (1 - m r^2) / 2, with m r in two parts.
  Twofold product = two_product(q.mantissa, r);
  Value rest = fma(-product.low, r, fma(-product.high, r, 1.0));
  r = fma(r * 0.5, rest, r);
  Value y = bitcast(bitcast(r, Type::i32) - q.exponent_bits, Type::f32);
  Value zero = bits(x) << 1 == 0;
  Value special = select(zero, with_sign(infinity(x), bits(x)), select(x > 0.0, 0.0, not_a_number(x)));
  return select(positive_finite(x), y, special);
}

// |x| = m 2^(3 k), m in [1, 8). Newton's method for m^(-1/3), which needs no division, then one step for the
// root.
Value cbrt(Value x) {
  Split parts = split(x);
  Value lifted = parts.exponent + 150;
  Value third = (lifted * 171) >> 9;  // lifted / 3 for lifted < 300
  Value rest = lifted - third * 3;
  Value one = rest == 1, two = rest == 2;
  Value m = parts.mantissa * select(one, x.like(2), select(two, x.like(4), x.like(1)));
  // m^(-1/3) on [1, 2], relative error 2^-11.9
  Value guess = polynomial(parts.mantissa, {0x1.8ab91cp0, -0x1.9eb322p-1, 0x1.456226p-2, -0x1.991554p-5});
  Value r = guess * select(one, x.like(0x1.965feap-1), select(two, x.like(0x1.428a3p-1), x.like(1)));
  Value error = fma(-m * r, r * r, 1.0);
  r = fma(r * error, 1.0 / 3.0, r);
  Value inverse_square = r * r;
  Value y = m * inverse_square;
  Twofold square = two_product(y, y);
  Value residual = fma(-square.low, y, fma(-square.high, y, m));
  y = fma(residual * inverse_square, 1.0 / 3.0, y);
  y = with_sign(y * power_of_two(third - 50), bits(x));
  return select(is_finite(x) && !(bits(x) << 1 == 0), y, x);
}

// The squares' sum in two parts. Scaled away from the ends of the range first.
Value hypot(Value x, Value y) {
  Value a = abs(x), b = abs(y);
  Value large = max(a, b), small = min(a, b);
  Value high = large > 0x1p60, low = large < 0x1p-60;
  Value down = select(high, x.like(0x1p-66), select(low, x.like(0x1p90), x.like(1)));
  Value up = select(high, x.like(0x1p66), select(low, x.like(0x1p-90), x.like(1)));
  large = large * down;
  small = small * down;
  Twofold p = two_product(large, large), q = two_product(small, small);
  Twofold s = fast_two_sum(p.high, q.high);
  Twofold r = root({s.high, s.low + p.low + q.low});
  Value result = sum(r) * up;
  result = select(is_nan(x) || is_nan(y), not_a_number(x), result);
  return select(is_infinite(x) || is_infinite(y), infinity(x), result);
}

}  // namespace adit::kernel::f32
