#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

// log(a + sqrt(a^2 + 1)) from 1/2 on, where the sum is carried in two parts; beyond 2^30 it is log(2 a).
// Below, a + a^3 P(a^2) with an error of 2^-58 relative.
Value asinh(Value x) {
  Value a = abs(x), huge = a > 0x1p30;
  Value moderate = select(huge, x.like(1), a);
  Value z = moderate * moderate;
  Value p = polynomial(
      z, {-0x1.5555555555555p-3, 0x1.3333333332fdp-4, -0x1.6db6db6d6309dp-5, 0x1.f1c71c3f8652dp-6,
          -0x1.6e8b9b236bbbap-6, 0x1.1c4e0f171e6a6p-6, -0x1.c9846dad695f1p-7, 0x1.79b611d6f636ap-7,
          -0x1.3a63b06c4314p-7, 0x1.f41b7960e29d3p-8, -0x1.4828ab73ebba5p-8, 0x1.f103c6a3edc55p-10});
  Value near = fma(a * z, p, a);

  Twofold square = two_sum(z, x.like(1));
  Twofold s = root(square.high, square.low + fma(moderate, moderate, -z));
  Twofold u = fast_two_sum(s.high, moderate);
  Value high = select(huge, a, u.high), low = select(huge, x.like(0), u.low + s.low);
  Value far = log(Twofold{high, low}, select(huge, x.like(1), x.like(0)));
  far = select(a < infinity(x), far, a);
  return with_sign(select(a < 0.5, near, far), sign_bit(x));
}

// log(1 + t + sqrt(2 t + t^2)) with t = x - 1, exact where it is small; beyond 2^60 it is log(2 (1 + x)).
Value acosh(Value x) {
  Value huge = x > 0x1p60, zero = x.like(0);
  Twofold t = two_sum(select(huge, x.like(2), x), x.like(-1));
  Twofold square = two_product(t.high, t.high);
  Twofold z = two_sum(2.0 * t.high, square.high);
  Twofold s = root(z.high, z.low + (square.low + 2.0 * t.low * (t.high + 1.0)));
  Twofold v = two_sum(s.high, t.high);
  Value high = select(huge, x, v.high), low = select(huge, zero, v.low + (s.low + t.low));
  Value result = log_one_plus({high, low}, select(huge, x.like(1), zero));
  return select(x >= 1.0, select(x < infinity(x), result, x), not_a_number(x));
}

// (1 + a) / (1 - a) = 2^k m with m near 1, so atanh a = k ln 2 / 2 + atanh s, s = (m - 1) / (m + 1).
// k comes from the bits of the two sums, which are nearly their logarithms: |s| <= 0.203.
// atanh s = s + s^3 Q(s^2), error of the polynomial 2^-60 relative.
Value atanh(Value x) {
  Value a = abs(x), one = x.like(1), zero = x.like(0);
  Twofold plus = two_sum(one, a), minus = two_sum(one, -a);
  Value distance = bitcast(plus.high, Type::i64) - bitcast(minus.high, Type::i64);
  Value k = (distance + (int64_t{1} << 51)) >> 52;
  Value factor = power_of_two(k), near = k == 0;
  Twofold scaled{minus.high * factor, minus.low * factor};
  Twofold total = two_sum(plus.high, scaled.high);
  // The difference of the high parts is exact. With k = 0 the quotient is a itself.
  Twofold n{select(near, a, plus.high - scaled.high), select(near, zero, plus.low - scaled.low)};
  Twofold d{select(near, one, total.high), select(near, zero, total.low + (plus.low + scaled.low))};
  Twofold s = quotient(n, d);
  Value z = s.high * s.high;
  Value q =
      polynomial(z, {0x1.5555555555555p-2, 0x1.999999999a0d3p-3, 0x1.24924923b2881p-3, 0x1.c71c73153ae22p-4,
                     0x1.745c9c66f49d7p-4, 0x1.3b2c3609b8c0ep-4, 0x1.0e5e6e0a714dp-4, 0x1.17f48c7cb0196p-4});
  Value half_k = 0.5 * number_of(k);
  Twofold whole = two_product(half_k, x.like(ln2_high));
  Twofold head = fast_two_sum(whole.high, s.high);
  Value low = fma(half_k, ln2_low, whole.low) + fma(s.high * z, q, s.low);
  Value result = head.high + (head.low + low);
  Value edge = select(a == 1.0, infinity(x), not_a_number(x));
  return with_sign(select(a < 1.0, result, edge), sign_bit(x));
}

}  // namespace adit::kernel::f64
