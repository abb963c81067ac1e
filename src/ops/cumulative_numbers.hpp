// Elements of running results as they lie in memory, and as they add up.
#pragma once

#include "ops/cumulative.hpp"
#include "ops/halves.hpp"

namespace adit::ops {

inline bool is_half(kernel::Type type) { return type == kernel::Type::f16 || type == kernel::Type::bf16; }
// An f16 is taken apart by hand: not every driver has them.
inline kernel::Type stored_as(kernel::Type type) {
  return type == kernel::Type::f16 ? kernel::Type::u16 : type;
}
inline kernel::Type added_up_as(kernel::Type type) { return is_half(type) ? kernel::Type::f32 : type; }

inline kernel::Value widened(kernel::Value stored, kernel::Type type) {
  if (type == kernel::Type::f16) return half_to_float(stored);
  return type == kernel::Type::bf16 ? convert(stored, kernel::Type::f32) : stored;
}
inline kernel::Value narrowed(kernel::Value number, kernel::Type type) {
  if (type == kernel::Type::f16) return float_to_half(number);
  return type == kernel::Type::bf16 ? convert(number, kernel::Type::bf16) : number;
}

inline kernel::Reduction reduction_of(CumulativeKind kind) {
  switch (kind) {
    case CumulativeKind::sum: return kernel::Reduction::add;
    case CumulativeKind::product: return kernel::Reduction::mul;
    case CumulativeKind::min: return kernel::Reduction::min;
    default: return kernel::Reduction::max;
  }
}
// Of numbers without a sign where it compares: see keys.
inline kernel::Value combined(kernel::Reduction op, kernel::Value a, kernel::Value b) {
  switch (op) {
    case kernel::Reduction::add: return a + b;
    case kernel::Reduction::mul: return a * b;
    case kernel::Reduction::min: return min(a, b);
    default: return max(a, b);
  }
}

// --- Keys --------------------------------------------------------------------------------------------------
// Numbers as whole ones without a sign, in the same order: subgroups compare those, and NaN has a place.
inline kernel::Type key_type(kernel::Type type) {
  return size_of(added_up_as(type)) == 8 ? kernel::Type::u64 : kernel::Type::u32;
}
inline kernel::Value sign_bit(kernel::Value key) {
  return key.like(1) << key.like(key.type() == kernel::Type::u64 ? 63 : 31);
}
// NaN lies beyond all others: above where the largest is looked for, else below.
inline kernel::Value key_of(kernel::Value number, bool largest) {
  using kernel::Type;
  if (!is_float(number.type())) {
    const bool has_sign = is_signed_integer(number.type());
    const bool wide = size_of(number.type()) == 8;
    const Type same = wide ? (has_sign ? Type::i64 : Type::u64) : (has_sign ? Type::i32 : Type::u32);
    const kernel::Value bits = bitcast(convert(number, same), wide ? Type::u64 : Type::u32);
    return has_sign ? bits ^ sign_bit(bits) : bits;
  }
  const kernel::Value bits = bitcast(number, key_type(number.type())), sign = sign_bit(bits);
  const kernel::Value key = bits ^ select((bits & sign) != 0, ~bits.like(0), sign);
  return select(is_nan(number), largest ? ~bits.like(0) : bits.like(0), key);
}
inline kernel::Value number_of_key(kernel::Value key, kernel::Type type) {
  using kernel::Type;
  const kernel::Value sign = sign_bit(key);
  if (is_float(type)) return bitcast(key ^ select((key & sign) != 0, sign, ~key.like(0)), type);
  if (!is_signed_integer(type)) return convert(key, type);
  return convert(bitcast(key ^ sign, key.type() == Type::u64 ? Type::i64 : Type::i32), type);
}

}  // namespace adit::ops
