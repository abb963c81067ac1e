// Bit counting. Devices do it in 32 bits only, so the other widths are made of that.
#include <spirv/unified1/GLSL.std.450.h>

#include "spirv/arithmetic.hpp"

namespace adit::spirv {

using kernel::bits_of;
using kernel::size_of;
using spv::Op;

namespace {

struct Halves {
  Word low, high;
};

Halves halves(Code& code, Word value) {
  const Word u32 = code.type(Type::u32);
  const Word both = code.op(Op::OpBitcast, code.type(Type::u32, 2), {value});
  const Word low = code.op(Op::OpCompositeExtract, u32, {both, 0});
  return {low, code.op(Op::OpCompositeExtract, u32, {both, 1})};
}

// A u32 count as a u64.
Word as64(Code& code, Word count) { return code.op(Op::OpUConvert, code.type(Type::u64), {count}); }

// Without the copies of its sign.
Word zero_extended(Code& code, Type t, Word value) { return code.wrap(kernel::unsigned_like(t), value); }

Word leading32(Code& code, Word value) {  // the highest bit of 0 is -1, which gives 32
  const Word u32 = code.type(Type::u32);
  return code.op(Op::OpISub, u32, {code.u32(31), code.extended(GLSLstd450FindUMsb, u32, {value})});
}

Word trailing32(Code& code, Word value) {
  const Word lowest = code.extended(GLSLstd450FindILsb, code.type(Type::u32), {value});
  const Word is_zero = code.compare(Op::OpIEqual, value, code.u32(0));
  return code.select(Type::u32, is_zero, code.u32(32), lowest);
}

// first == 0 ? 32 + of_second : of_first
Word chain(Code& code, Word first, Word of_first, Word of_second) {
  const Word is_zero = code.compare(Op::OpIEqual, first, code.u32(0));
  const Word further = code.op(Op::OpIAdd, code.type(Type::u32), {of_second, code.u32(32)});
  return code.select(Type::u32, is_zero, further, of_first);
}

}  // namespace

Word count_ones(Code& code, Type t, Word value) {
  const Word u32 = code.type(Type::u32);
  if (size_of(t) < 8) return code.op(Op::OpBitCount, u32, {zero_extended(code, t, value)});
  const Halves part = halves(code, value);
  const Word low = code.op(Op::OpBitCount, u32, {part.low});
  const Word high = code.op(Op::OpBitCount, u32, {part.high});
  return as64(code, code.op(Op::OpIAdd, u32, {low, high}));
}

Word leading_zeros(Code& code, Type t, Word value) {
  if (size_of(t) < 8) {
    const Word count = leading32(code, zero_extended(code, t, value));
    if (size_of(t) == 4) return count;
    return code.op(Op::OpISub, code.type(Type::u32), {count, code.u32(32 - bits_of(t))});
  }
  const Halves part = halves(code, value);
  return as64(code, chain(code, part.high, leading32(code, part.high), leading32(code, part.low)));
}

Word trailing_zeros(Code& code, Type t, Word value) {
  const Word u32 = code.type(Type::u32);
  if (size_of(t) == 4) return trailing32(code, value);
  if (size_of(t) < 4) {  // a bit past the end stops the search
    const Word ended = code.op(Op::OpBitwiseOr, u32, {value, code.u32(1u << bits_of(t))});
    return code.extended(GLSLstd450FindILsb, u32, {ended});
  }
  const Halves part = halves(code, value);
  return as64(code, chain(code, part.low, trailing32(code, part.low), trailing32(code, part.high)));
}

}  // namespace adit::spirv
