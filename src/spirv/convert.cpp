#include "spirv/convert.hpp"

#include <cmath>

#include "spirv/rounding.hpp"

namespace adit::spirv {

using kernel::bits_of;
using kernel::is_float;
using kernel::is_signed_integer;
using kernel::size_of;
using spv::Op;

Word widen(Code& code, Word value, Type t, uint32_t width) {
  if (t != Type::f16) return value;
  if (const auto known = code.widened.find(value); known != code.widened.end()) return known->second;
  return code.op(Op::OpFConvert, code.type(Type::f32, width), {value});
}

Word narrow(Code& code, Word value, Type t, uint32_t width) {
  return t == Type::f16 ? code.op(Op::OpFConvert, code.type(t, width), {value}) : value;
}

namespace {

Word float_to_float(Code& code, Word value, Type from, Type to) {
  if (to == Type::f16) return to_half(code, from, value);
  if (const auto made = code.halves.find(value); from == Type::f16 && made != code.halves.end()) {
    const Word rounded = round_to_half(code, made->second);
    return to == Type::f32 ? rounded : code.op(Op::OpFConvert, code.type(to), {rounded});
  }
  if (from == Type::f16 && to == Type::f32) return widen(code, value, from);
  return code.op(Op::OpFConvert, code.type(to), {from == Type::f16 ? widen(code, value, from) : value});
}

Word integer_to_float(Code& code, Word value, Type from, Type to) {
  const Op op = is_signed_integer(from) ? Op::OpConvertSToF : Op::OpConvertUToF;
  // Every integer that f16 can hold is exact in f32, and the others become infinite either way.
  const Type middle = to == Type::f16 ? Type::f32 : to;
  const Word result = code.op(op, code.type(middle), {value});
  return middle == to ? result : integer_valued_to_half(code, result);
}

Word float_to_integer(Code& code, Word value, Type from, Type to, bool in_range) {
  value = widen(code, value, from);
  if (from == Type::f16) from = Type::f32;
  const bool is_signed = is_signed_integer(to);
  const Op op = is_signed ? Op::OpConvertFToS : Op::OpConvertFToU;
  if (in_range) return code.wrap(to, code.op(op, code.type(to), {value}));
  const uint32_t digits = bits_of(to) - (is_signed ? 1 : 0);
  const uint64_t largest = digits == 64 ? ~uint64_t{0} : (uint64_t{1} << digits) - 1;
  const Word least = code.float_constant(from, is_signed ? -std::ldexp(1.0, static_cast<int>(digits)) : 0.0);
  const Word end = code.float_constant(from, std::ldexp(1.0, static_cast<int>(digits)));
  // NaN fails every comparison, so it takes the zero.
  const Word fits = code.logical_and(code.compare(Op::OpFOrdGreaterThanEqual, value, least),
                                     code.compare(Op::OpFOrdLessThan, value, end));
  const Word safe = code.select(from, fits, value, code.float_constant(from, 0));
  Word result = code.op(op, code.type(to), {safe});
  const Word above = code.compare(Op::OpFOrdGreaterThanEqual, value, end);
  result = code.select(to, above, code.constant(to, largest), result);
  if (is_signed) {
    const Word below = code.compare(Op::OpFOrdLessThan, value, least);
    result = code.select(to, below, code.constant(to, largest + 1), result);
  }
  return result;
}

Word to_bool(Code& code, Word value, Type from) {
  if (code.is_storage_only(from)) {
    value = widen(code, value, from);
    from = Type::f32;
  }
  return code.compare(is_float(from) ? Op::OpFUnordNotEqual : Op::OpINotEqual, value, code.constant(from, 0));
}

Word from_bool(Code& code, Word value, Type to) {
  const Type wide = to == Type::f16 ? Type::f32 : to;
  const Word one = is_float(wide) ? code.float_constant(wide, 1) : code.constant(wide, 1);
  return narrow(code, code.select(wide, value, one, code.constant(wide, 0)), to);
}

// 32 bits to 64, the sign in all of the upper ones.
Word widen_by_shifts(Code& code, Word value, Type to) {
  const Word half = code.constant(Type::u32, 32);
  value = code.op(Op::OpUConvert, code.type(to), {value});
  value = code.op(Op::OpShiftLeftLogical, code.type(to), {value, half});
  return code.op(Op::OpShiftRightArithmetic, code.type(to), {value, half});
}

}  // namespace

Word convert(Code& code, Word value, Type from, Type to, bool in_range) {
  if (from == to) return value;
  if (to == Type::boolean) return to_bool(code, value, from);
  if (from == Type::boolean) return from_bool(code, value, to);
  if (is_float(from) && is_float(to)) return float_to_float(code, value, from, to);
  if (is_float(from)) return float_to_integer(code, value, from, to, in_range);
  if (is_float(to)) return integer_to_float(code, value, from, to);
  if (size_of(to) == 8 && is_signed_integer(from) && size_of(from) < 8 && !code.target.signed_widening)
    value = widen_by_shifts(code, value, to);
  else if ((size_of(from) == 8) != (size_of(to) == 8))
    value = code.op(is_signed_integer(from) ? Op::OpSConvert : Op::OpUConvert, code.type(to), {value});
  return code.wrap(to, value);
}

}  // namespace adit::spirv
