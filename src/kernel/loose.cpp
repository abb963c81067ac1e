#include "kernel/loose.hpp"

#include <bit>
#include <cmath>
#include <utility>

#include "kernel/fold.hpp"

namespace adit::kernel {

namespace {

bool applies(Value a) {
  return a.builder().is_loose() && a.width() == 1 && (a.type() == Type::f32 || a.type() == Type::f64);
}
bool applies(Value a, Value b) { return applies(a) && b.type() == a.type() && b.width() == 1; }

std::optional<double> number_of(Value a) {
  const auto bits = constant_bits_of(a);
  if (!bits) return std::nullopt;
  if (a.type() == Type::f32) return std::bit_cast<float>(static_cast<uint32_t>(*bits));
  return std::bit_cast<double>(*bits);
}

// The operands of a product or the operand of a negation; nothing where `a` is neither.
std::optional<std::pair<Value, Value>> operands_of(Value a, Op op) {
  Builder& k = a.builder();
  const Instruction& it = k.program()[a.id()];
  if (it.op != op) return std::nullopt;
  const Value first(&k, it.operand[0], a.type());
  return std::pair{first, it.operand_count > 1 ? Value(&k, it.operand[1], a.type()) : first};
}

// The factors of a product, or of the negative of one.
std::optional<std::pair<Value, Value>> factors_of(Value a) {
  if (const auto factors = operands_of(a, Op::mul)) return factors;
  if (const auto inner = operands_of(a, Op::neg))
    if (const auto factors = operands_of(inner->first, Op::mul))
      return std::pair{-factors->first, factors->second};
  return std::nullopt;
}

// A factor that is known, and the other one.
std::optional<std::pair<double, Value>> scaled(Value a) {
  const auto factors = operands_of(a, Op::mul);
  if (!factors) return std::nullopt;
  if (const auto x = number_of(factors->first)) return std::pair{*x, factors->second};
  if (const auto y = number_of(factors->second)) return std::pair{*y, factors->first};
  return std::nullopt;
}

// The product of two constants, where it stays in the range of the type: x * 1e30 * 1e30 may be small.
std::optional<Value> joined(Value like, double a, double b) {
  const double both = a * b;
  const bool fits = like.type() == Type::f32 ? std::isnormal(static_cast<float>(both)) : std::isnormal(both);
  if (!fits) return std::nullopt;
  return like.like(both);
}

// Two products of which one is taken from the other: equal ones must leave nothing, but the rounding error of
// one of them would stay if the other were fused.
bool cancels(Value a, Value b) {
  const bool is_mixed = operands_of(a, Op::neg).has_value() != operands_of(b, Op::neg).has_value();
  return is_mixed && factors_of(a) && factors_of(b);
}

}  // namespace

std::optional<Value> loose_sum(Value a, Value b) {
  if (!applies(a, b)) return std::nullopt;
  if (number_of(a) == 0.0) return b;
  if (number_of(b) == 0.0) return a;
  if (a.id() == b.id()) {
    if (const auto parts = scaled(a))
      if (const auto twice = joined(a, 2, parts->first)) return *twice * parts->second;
    return std::nullopt;
  }
  if (cancels(a, b)) return std::nullopt;
  if (const auto factors = factors_of(b)) return fma(factors->first, factors->second, a);
  if (const auto factors = factors_of(a)) return fma(factors->first, factors->second, b);
  return std::nullopt;
}

std::optional<Value> loose_difference(Value a, Value b) {
  // x - x asks whether x is finite: it stays.
  if (!applies(a, b) || a.id() == b.id()) return std::nullopt;
  if (number_of(b) == 0.0) return a;
  if (factors_of(a) && factors_of(b)) return std::nullopt;
  if (const auto factors = factors_of(b)) return fma(-factors->first, factors->second, a);
  if (const auto factors = factors_of(a)) return fma(factors->first, factors->second, -b);
  return std::nullopt;
}

std::optional<Value> loose_product(Value a, Value b) {
  if (!applies(a, b)) return std::nullopt;
  if (number_of(b)) std::swap(a, b);
  const auto known = number_of(a);
  if (!known) return std::nullopt;
  if (const auto other = number_of(b)) return a.like(*known * *other);
  if (*known == 1.0) return b;
  if (*known == -1.0) return -b;
  if (const auto parts = scaled(b))
    if (const auto both = joined(a, *known, parts->first)) return *both * parts->second;
  if (const auto inner = operands_of(b, Op::neg)) return a.like(-*known) * inner->first;
  return std::nullopt;
}

// The negative of a product stays one: functions of both signs of a number then still see what they share.
std::optional<Value> loose_negative(Value a) {
  if (!applies(a)) return std::nullopt;
  if (const auto known = number_of(a)) return a.like(-*known);
  if (const auto inner = operands_of(a, Op::neg)) return inner->first;
  return std::nullopt;
}

}  // namespace adit::kernel
