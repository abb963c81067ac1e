#include "spirv/arithmetic.hpp"

#include <cmath>
#include <spirv/unified1/GLSL.std.450.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "spirv/convert.hpp"
#include "spirv/rounding.hpp"

namespace adit::spirv {

using kernel::Instruction;
using kernel::is_float;
using kernel::is_signed_integer;
using kernel::Reduction;
using kernel::size_of;
using KernelOp = kernel::Op;
using spv::Op;

namespace {

uint64_t all_ones(Type t) { return size_of(t) == 8 ? ~uint64_t{0} : (uint64_t{1} << size_of(t) * 8) - 1; }

// The three forms of an instruction that tells floats, signed and unsigned integers apart.
Op by_kind(Type t, Op of_float, Op of_signed, Op of_unsigned) {
  return is_float(t) ? of_float : is_signed_integer(t) ? of_signed : of_unsigned;
}

Word binary(Code& code, Type t, Op of_float, Op of_integer, Word a, Word b) {
  if (is_float(t)) return code.exact(of_float, code.type(t), {a, b});
  return code.wrap(t, code.op(of_integer, code.type(t), {a, b}));
}

Word negative(Code& code, Type t, Word a) {
  if (is_float(t)) return code.op(Op::OpFNegate, code.type(t), {a});
  return code.wrap(t, code.op(Op::OpSNegate, code.type(t), {a}));
}

Word product(Code& code, Type t, Word a, Word b) {
  return is_float(t) ? code.exact(Op::OpFMul, code.type(t), {a, b}) : multiply(code, t, a, b);
}

Word less(Code& code, Type t, Word a, Word b) {
  return code.compare(by_kind(t, Op::OpFOrdLessThan, Op::OpSLessThan, Op::OpULessThan), a, b);
}

// x / 0 is all ones, x % 0 is x, and the one quotient that overflows wraps. Devices leave all three
// undefined.
Word integer_divide(Code& code, const Instruction& it, Word a, Word b) {
  const Type t = it.type;
  const bool wants_remainder = it.op == KernelOp::rem, is_signed = is_signed_integer(t);
  const Instruction& divisor = code.program[it.operand[1]];
  const bool is_constant = divisor.op == KernelOp::constant;
  if (is_constant && divisor.constant != 0 && !(is_signed && divisor.constant == all_ones(t)))
    return divide(code, t, a, b, wants_remainder);
  const Word one = code.constant(t, 1), ones = code.constant(t, all_ones(t));
  const Word is_zero = code.compare(Op::OpIEqual, b, code.constant(t, 0));
  Word unsafe = is_zero, is_minus_one = 0;
  if (is_signed) {
    is_minus_one = code.compare(Op::OpIEqual, b, ones);
    unsafe = code.op(Op::OpLogicalOr, code.type(Type::boolean), {is_zero, is_minus_one});
  }
  Word result = divide(code, t, a, code.select(t, unsafe, one, b), wants_remainder);
  if (wants_remainder) return code.select(t, is_zero, a, result);  // x % 1 is 0, as x % -1 is
  if (is_signed) result = code.select(t, is_minus_one, negative(code, t, a), result);
  return code.select(t, is_zero, ones, result);
}

Word absolute(Code& code, Type t, Word a) {
  if (t == Type::f32) {  // by its bits: NVIDIA's FAbs flushes subnormals where told to keep them
    const Word bits = code.op(Op::OpBitcast, code.type(Type::u32), {a});
    const Word magnitude = code.op(Op::OpBitwiseAnd, code.type(Type::u32), {bits, code.u32(0x7fffffff)});
    return code.op(Op::OpBitcast, code.type(t), {magnitude});
  }
  if (is_float(t)) return code.extended(GLSLstd450FAbs, code.type(t), {a});
  if (!is_signed_integer(t)) return a;
  const Word is_below = code.compare(Op::OpSLessThan, a, code.constant(t, 0));
  return code.select(t, is_below, negative(code, t, a), a);
}

Word fused(Code& code, Type t, std::span<const Word> x) {
  if (!code.target.fused_fma) return composed_fma(code, t, x[0], x[1], x[2]);
  const Word result = code.extended(GLSLstd450Fma, code.type(t), {x[0], x[1], x[2]});
  code.module.decorate(result, spv::Decoration::NoContraction);
  return result;
}

Word bitwise(Code& code, KernelOp op, Type t, std::span<const Word> x) {
  const Word type = code.type(t);
  const bool boolean = t == Type::boolean;
  switch (op) {
    case KernelOp::bit_and: return code.op(boolean ? Op::OpLogicalAnd : Op::OpBitwiseAnd, type, x);
    case KernelOp::bit_or: return code.op(boolean ? Op::OpLogicalOr : Op::OpBitwiseOr, type, x);
    case KernelOp::bit_xor: return code.op(boolean ? Op::OpLogicalNotEqual : Op::OpBitwiseXor, type, x);
    default: return code.wrap(t, code.op(boolean ? Op::OpLogicalNot : Op::OpNot, type, x));
  }
}

Word comparison(Code& code, KernelOp op, Type t, Word a, Word b) {
  const bool boolean = t == Type::boolean;
  switch (op) {
    case KernelOp::equal:
      return code.compare(boolean ? Op::OpLogicalEqual : is_float(t) ? Op::OpFOrdEqual : Op::OpIEqual, a, b);
    case KernelOp::not_equal:
      return code.compare(boolean       ? Op::OpLogicalNotEqual
                          : is_float(t) ? Op::OpFUnordNotEqual
                                        : Op::OpINotEqual,
                          a, b);
    case KernelOp::less: return less(code, t, a, b);
    default:
      return code.compare(by_kind(t, Op::OpFOrdLessThanEqual, Op::OpSLessThanEqual, Op::OpULessThanEqual), a,
                          b);
  }
}

bool is_zero(const Instruction& it) { return it.op == KernelOp::constant && (it.constant & 0x7fffffff) == 0; }

// An f32 compared with a constant zero on its right or left, by the ranges of its bits.
Word compare_with_zero(Code& code, KernelOp op, Word value, bool zero_is_right) {
  constexpr uint32_t sign = 0x80000000, infinity = 0x7f800000;
  const Word u32 = code.type(Type::u32), bits = code.op(Op::OpBitcast, u32, {value});
  const auto minus = [&](uint32_t by) { return code.op(Op::OpISub, u32, {bits, code.u32(by)}); };
  const auto at_most = [&](Word x, uint32_t most) {
    return code.compare(Op::OpULessThanEqual, x, code.u32(most));
  };
  const auto either = [&](Word a, Word b) {
    return code.op(Op::OpLogicalOr, code.type(Type::boolean), {a, b});
  };
  const auto equals = [&](uint32_t what) { return code.compare(Op::OpIEqual, bits, code.u32(what)); };
  const Word magnitude = code.op(Op::OpBitwiseAnd, u32, {bits, code.u32(~sign)});
  switch (op) {
    case KernelOp::equal: return code.compare(Op::OpIEqual, magnitude, code.u32(0));
    case KernelOp::not_equal: return code.compare(Op::OpINotEqual, magnitude, code.u32(0));
    case KernelOp::less:
      return zero_is_right ? at_most(minus(sign + 1), infinity - 1) : at_most(minus(1), infinity - 1);
    default:
      return zero_is_right ? either(equals(0), at_most(minus(sign), infinity))
                           : either(equals(sign), at_most(bits, infinity));
  }
}

// Vectors of halves that may only be moved are put together and taken apart as f32.
Word pack(Code& code, const Instruction& it, std::span<const Word> x) {
  if (!code.is_storage_only(it.type))
    return code.op(Op::OpCompositeConstruct, code.type(it.type, it.width), x);
  Words wide;
  for (const Word part : x) wide.push_back(widen(code, part, it.type));
  const Word all = code.op(Op::OpCompositeConstruct, code.type(Type::f32, it.width), wide);
  return narrow(code, all, it.type, it.width);
}

Word extract(Code& code, const Instruction& it, Word vector) {
  const auto which = static_cast<Word>(it.constant);
  if (!code.is_storage_only(it.type))
    return code.op(Op::OpCompositeExtract, code.type(it.type), {vector, which});
  const Word wide = widen(code, vector, it.type, code.program[it.operand[0]].width);
  const Word part = code.op(Op::OpCompositeExtract, code.type(Type::f32), {wide, which});
  const Word half = narrow(code, part, it.type);
  code.widened[half] = part;
  return half;
}

// A half goes through a pair of halves, so that no 16-bit integers are needed.
Word bit_cast(Code& code, Type from, Type to, Word value) {
  if (from == to) return value;
  if (from == Type::f16) {
    const Word pair = code.op(Op::OpCompositeConstruct, code.type(from, 2), {value, code.constant(from, 0)});
    return code.wrap(to, code.op(Op::OpBitcast, code.type(Type::u32), {pair}));
  }
  if (to == Type::f16) {
    const Word pair = code.op(Op::OpBitcast, code.type(to, 2), {value});
    return code.op(Op::OpCompositeExtract, code.type(to), {pair, 0});
  }
  if (code.type(from) == code.type(to)) return code.wrap(to, value);
  return code.op(Op::OpBitcast, code.type(to), {value});
}

}  // namespace

Word arithmetic(Code& code, const Instruction& it, std::span<const Word> x) {
  const Type t = it.type, from = code.program[it.operand[0]].type;
  const Word type = code.type(t);
  switch (it.op) {
    case KernelOp::add: return binary(code, t, Op::OpFAdd, Op::OpIAdd, x[0], x[1]);
    case KernelOp::sub: return binary(code, t, Op::OpFSub, Op::OpISub, x[0], x[1]);
    case KernelOp::mul: return product(code, t, x[0], x[1]);
    case KernelOp::div:
      return is_float(t) ? code.exact(Op::OpFDiv, type, {x[0], x[1]}) : integer_divide(code, it, x[0], x[1]);
    case KernelOp::rem: return integer_divide(code, it, x[0], x[1]);
    case KernelOp::neg: return negative(code, t, x[0]);
    case KernelOp::abs: return absolute(code, t, x[0]);
    case KernelOp::fma: return fused(code, t, x);
    case KernelOp::mul_high: return mul_high(code, t, x[0], x[1]);
    case KernelOp::sqrt: return code.extended(GLSLstd450Sqrt, type, {x[0]});
    case KernelOp::floor: return code.extended(GLSLstd450Floor, type, {x[0]});
    case KernelOp::ceil: return code.extended(GLSLstd450Ceil, type, {x[0]});
    case KernelOp::trunc: return code.extended(GLSLstd450Trunc, type, {x[0]});
    case KernelOp::round_even: return code.extended(GLSLstd450RoundEven, type, {x[0]});
    case KernelOp::bit_and:
    case KernelOp::bit_or:
    case KernelOp::bit_xor:
    case KernelOp::bit_not: return bitwise(code, it.op, t, x);
    case KernelOp::shift_left: return code.wrap(t, code.op(Op::OpShiftLeftLogical, type, x));
    case KernelOp::shift_right:
      return code.op(is_signed_integer(t) ? Op::OpShiftRightArithmetic : Op::OpShiftRightLogical, type, x);
    case KernelOp::count_ones: return count_ones(code, t, x[0]);
    case KernelOp::leading_zeros: return leading_zeros(code, t, x[0]);
    case KernelOp::trailing_zeros: return trailing_zeros(code, t, x[0]);
    case KernelOp::equal:
    case KernelOp::not_equal:
    case KernelOp::less:
    case KernelOp::less_equal:
      if (from == Type::f32 && code.target.comparisons_flush)
        for (int k = 0; k < 2; ++k)
          if (is_zero(code.program[it.operand[k]])) return compare_with_zero(code, it.op, x[1 - k], k == 1);
      return comparison(code, it.op, from, x[0], x[1]);
    case KernelOp::select: return code.op(Op::OpSelect, type, x);
    case KernelOp::convert: return convert(code, x[0], from, t, false);
    case KernelOp::convert_in_range: return convert(code, x[0], from, t, true);
    case KernelOp::bitcast: return bit_cast(code, from, t, x[0]);
    case KernelOp::pack: return pack(code, it, x);
    case KernelOp::extract: return extract(code, it, x[0]);
    default: throw Error(ErrorKind::internal, "[spirv] arithmetic: unknown instruction");
  }
}

Word multiply_add(Code& code, Type t, Word a, Word b, Word c) {
  const Word operands[] = {a, b, c};
  return fused(code, t, operands);
}

// NaN has more of the former than of the latter, whatever a driver makes of comparisons.
Word magnitude_bits(Code& code, Type t, Word x) {
  const Type bits = kernel::unsigned_like(t);
  const Word own = code.op(Op::OpBitcast, code.type(bits), {x});
  return code.op(Op::OpBitwiseAnd, code.type(bits), {own, code.constant(bits, all_ones(bits) >> 1)});
}
Word infinity_bits(Code& code, Type t) {
  return code.constant(kernel::unsigned_like(t), kernel::bits_of_number(t, HUGE_VAL));
}

Word combine(Code& code, Reduction reduction, Type t, Word a, Word b) {
  const Word type = code.type(t);
  switch (reduction) {
    case Reduction::add: return binary(code, t, Op::OpFAdd, Op::OpIAdd, a, b);
    case Reduction::mul: return product(code, t, a, b);
    case Reduction::min: return code.select(t, less(code, t, b, a), b, a);
    case Reduction::max: return code.select(t, less(code, t, a, b), b, a);
    case Reduction::min_or_nan:
    case Reduction::max_or_nan: {
      const Reduction choice = reduction == Reduction::min_or_nan ? Reduction::min : Reduction::max;
      return code.select(t,
                         code.compare(Op::OpUGreaterThan, magnitude_bits(code, t, b), infinity_bits(code, t)),
                         b, combine(code, choice, t, a, b));
    }
    case Reduction::bit_and: return code.op(Op::OpBitwiseAnd, type, {a, b});
    case Reduction::bit_or: return code.op(Op::OpBitwiseOr, type, {a, b});
    case Reduction::bit_xor: return code.op(Op::OpBitwiseXor, type, {a, b});
  }
  throw Error(ErrorKind::internal, "[spirv] combine: unknown reduction");
}

uint64_t identity(Reduction reduction, Type t) {
  const uint64_t ones = all_ones(t), largest = is_signed_integer(t) ? ones >> 1 : ones;
  switch (reduction) {
    case Reduction::mul: return is_float(t) ? kernel::bits_of_number(t, 1) : 1;
    case Reduction::min:
    case Reduction::min_or_nan: return is_float(t) ? kernel::bits_of_number(t, HUGE_VAL) : largest;
    case Reduction::max:
    case Reduction::max_or_nan: return is_float(t) ? kernel::bits_of_number(t, -HUGE_VAL) : ones ^ largest;
    case Reduction::bit_and: return ones;
    default: return 0;
  }
}

}  // namespace adit::spirv
