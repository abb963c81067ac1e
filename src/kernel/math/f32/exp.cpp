// exp, exp2, expm1: x = k ln 2 + r, a polynomial in r, and 2^k put together from bits.
#include "kernel/math/f32/internal.hpp"

namespace adit::kernel::f32 {

namespace {

// Adding it rounds to an integer, which then stands in the low bits.
constexpr double round_magic = 0x1.8p23;

// x - k ln 2. The first fma is exact: k and short_ln2 have few enough bits together.
Value reduce(Value x, Value k) { return fma(k, -rest_of_ln2, fma(k, -short_ln2, x)); }

// exp_parts with an exponent that is larger by `offset`.
ExpParts parts_of_exp(Value x, int offset) {
  Value clamped = min(max(x, -104.0), 90.5);
  Rounded k = round_product(clamped, log2_e, offset);
  Value r = reduce(clamped, k.as_float);
  // exp on [-0.3475, 0.3475], relative error 2^-28.1
  Value value =
      polynomial(r, {1, 1, 0x1.fffffap-2, 0x1.55549p-3, 0x1.555a22p-5, 0x1.123b04p-7, 0x1.695414p-10});
  return {value, k.as_integer};
}

}  // namespace

Rounded round_product(Value x, double factor, int offset) {
  Value shifted = fma(x, factor, round_magic + offset);
  return {shifted - (round_magic + offset), bitcast(shifted, Type::i32)};
}

ExpParts exp_parts(Value x) { return parts_of_exp(x, 0); }

// As scale does it, the two factors' biases counted in from the start: half of the bits above the mantissa
// make one factor, what is left of them the other.
Value exp(Value x) {
  ExpParts parts = parts_of_exp(x, 2 * 127);
  Value first = (parts.exponent << 22) & -0x800000, second = (parts.exponent << 23) - first;
  return parts.value * bitcast(first, Type::f32) * bitcast(second, Type::f32);
}

Value exp2(Value x) {
  Value clamped = min(max(x, -151.0), 129.0);
  Rounded k = round_product(clamped, 1.0);
  // 2^r on [-0.501, 0.501], relative error 2^-28.0
  Value value = polynomial(clamped - k.as_float, {1, 0x1.62e43p-1, 0x1.ebfbd8p-3, 0x1.c6af72p-5, 0x1.3b309p-7,
                                                  0x1.5f0e12p-10, 0x1.3fb5f2p-13});
  return scale(value, k.as_integer);
}

// exp(x) - 1 = 2^k (r + r^2 q) + (2^k - 1), all of it halved until the end so that 2^128 does not arise.
Value expm1(Value x) {
  Value clamped = min(max(x, -18.0), 89.0);
  Rounded k = round_product(clamped, log2_e);
  Value r = reduce(clamped, k.as_float);
  // exp(r) - 1 = r + r^2 q on [-0.3475, 0.3475], relative error 2^-31
  Value q = polynomial(r, {0.5, 0x1.555554p-3, 0x1.5554f2p-5, 0x1.11130cp-7, 0x1.6d4174p-10, 0x1.9e0038p-13});
  Value half_power = power_of_two(k.as_integer - 1);
  Value half = fma(half_power, r * r * q, fma(half_power, r, half_power - 0.5));
  return select(abs(x) < 0x1p-25, x, half + half);
}

}  // namespace adit::kernel::f32
