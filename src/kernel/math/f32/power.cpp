// pow: 2^(y log2 |x|) with the logarithm and the product in two parts, then C's special cases.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

// log2(m) = s (2 / ln 2 + s^2 G(s^2)) with s = (m - 1) / (m + 1), |s| < 0.1716; the large terms in two parts.
Twofold log2_twofold(Value x) {
  LogParts parts = log_parts(x);
  Value f = parts.fraction;
  Twofold s = divide(Twofold{f, f.like(0)}, fast_two_sum(f.like(2), f));
  Twofold z = two_product(s.high, s.high);
  z.low = fma(s.high + s.high, s.low, z.low);
  // G on [0, 0.02948]; relative error of log2(m) 2^-35
  Value tail = z.high * polynomial(z.high, {0x1.2776fp-1, 0x1.a5d22ap-2, 0x1.580028p-2});
  Twofold g = fast_two_sum(f.like(0x1.ec709ep-1), tail);
  g.low = g.low - 0x1.e2fe02p-28;
  Value t = z.high * g.high;
  Value t_low = fma(z.high, g.high, -t) + fma(z.high, g.low, z.low * g.high);
  Twofold u = fast_two_sum(f.like(0x1.715476p1), t);
  u.low = u.low + (t_low + 0x1.4ae0cp-25);
  Value log = s.high * u.high;
  Value log_low = fma(s.high, u.high, -log) + fma(s.high, u.low, s.low * u.high);
  Twofold result = fast_two_sum(convert(parts.exponent, Type::f32), log);
  return fast_two_sum(result.high, result.low + log_low);
}

namespace {

// 2^(a.high + a.low), clamped to results that round to 0 or infinity.
Value exp2_twofold(Twofold a) {
  Value in_range = abs(a.high) < 160.0;
  Value high = min(max(a.high, -160.0), 140.0);
  Rounded k = round_product(high, 1);
  Value r = (high - k.as_float) + select(in_range, a.low, 0.0);
  // 2^r on [-0.501, 0.501], relative error 2^-28.0
  Value value = polynomial(
      r, {1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af72p-5, 0x1.3b309p-7, 0x1.5f0e12p-10, 0x1.3fb5f2p-13});
  return scale(value, k.as_integer);
}

}  // namespace

Value pow(Value x, Value y) {
  Value size = abs(x);
  Twofold log = log2_twofold(size);
  // 0 and infinity go through the product as infinite logarithms.
  log.high = select(size == infinity(x), size, select(bits(x) << 1 == 0, -infinity(x), log.high));
  Twofold product = {y * log.high, fma(y, log.high, -(y * log.high)) + y * log.low};
  Value magnitude = exp2_twofold(product);
  magnitude = select(size == 1.0, 1.0, magnitude);  // also to an infinite power

  Value integer = trunc(y) == y;
  Value half = y * 0.5;
  Value odd = integer && trunc(half) != half;
  Value result = select(odd && is_negative(x), -magnitude, magnitude);
  Value invalid = x < 0.0 && size < infinity(x) && !integer;
  result = select(invalid || is_nan(x) || is_nan(y), not_a_number(x), result);
  return select(y == 0.0 || x == 1.0, 1.0, result);
}

}  // namespace adit::kernel::f32
