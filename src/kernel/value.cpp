// Operators on Values and memory: each writes an instruction, or a few.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "kernel/fold.hpp"
#include "kernel/loose.hpp"

namespace adit::kernel {

namespace {

Value same(Op op, Value a) { return a.builder().emit(op, a.type(), {a.id()}); }
Value same(Op op, Value a, Value b) {
  if (const auto known = folded(op, a, b)) return *known;
  return a.builder().emit(op, a.type(), {a.id(), b.id()});
}
Value compare(Op op, Value a, Value b) {
  if (const auto known = folded(op, a, b)) return *known;
  return a.builder().emit(op, Type::boolean, {a.id(), b.id()});
}

Value boolean(const char* what, Value a) {
  if (a.type() != Type::boolean)
    throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] {}: expected bools, got {}",
                                                     a.builder().program().name, what, name_of(a.type())));
  return a;
}

// Shift amounts at or past the width are undefined on devices; the language takes them modulo the width.
Value shift_amount(Value a, Value bits) {
  const Instruction& it = a.builder().program()[bits.id()];
  const uint64_t width = bits_of(a.type());
  if (it.op == Op::constant && it.constant < width) return bits;
  return bits & bits.like(width - 1);
}

Value bf16_to_f32(Value a) { return bitcast(convert(bitcast(a, Type::u16), Type::u32) << 16, Type::f32); }

// Round to nearest even on the bits; a NaN keeps its sign and becomes quiet.
Value f32_to_bf16(Value a) {
  const Value bits = bitcast(a, Type::u32), upper = bits >> 16;
  const Value rounded = (bits + 0x7fff + (upper & 1)) >> 16;
  return bitcast(convert(select(is_nan(a), upper | 0x40, rounded), Type::u16), Type::bf16);
}

// How many lengths of a joined number a constant is; nothing where it is no multiple.
std::optional<uint64_t> multiple_of(const Builder::Parts* parts, Value number) {
  if (!parts) return std::nullopt;
  const auto bits = constant_bits_of(number);
  if (!bits || *bits == 0 || *bits % static_cast<uint64_t>(parts->length) != 0) return std::nullopt;
  return *bits / static_cast<uint64_t>(parts->length);
}

}  // namespace

Value operator+(Value a, Value b) {
  if (const auto loose = loose_sum(a, b)) return *loose;
  return same(Op::add, a, b);
}
Value operator-(Value a, Value b) {
  if (const auto loose = loose_difference(a, b)) return *loose;
  return same(Op::sub, a, b);
}
Value operator*(Value a, Value b) {
  if (const auto loose = loose_product(a, b)) return *loose;
  return same(Op::mul, a, b);
}
Value operator/(Value a, Value b) {
  const auto* parts = a.builder().parts_of(a);
  if (const auto whole = multiple_of(parts, b)) return parts->row / b.like(static_cast<int64_t>(*whole));
  return same(Op::div, a, b);
}
Value operator%(Value a, Value b) {
  const auto* parts = a.builder().parts_of(a);
  if (const auto whole = multiple_of(parts, b))
    return *whole == 1 ? parts->column
                       : a.builder().joined(parts->row % b.like(static_cast<int64_t>(*whole)), parts->length,
                                            parts->column);
  return same(Op::rem, a, b);
}
Value operator-(Value a) {
  if (const auto loose = loose_negative(a)) return *loose;
  return same(Op::neg, a);
}
Value operator&(Value a, Value b) { return same(Op::bit_and, a, b); }
Value operator|(Value a, Value b) { return same(Op::bit_or, a, b); }
Value operator^(Value a, Value b) { return same(Op::bit_xor, a, b); }
Value operator~(Value a) { return same(Op::bit_not, a); }
Value operator!(Value a) { return same(Op::bit_not, boolean("!", a)); }
Value operator&&(Value a, Value b) { return boolean("&&", a) & boolean("&&", b); }
Value operator||(Value a, Value b) { return boolean("||", a) | boolean("||", b); }
Value operator<<(Value a, Value bits) { return same(Op::shift_left, a, shift_amount(a, bits)); }
Value operator>>(Value a, Value bits) { return same(Op::shift_right, a, shift_amount(a, bits)); }
Value operator==(Value a, Value b) { return compare(Op::equal, a, b); }
Value operator!=(Value a, Value b) { return compare(Op::not_equal, a, b); }
Value operator<(Value a, Value b) { return compare(Op::less, a, b); }
Value operator<=(Value a, Value b) { return compare(Op::less_equal, a, b); }

Value select(Value c, Value a, Value b) {
  if (c.type() == Type::boolean && a.type() == b.type())
    if (const auto known = constant_bits_of(c)) return *known ? a : b;
  return a.builder().emit(Op::select, a.type(), {c.id(), a.id(), b.id()});
}
Value fma(Value a, Value b, Value c) { return a.builder().emit(Op::fma, a.type(), {a.id(), b.id(), c.id()}); }
// |-a| = |a|: functions of both signs of a number then share what they work on.
Value abs(Value a) {
  const Instruction& it = a.builder().program()[a.id()];
  if (it.op == Op::neg && is_float(a.type()))
    a = {&a.builder(), it.operand[0], a.type(), static_cast<uint8_t>(a.width())};
  return same(Op::abs, a);
}
Value sqrt_device(Value a) { return same(Op::sqrt, a); }
Value floor(Value a) { return same(Op::floor, a); }
Value ceil(Value a) { return same(Op::ceil, a); }
Value trunc(Value a) { return same(Op::trunc, a); }
Value round_even(Value a) { return same(Op::round_even, a); }
Value mul_high(Value a, Value b) { return same(Op::mul_high, a, b); }
Value count_ones(Value a) { return same(Op::count_ones, a); }
Value leading_zeros(Value a) { return same(Op::leading_zeros, a); }
Value trailing_zeros(Value a) { return same(Op::trailing_zeros, a); }
Value min(Value a, Value b) { return select(b < a, b, a); }
Value max(Value a, Value b) { return select(a < b, b, a); }

Value is_nan(Value a) {
  const uint64_t infinity = bits_of_number(a.type(), INFINITY);
  const Value bits = bitcast(a, unsigned_like(a.type()));
  const uint64_t magnitude = (uint64_t{1} << (bits_of(a.type()) - 1)) - 1;
  return (bits & magnitude) > infinity;
}

Value min_or_nan(Value a, Value b) { return select(is_nan(b), b, min(a, b)); }  // min yields a that is NaN
Value max_or_nan(Value a, Value b) { return select(is_nan(b), b, max(a, b)); }

Value convert(Value a, Type type) {
  if (a.type() == type) return a;
  if (a.type() == Type::bf16) return convert(bf16_to_f32(a), type);
  if (type == Type::bf16) return f32_to_bf16(convert(a, Type::f32));
  // A constant is converted while the kernel is written.
  const Instruction& it = a.builder().program()[a.id()];
  if (it.op == Op::constant && is_integer(a.type()) && is_integer(type)) {
    const uint32_t beyond = 64 - bits_of(a.type());
    const bool extends_sign = is_signed_integer(a.type());
    const uint64_t bits = it.constant << beyond;
    const uint64_t extended =
        extends_sign ? static_cast<uint64_t>(static_cast<int64_t>(bits) >> beyond) : bits >> beyond;
    return a.builder().constant_bits(type, wrapped(type, extended));
  }
  return a.builder().emit(Op::convert, type, {a.id()});
}

Value convert_in_range(Value a, Type type) {
  if (!is_float(a.type()) || !is_integer(type) || a.type() == Type::bf16) return convert(a, type);
  return a.builder().emit(Op::convert_in_range, type, {a.id()});
}

Value bitcast(Value a, Type type) {
  return a.type() == type ? a : a.builder().emit(Op::bitcast, type, {a.id()});
}

Value Value::operator[](int which) const {
  return builder_->emit(Op::extract, type_, {id_}, static_cast<uint64_t>(which));
}

Element Array::operator[](Value index) const { return {*this, index}; }
Element Array::operator[](uint32_t index) const { return {*this, builder_->constant(Type::u32, index)}; }
Value Array::load(Value index) const { return builder_->emit(Op::load, type_, {id_, index.id()}); }
Value Array::load_vector(Value index, int width) const {
  return builder_->emit(Op::load, type_, {id_, index.id()}, 0, static_cast<uint8_t>(width));
}
void Array::store(Value index, Value value) const {
  builder_->emit(Op::store, Type::none, {id_, index.id(), value.id()}, 0,
                 static_cast<uint8_t>(value.width()));
}

Value Array::atomic(Op op, Value index, Value value) const {
  return builder_->emit(op, type_, {id_, index.id(), value.id()});
}
Value Array::atomic_add(Value i, Value v) const { return atomic(Op::atomic_add, i, v); }
Value Array::atomic_min(Value i, Value v) const { return atomic(Op::atomic_min, i, v); }
Value Array::atomic_max(Value i, Value v) const { return atomic(Op::atomic_max, i, v); }
Value Array::atomic_and(Value i, Value v) const { return atomic(Op::atomic_and, i, v); }
Value Array::atomic_or(Value i, Value v) const { return atomic(Op::atomic_or, i, v); }
Value Array::atomic_xor(Value i, Value v) const { return atomic(Op::atomic_xor, i, v); }
Value Array::atomic_exchange(Value i, Value v) const { return atomic(Op::atomic_exchange, i, v); }
Value Array::atomic_compare_exchange(Value i, Value expected, Value value) const {
  return builder_->emit(Op::atomic_compare_exchange, type_, {id_, i.id(), expected.id(), value.id()});
}

Value Variable::get() const { return builder_->emit(Op::load, type_, {id_}); }
const Variable& Variable::operator=(Value value) const {
  builder_->emit(Op::store, Type::none, {id_, value.id()});
  return *this;
}

namespace {

// A double rounded to nearest even into a small format of 1 + exponent_bits + fraction_bits.
uint64_t narrow_float(double number, int exponent_bits, int fraction_bits) {
  const uint64_t sign = std::signbit(number) ? uint64_t{1} << (exponent_bits + fraction_bits) : 0;
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  if (std::isnan(number)) return sign | infinity | uint64_t{1} << (fraction_bits - 1);
  const double magnitude = std::fabs(number);
  if (magnitude == 0) return sign;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);  // subnormals share the smallest exponent
  if (std::isinf(magnitude) || exponent > bias) return sign | infinity;
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  const auto biased = static_cast<uint64_t>(exponent + bias - 1) << fraction_bits;
  return sign | std::min(biased + static_cast<uint64_t>(units), infinity);  // a carry moves into the exponent
}

}  // namespace

uint64_t wrapped(Type type, uint64_t bits) {
  const uint32_t width = bits_of(type);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

uint64_t bits_of_number(Type type, double number) {
  switch (type) {
    case Type::boolean: return number != 0;
    case Type::f64: return std::bit_cast<uint64_t>(number);
    case Type::f32: return std::bit_cast<uint32_t>(static_cast<float>(number));
    case Type::f16: return narrow_float(number, 5, 10);
    case Type::bf16: return narrow_float(number, 8, 7);
    case Type::u64: return static_cast<uint64_t>(number);
    default: return static_cast<uint64_t>(static_cast<int64_t>(number));
  }
}

}  // namespace adit::kernel
