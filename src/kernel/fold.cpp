#include "kernel/fold.hpp"

namespace adit::kernel {

namespace {

// The number that the bits of an integer type stand for, in 64 bits.
int64_t extended(uint64_t bits, Type type) {
  const uint32_t beyond = 64 - bits_of(type);
  if (is_signed_integer(type)) return static_cast<int64_t>(bits << beyond) >> beyond;
  return static_cast<int64_t>(bits);
}

std::optional<uint64_t> computed(Op op, Type type, uint64_t a, uint64_t b) {
  const bool is_signed = is_signed_integer(type);
  const int64_t x = extended(a, type), y = extended(b, type);
  const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (op) {
    case Op::add: return ux + uy;
    case Op::sub: return ux - uy;
    case Op::mul: return ux * uy;
    case Op::div:
      if (y == 0 || (is_signed && y == -1)) return std::nullopt;
      return is_signed ? static_cast<uint64_t>(x / y) : ux / uy;
    case Op::rem:
      if (y == 0 || (is_signed && y == -1)) return std::nullopt;
      return is_signed ? static_cast<uint64_t>(x % y) : ux % uy;
    case Op::bit_and: return ux & uy;
    case Op::bit_or: return ux | uy;
    case Op::bit_xor: return ux ^ uy;
    case Op::equal: return x == y;
    case Op::not_equal: return x != y;
    case Op::less: return is_signed ? x < y : ux < uy;
    case Op::less_equal: return is_signed ? x <= y : ux <= uy;
    default: return std::nullopt;
  }
}

bool compares(Op op) {
  return op == Op::equal || op == Op::not_equal || op == Op::less || op == Op::less_equal;
}

}  // namespace

std::optional<uint64_t> constant_bits_of(Value a) {
  const Instruction& it = a.builder().program()[a.id()];
  if (it.op != Op::constant || a.width() != 1) return std::nullopt;
  return it.constant;
}

std::optional<Value> folded(Op op, Value a, Value b) {
  const Type type = a.type();
  if ((!is_integer(type) && type != Type::boolean) || a.width() != 1 || b.type() != type) return std::nullopt;
  const auto x = constant_bits_of(a), y = constant_bits_of(b);
  if (x && y)
    if (const auto bits = computed(op, type, *x, *y)) {
      const Type result = compares(op) ? Type::boolean : type;
      return a.builder().constant_bits(result, wrapped(result, *bits));
    }
  if (!is_integer(type)) return std::nullopt;
  if (y && *y == 0 && (op == Op::add || op == Op::sub)) return a;  // a + 0 = a
  if (x && *x == 0 && op == Op::add) return b;                     // 0 + b = b
  if (y && *y == 1 && (op == Op::mul || op == Op::div)) return a;  // a * 1 = a
  if (x && *x == 1 && op == Op::mul) return b;                     // 1 * b = b
  if (op == Op::mul && ((x && *x == 0) || (y && *y == 0))) return a.like(0);
  return std::nullopt;
}

}  // namespace adit::kernel
