// Integer products and quotients: the device's own, or composed where the target says that those fail.
#include "spirv/arithmetic.hpp"

namespace adit::spirv {

using kernel::is_signed_integer;
using kernel::size_of;
using spv::Op;

namespace {

struct Quotient {
  Word quotient, remainder;
};

struct Halves {
  Word low, high;
};

Halves halves(Code& code, Word value) {
  const Word u32 = code.type(Type::u32);
  const Word both = code.op(Op::OpBitcast, code.type(Type::u32, 2), {value});
  const Word low = code.op(Op::OpCompositeExtract, u32, {both, 0});
  return {low, code.op(Op::OpCompositeExtract, u32, {both, 1})};
}

Word joined(Code& code, Halves parts) {
  const Word both = code.op(Op::OpCompositeConstruct, code.type(Type::u32, 2), {parts.low, parts.high});
  return code.op(Op::OpBitcast, code.type(Type::u64), {both});
}

// The upper half of a product by the four products of half the width, which `multiply_halves` makes exact.
template <class Multiply>
Word high_by_quarters(Code& code, Type t, Halves a, Halves b, Multiply multiply_halves) {
  const Word type = code.type(t), half = code.constant(t, kernel::bits_of(t) / 2);
  const Word mask = code.constant(t, t == Type::u32 ? 0xffffu : 0xffffffffu);
  const auto add = [&](Word x, Word y) { return code.op(Op::OpIAdd, type, {x, y}); };
  const auto low = [&](Word x) { return code.op(Op::OpBitwiseAnd, type, {x, mask}); };
  const auto high = [&](Word x) { return code.op(Op::OpShiftRightLogical, type, {x, half}); };
  const Word crossed = multiply_halves(a.low, b.high), other = multiply_halves(a.high, b.low);
  const Word middle = add(add(high(multiply_halves(a.low, b.low)), low(crossed)), low(other));
  const Word upper = add(add(multiply_halves(a.high, b.high), high(crossed)), high(other));
  return add(upper, high(middle));
}

Word high_of_32(Code& code, Word a, Word b) {
  const Word u32 = code.type(Type::u32);
  if (code.target.native_integers) {
    const Word both = code.op(Op::OpUMulExtended, code.module.type(Op::OpTypeStruct, {u32, u32}), {a, b});
    return code.op(Op::OpCompositeExtract, u32, {both, 1});
  }
  const auto parts = [&](Word x) {
    const Word low = code.op(Op::OpBitwiseAnd, u32, {x, code.u32(0xffff)});
    return Halves{low, code.op(Op::OpShiftRightLogical, u32, {x, code.u32(16)})};
  };
  return high_by_quarters(code, Type::u32, parts(a), parts(b), [&](Word x, Word y) {
    return code.op(Op::OpIMul, u32, {x, y});
  });
}

// Two u32 to the whole product, u64.
Word wide_product(Code& code, Word a, Word b) {
  return joined(code, {code.op(Op::OpIMul, code.type(Type::u32), {a, b}), high_of_32(code, a, b)});
}

// By a reciprocal in f32, one step of Newton's on integers, and at most two corrections.
Quotient divide_32(Code& code, Word a, Word b) {
  const Word u32 = code.type(Type::u32), f32 = code.type(Type::f32);
  const auto op = [&](Op what, Word x, Word y) { return code.op(what, u32, {x, y}); };
  const Word real = code.op(Op::OpConvertUToF, f32, {b});
  const Word inverse = code.exact(Op::OpFDiv, f32, {code.float_constant(Type::f32, 1), real});
  const Word below_two_to_32 = code.float_constant(Type::f32, 4294966784.0);
  const Word scaled = code.exact(Op::OpFMul, f32, {inverse, below_two_to_32});
  Word reciprocal = code.op(Op::OpConvertFToU, u32, {scaled});
  const Word error = op(Op::OpIMul, code.op(Op::OpSNegate, u32, {b}), reciprocal);
  reciprocal = op(Op::OpIAdd, reciprocal, high_of_32(code, reciprocal, error));
  Quotient q{high_of_32(code, a, reciprocal), 0};
  q.remainder = op(Op::OpISub, a, op(Op::OpIMul, q.quotient, b));
  for (int correction = 0; correction < 2; ++correction) {
    const Word more = code.compare(Op::OpUGreaterThanEqual, q.remainder, b);
    q.quotient = code.select(Type::u32, more, op(Op::OpIAdd, q.quotient, code.u32(1)), q.quotient);
    q.remainder = code.select(Type::u32, more, op(Op::OpISub, q.remainder, b), q.remainder);
  }
  return q;
}

// Twice by f64, each time a little below the true quotient so that no remainder is negative; what is left
// then is less than two divisors.
Quotient divide_64(Code& code, Word a, Word b) {
  const Word u64 = code.type(Type::u64), f64 = code.type(Type::f64);
  const Word real = code.op(Op::OpConvertUToF, f64, {b});
  const Word shrink = code.float_constant(Type::f64, 1 - 0x1p-50);
  Quotient q{code.constant(Type::u64, 0), a};
  for (int step = 0; step < 2; ++step) {
    const Word left = code.op(Op::OpConvertUToF, f64, {q.remainder});
    const Word ratio = code.exact(Op::OpFDiv, f64, {code.exact(Op::OpFMul, f64, {left, shrink}), real});
    const Word part = code.op(Op::OpConvertFToU, u64, {ratio});
    q.quotient = code.op(Op::OpIAdd, u64, {q.quotient, part});
    q.remainder = code.op(Op::OpISub, u64, {q.remainder, multiply(code, Type::u64, part, b)});
  }
  for (int correction = 0; correction < 2; ++correction) {
    const Word more = code.compare(Op::OpUGreaterThanEqual, q.remainder, b);
    const Word up = code.op(Op::OpIAdd, u64, {q.quotient, code.constant(Type::u64, 1)});
    q.quotient = code.select(Type::u64, more, up, q.quotient);
    q.remainder = code.select(Type::u64, more, code.op(Op::OpISub, u64, {q.remainder, b}), q.remainder);
  }
  return q;
}

// Signed: by the magnitudes; the remainder has the sign of a.
Quotient composed(Code& code, Type t, Word a, Word b) {
  const auto by_width = [&](Word x, Word y) {
    return size_of(t) == 8 ? divide_64(code, x, y) : divide_32(code, x, y);
  };
  if (!is_signed_integer(t)) return by_width(a, b);
  const Word type = code.type(t), zero = code.constant(t, 0);
  const Word a_below = code.compare(Op::OpSLessThan, a, zero),
             b_below = code.compare(Op::OpSLessThan, b, zero);
  const auto negated_if = [&](Word condition, Word x) {
    return code.select(t, condition, code.op(Op::OpSNegate, type, {x}), x);
  };
  const Quotient q = by_width(negated_if(a_below, a), negated_if(b_below, b));
  const Word differ = code.compare(Op::OpLogicalNotEqual, a_below, b_below);
  return {negated_if(differ, q.quotient), negated_if(a_below, q.remainder)};
}

}  // namespace

Word multiply(Code& code, Type t, Word a, Word b) {
  if (code.target.native_integers || size_of(t) < 8)
    return code.wrap(t, code.op(Op::OpIMul, code.type(t), {a, b}));
  const Word u32 = code.type(Type::u32);
  const Halves x = halves(code, a), y = halves(code, b);
  const auto mul = [&](Word p, Word q) { return code.op(Op::OpIMul, u32, {p, q}); };
  const Word crossed = code.op(Op::OpIAdd, u32, {mul(x.low, y.high), mul(x.high, y.low)});
  const Word high = code.op(Op::OpIAdd, u32, {high_of_32(code, x.low, y.low), crossed});
  return joined(code, {mul(x.low, y.low), high});
}

Word mul_high(Code& code, Type t, Word a, Word b) {
  if (t == Type::u32) return high_of_32(code, a, b);
  return high_by_quarters(code, t, halves(code, a), halves(code, b),
                          [&](Word x, Word y) { return wide_product(code, x, y); });
}

Word divide(Code& code, Type t, Word a, Word b, bool remainder) {
  if (code.target.native_integers) {
    const Word type = code.type(t);
    if (!is_signed_integer(t)) return code.op(remainder ? Op::OpUMod : Op::OpUDiv, type, {a, b});
    const Word quotient = code.op(Op::OpSDiv, type, {a, b});
    if (!remainder) return quotient;
    // Not OpSRem: NVIDIA's driver takes a negative divisor for a large positive one.
    return code.op(Op::OpISub, type, {a, code.op(Op::OpIMul, type, {quotient, b})});
  }
  const Quotient q = composed(code, t, a, b);
  return remainder ? q.remainder : q.quotient;
}

}  // namespace adit::spirv
