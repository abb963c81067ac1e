#include "kernel/math/f64/parts.hpp"

namespace adit::kernel::f64 {

Nearest nearest(Value x, double factor) {
  Value sum = fma(x, factor, rounding_shift);
  return {sum - rounding_shift, bitcast(sum, Type::i64) - rounding_shift_bits};
}

Value number_of(Value integer) { return bitcast(integer + rounding_shift_bits, Type::f64) - rounding_shift; }

// Subtracting the bits of s negates its exponent and, roughly, the logarithm of its mantissa.
Value half_reciprocal(Value s) {
  return bitcast(s.builder().constant_bits(Type::u64, 0x7fcd410000000000) - bits(s), Type::f64);
}

Twofold root(Value z, Value z_low) {
  Value s = sqrt_device(z);
  return {s, (fma(-s, s, z) + z_low) * half_reciprocal(s)};
}

Twofold quotient(Twofold n, Twofold d) {
  Value inverse = 1.0 / d.high;
  Value q = n.high * inverse;
  return {q, (fma(-q, d.high, n.high) + fma(-q, d.low, n.low)) * inverse};
}

}  // namespace adit::kernel::f64
