// Logarithms: x = (1 + f) 2^e with 1 + f within [sqrt(1/2), sqrt(2)), a polynomial in f, and e log 2 in two
// parts.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

namespace {

constexpr int32_t least_normal_bits = 0x00800000, infinity_bits = 0x7f800000;
constexpr int32_t sqrt_half_bits = 0x3f3504f3;
constexpr double ln2_high = 0x1.62e43p-1, ln2_low = -0x1.05c61p-29;

// e log 2 + f + tail for the base whose logarithm of 2 is given.
Value combine(Value exponent, double log2_high, double log2_low, Value f, Value tail) {
  Value e = convert(exponent, Type::f32);
  return fma(e, log2_high, f + fma(e, log2_low, tail));
}

}  // namespace

LogParts log_parts(Value x) {
  Value raw = bitcast(x, Type::i32);
  // The bits of a subnormal, converted, are x 2^149; no subnormal arithmetic is needed.
  Value tiny = raw < least_normal_bits;
  Value normal = select(tiny, bitcast(convert(raw, Type::f32), Type::i32), raw);
  Value above = normal - sqrt_half_bits;
  Value exponent = (above >> 23) - select(tiny, raw.like(149), raw.like(0));
  Value mantissa = bitcast((above & 0x7fffff) + sqrt_half_bits, Type::f32);
  return {mantissa - 1.0, exponent};
}

Value log_tail(Value f) {
  // log(1 + f) = f - f^2 / 2 + f^3 p, relative error 2^-26.9
  return f * f *
         polynomial(f, {-0.5, 0x1.55557p-2, -0x1.000234p-2, 0x1.99944ep-3, -0x1.5466fep-3, 0x1.239ce2p-3,
                        -0x1.0e96ccp-3, 0x1.015974p-3, -0x1.2a6f78p-4});
}

Value log_special(Value x, Value y) {
  Value ordinary = bits(x) - 1 < infinity_bits - 1;
  Value zero_or_negative = select(x == 0.0, -infinity(x), not_a_number(x));
  return select(ordinary, y, select(x > 0.0, x, zero_or_negative));
}

Value log(Value x) {
  LogParts parts = log_parts(x);
  return log_special(x, combine(parts.exponent, ln2_high, ln2_low, parts.fraction, log_tail(parts.fraction)));
}

namespace {

// The logarithm in another base: (f + tail) / log(base), the factor in two parts.
Value log_base(Value x, double factor_high, double factor_low, double log2_high, double log2_low) {
  LogParts parts = log_parts(x);
  Value f = parts.fraction;
  Value small = fma(f, factor_low, log_tail(f) * factor_high);
  Value e = convert(parts.exponent, Type::f32);
  Value y = fma(e, log2_high, fma(f, factor_high, log2_low == 0 ? small : fma(e, log2_low, small)));
  return log_special(x, y);
}

}  // namespace

Value log2(Value x) { return log_base(x, 0x1.715476p0, 0x1.4ae0cp-26, 1, 0); }

Value log10(Value x) { return log_base(x, 0x1.bcb7b2p-2, -0x1.5b235ep-27, 0x1.344136p-2, -0x1.ec10cp-27); }

Value log_of(Twofold a) {
  LogParts parts = log_parts(a.high);
  Value f = fma(a.low, power_of_two(-parts.exponent), parts.fraction);
  return combine(parts.exponent, ln2_high, ln2_low, f, log_tail(f));
}

// 1 + x with its rounding error kept. Where x is large the error counts no more, and 2^-e must not leave the
// range.
Value log1p(Value x) {
  Twofold one_more = two_sum(x.like(1), x);
  LogParts parts = log_parts(one_more.high);
  Value low = select(x < 0x1p30, one_more.low * power_of_two(-parts.exponent), 0.0);
  Value f = parts.fraction + low;
  Value y = combine(parts.exponent, ln2_high, ln2_low, f, log_tail(f));
  y = log_special(one_more.high, y);
  return select(abs(x) < 0x1p-25, x, y);
}

}  // namespace adit::kernel::f32
