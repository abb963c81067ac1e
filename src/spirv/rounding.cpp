#include "spirv/rounding.hpp"

#include <cmath>
#include <spirv/unified1/GLSL.std.450.h>

namespace adit::spirv {

using spv::Op;

Pair two_sum(Code& code, Type t, Word a, Word b) {
  const Word type = code.type(t);
  const Word sum = code.exact(Op::OpFAdd, type, {a, b});
  const Word of_b = code.exact(Op::OpFSub, type, {sum, a});
  const Word of_a = code.exact(Op::OpFSub, type, {sum, of_b});
  const Word error_a = code.exact(Op::OpFSub, type, {a, of_a});
  const Word error_b = code.exact(Op::OpFSub, type, {b, of_b});
  return {sum, code.exact(Op::OpFAdd, type, {error_a, error_b})};
}

namespace {

// The bits of a float as 32-bit words; an f64 has two. No 64-bit integers are needed this way.
Pair words_of(Code& code, Type t, Word value) {
  const Word u32 = code.type(Type::u32);
  if (t == Type::f32) {
    const Word bits = code.op(Op::OpBitcast, u32, {value});
    return {bits, bits};
  }
  const Word both = code.op(Op::OpBitcast, code.type(Type::u32, 2), {value});
  const Word low = code.op(Op::OpCompositeExtract, u32, {both, 0});
  return {code.op(Op::OpCompositeExtract, u32, {both, 1}), low};
}

Word from_words(Code& code, Type t, Pair words) {
  if (t == Type::f32) return code.op(Op::OpBitcast, code.type(t), {words.low});
  const Word both = code.op(Op::OpCompositeConstruct, code.type(Type::u32, 2), {words.low, words.high});
  return code.op(Op::OpBitcast, code.type(t), {both});
}

}  // namespace

Word round_to_odd(Code& code, Type t, Word value, Word error) {
  const Word u32 = code.type(Type::u32), zero = code.u32(0), one = code.u32(1);
  const Pair bits = words_of(code, t, value);
  const Word signs = code.op(Op::OpBitwiseXor, u32, {bits.high, words_of(code, t, error).high});
  const Word opposite =
      code.compare(Op::OpINotEqual, code.op(Op::OpBitwiseAnd, u32, {signs, code.u32(0x80000000)}), zero);
  const Word inexact = code.compare(Op::OpFOrdNotEqual, error, code.float_constant(t, 0));
  const Word even = code.compare(Op::OpIEqual, code.op(Op::OpBitwiseAnd, u32, {bits.low, one}), zero);
  const Word moves = code.logical_and(inexact, even);
  // An even magnitude grows by setting its last bit, and shrinks by subtracting one from all of it.
  const Word grown = code.op(Op::OpBitwiseOr, u32, {bits.low, one});
  const Word shrunk = code.op(Op::OpISub, u32, {bits.low, one});
  const Word moved = code.select(Type::u32, opposite, shrunk, grown);
  Pair out{0, code.select(Type::u32, moves, moved, bits.low)};
  if (t == Type::f64) {
    const Word empty = code.compare(Op::OpIEqual, bits.low, zero);
    const Word borrows = code.logical_and(code.logical_and(opposite, moves), empty);
    const Word borrow = code.select(Type::u32, borrows, one, zero);
    out.high = code.op(Op::OpISub, u32, {bits.high, borrow});
  }
  return from_words(code, t, out);
}

Word round_to_half(Code& code, Word value) {
  const Word u32 = code.type(Type::u32), f32 = code.type(Type::f32);
  const auto integer = [&](Op op, Word a, Word b) { return code.op(op, u32, {a, b}); };
  const Word bits = code.op(Op::OpBitcast, u32, {value});
  const Word sign = integer(Op::OpBitwiseAnd, bits, code.u32(0x80000000));
  const Word magnitude = integer(Op::OpBitwiseAnd, bits, code.u32(0x7fffffff));

  // Normal halves: cut 13 bits, ties to even.
  const Word last =
      integer(Op::OpBitwiseAnd, integer(Op::OpShiftRightLogical, magnitude, code.u32(13)), code.u32(1));
  const Word raised = integer(Op::OpIAdd, integer(Op::OpIAdd, magnitude, code.u32(0xfff)), last);
  const Word normal = integer(Op::OpBitwiseAnd, raised, code.u32(0xffffe000));
  // Subnormal halves are multiples of 2^-24, the unit in the last place of 0.5.
  const Word half = code.float_constant(Type::f32, 0.5);
  const Word shifted = code.exact(Op::OpFAdd, f32, {code.op(Op::OpBitcast, f32, {magnitude}), half});
  const Word tiny = code.op(Op::OpBitcast, u32, {code.exact(Op::OpFSub, f32, {shifted, half})});

  const Word is_tiny = code.compare(Op::OpULessThan, magnitude, code.u32(0x38800000));
  const Word is_finite = code.compare(Op::OpULessThan, magnitude, code.u32(0x7f800000));
  const Word overflows = code.compare(Op::OpUGreaterThanEqual, normal, code.u32(0x47800000));
  Word out = code.select(Type::u32, overflows, code.u32(0x7f800000), normal);
  out = code.select(Type::u32, is_tiny, tiny, out);
  out = code.select(Type::u32, is_finite, out, magnitude);
  return code.op(Op::OpBitcast, f32, {integer(Op::OpBitwiseOr, out, sign)});
}

Word single_of_half(Code& code, Word bits) {
  const Word u32 = code.type(Type::u32), f32 = code.type(Type::f32);
  const auto integer = [&](Op op, Word a, uint32_t b) { return code.op(op, u32, {a, code.u32(b)}); };
  constexpr uint32_t bias = 112u << 23, infinity = 0x7c00, least_normal = 0x400;
  const Word magnitude = integer(Op::OpBitwiseAnd, bits, 0x7fff);
  const Word sign = integer(Op::OpShiftLeftLogical, integer(Op::OpBitwiseAnd, bits, 0x8000), 16);
  const Word normal = integer(Op::OpIAdd, integer(Op::OpShiftLeftLogical, magnitude, 13), bias);
  const Word count = code.op(Op::OpConvertUToF, f32, {magnitude});
  const Word tiny = code.exact(Op::OpFMul, f32, {count, code.float_constant(Type::f32, 0x1p-24)});
  const Word is_special = code.compare(Op::OpUGreaterThanEqual, magnitude, code.u32(infinity));
  const Word is_tiny = code.compare(Op::OpULessThan, magnitude, code.u32(least_normal));
  Word out = code.select(Type::u32, is_special, integer(Op::OpIAdd, normal, bias), normal);
  out = code.select(Type::u32, is_tiny, code.op(Op::OpBitcast, u32, {tiny}), out);
  return code.op(Op::OpBitcast, f32, {code.op(Op::OpBitwiseOr, u32, {out, sign})});
}

Word integer_valued_to_half(Code& code, Word value) {
  const Word half = code.op(Op::OpFConvert, code.type(Type::f16), {round_to_half(code, value)});
  code.halves[half] = value;
  return half;
}

Word to_half(Code& code, Type from, Word value) {
  const Word f16 = code.type(Type::f16);
  if (from == Type::f32 && code.target.float16 && code.target.rounding_rte16) {
    const Word half = code.op(Op::OpFConvert, f16, {value});
    code.halves[half] = value;
    return half;
  }
  if (from == Type::f64) {  // by hand always: drivers go through f32 and round twice
    const Word f64 = code.type(Type::f64);
    const Word near = code.op(Op::OpFConvert, code.type(Type::f32), {value});
    const Word back = code.op(Op::OpFConvert, f64, {near});
    const Word error = code.exact(Op::OpFSub, f64, {value, back});
    // Only the sign of the error counts, and whether there is one.
    const Word positive = code.compare(Op::OpFOrdGreaterThan, error, code.float_constant(Type::f64, 0));
    const Word negative = code.compare(Op::OpFOrdLessThan, error, code.float_constant(Type::f64, 0));
    Word direction = code.select(Type::f32, positive, code.float_constant(Type::f32, 1),
                                 code.float_constant(Type::f32, 0));
    direction = code.select(Type::f32, negative, code.float_constant(Type::f32, -1), direction);
    value = round_to_odd(code, Type::f32, near, direction);
  }
  return integer_valued_to_half(code, value);
}

namespace {

// The product is exact in a type of twice the bits; the sum, rounded to odd, is rounded to nearest once.
Word fma_through(Code& code, Type t, Type wide, Word a, Word b, Word c) {
  const Word type = code.type(wide);
  const auto widen = [&](Word value) { return code.op(Op::OpFConvert, type, {value}); };
  const Word product = code.exact(Op::OpFMul, type, {widen(a), widen(b)});
  const Pair sum = two_sum(code, wide, product, widen(c));
  const Word odd = round_to_odd(code, wide, sum.high, sum.low);
  return t == Type::f16 ? to_half(code, wide, odd) : code.op(Op::OpFConvert, code.type(t), {odd});
}

// A value as the sum of two of half its digits. Cutting bits cannot overflow, unlike Veltkamp's product.
Pair split(Code& code, Type t, Word value) {
  const Word u32 = code.type(Type::u32);
  Pair bits = words_of(code, t, value);
  if (t == Type::f32) {
    bits.low = code.op(Op::OpBitwiseAnd, u32, {bits.low, code.u32(0xfffff000)});
  } else {  // 53 bits: the upper part is rounded to 26, so that 26 and a sign are left
    const Word raised = code.op(Op::OpIAdd, u32, {bits.low, code.u32(1u << 26)});
    const Word carries = code.compare(Op::OpULessThan, raised, bits.low);
    const Word carry = code.select(Type::u32, carries, code.u32(1), code.u32(0));
    bits.low = code.op(Op::OpBitwiseAnd, u32, {raised, code.u32(0xf8000000)});
    bits.high = code.op(Op::OpIAdd, u32, {bits.high, carry});
  }
  const Word high = from_words(code, t, bits);
  return {high, code.exact(Op::OpFSub, code.type(t), {value, high})};
}

// a * b as the rounded product and its error, exact (Dekker).
Pair two_product(Code& code, Type t, Word a, Word b) {
  const Word type = code.type(t);
  const auto mul = [&](Word x, Word y) { return code.exact(Op::OpFMul, type, {x, y}); };
  const auto sub = [&](Word x, Word y) { return code.exact(Op::OpFSub, type, {x, y}); };
  const Word product = mul(a, b);
  const Pair x = split(code, t, a), y = split(code, t, b);
  const Word left = sub(sub(sub(product, mul(x.high, y.high)), mul(x.low, y.high)), mul(x.high, y.low));
  return {product, sub(mul(x.low, y.low), left)};
}

}  // namespace

Word composed_fma(Code& code, Type t, Word a, Word b, Word c) {
  if (t == Type::f16) return fma_through(code, t, Type::f32, a, b, c);
  if (t == Type::f32 && code.target.float64) return fma_through(code, t, Type::f64, a, b, c);
  const Word type = code.type(t);
  const Pair product = two_product(code, t, a, b);
  const Pair lower = two_sum(code, t, c, product.low);
  const Pair upper = two_sum(code, t, product.high, lower.high);
  const Pair rest = two_sum(code, t, lower.low, upper.low);
  const Word odd = round_to_odd(code, t, rest.high, rest.low);
  const Word fused = code.exact(Op::OpFAdd, type, {upper.high, odd});
  // Where the pieces overflow, are not numbers, or cancel to a zero whose sign counts, the plain sum is
  // right.
  const Word plain = code.exact(Op::OpFAdd, type, {product.high, c});
  const Word infinity = code.float_constant(t, HUGE_VAL);
  const auto is_finite = [&](Word x) {
    return code.compare(Op::OpFOrdLessThan, code.extended(GLSLstd450FAbs, type, {x}), infinity);
  };
  const Word is_nonzero = code.compare(Op::OpFOrdNotEqual, fused, code.float_constant(t, 0));
  const Word result = code.select(t, code.logical_and(is_finite(fused), is_nonzero), fused, plain);
  // A finite product that overflowed does not make an infinite c a NaN.
  const Word is_infinite = code.compare(Op::OpFOrdEqual, code.extended(GLSLstd450FAbs, type, {c}), infinity);
  const Word takes_c = code.logical_and(is_infinite, code.logical_and(is_finite(a), is_finite(b)));
  return code.select(t, takes_c, c, result);
}

}  // namespace adit::spirv
