// Places that a kernel computes, kept inside a tensor by clamps: a read never leaves its operand.
#pragma once

#include <limits>
#include <optional>

#include "graph/row.hpp"

namespace adit::graph {

// The largest number of an integer type that 63 bits hold.
inline int64_t largest(kernel::Type type) {
  const uint32_t bits = kernel::bits_of(type) - (kernel::is_signed_integer(type) ? 1 : 0);
  return bits >= 63 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << bits) - 1;
}

// A number of any integer type as an index from 0 to `last`: what lies outside goes to the nearest end. It is
// clamped in its own type, since 64 bits may not fit into the index's.
inline kernel::Value clamped(kernel::Value number, int64_t last, kernel::Type index) {
  if (kernel::is_signed_integer(number.type())) number = max(number, 0);
  if (last < largest(number.type())) number = min(number, last);
  return convert(number, index);
}

// The number that a value is while the kernel is written, where it is a constant.
inline std::optional<uint64_t> known_number(kernel::Value value) {
  const kernel::Instruction& instruction = value.builder().program()[value.id()];
  if (instruction.op != kernel::Op::constant) return std::nullopt;
  return instruction.constant;
}

inline Scalar choose(kernel::Value condition, const Scalar& on_true, const Scalar& on_false) {
  const kernel::Value re = select(condition, on_true.re, on_false.re);
  return on_true.is_complex ? pair(re, select(condition, on_true.im, on_false.im)) : Scalar{re, {}, false};
}

}  // namespace adit::graph
