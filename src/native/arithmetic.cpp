// Elementwise instructions. The LLVM instruction is the same for a scalar and for a vector of lanes.
#include <bit>
#include <cmath>

#include "native/compile.hpp"
#include "native/emitter.hpp"

namespace adit::native {

namespace {

bool is_vector(LLVMTypeRef type) { return LLVMGetTypeKind(type) == LLVMVectorTypeKind; }

// A constant of a type or, for a vector type, in every lane.
LLVMValueRef everywhere(LLVMTypeRef type, uint64_t value) {
  if (!is_vector(type)) return LLVMConstInt(type, value, 0);
  std::vector<LLVMValueRef> copies(LLVMGetVectorSize(type), LLVMConstInt(LLVMGetElementType(type), value, 0));
  return LLVMConstVector(copies.data(), static_cast<unsigned>(copies.size()));
}

}  // namespace

void Emitter::arithmetic(Id id, const Instruction& it) {
  const Shape shape = shapes_.of[id];
  if (it.op == Op::pack) {
    Lowered& result = set(id, nullptr, shape);
    for (int k = 0; k < it.width; ++k) result.part[k] = value_as(it.operand[k], shape == Shape::varying);
    return;
  }
  if (it.op == Op::extract) {
    const Lowered& vector = lowered_[it.operand[0]];
    set(id, vector.part[it.constant], vector.shape);
    return;
  }
  // A linear result (a sum or a conversion) computes on the base alone.
  const bool vector = shape == Shape::varying;
  Ref operand[3] = {};
  for (int k = 0; k < it.operand_count; ++k) operand[k] = value_as(it.operand[k], vector);
  const TypeRef type = vector ? vector_of(scalar_type(it.type)) : scalar_type(it.type);
  set(id, compute(it, operand[0], operand[1], operand[2], type, program_[it.operand[0]].type), shape);
}

LLVMValueRef Emitter::compute(const Instruction& it, Ref a, Ref b, Ref c, TypeRef type, Type from) {
  const bool floating = is_float(it.type);
  const auto one = [&](const char* name) { return intrinsic(name, {type}, {a}); };
  switch (it.op) {
    case Op::add: return floating ? LLVMBuildFAdd(builder_, a, b, "") : LLVMBuildAdd(builder_, a, b, "");
    case Op::sub: return floating ? LLVMBuildFSub(builder_, a, b, "") : LLVMBuildSub(builder_, a, b, "");
    case Op::mul: return floating ? LLVMBuildFMul(builder_, a, b, "") : LLVMBuildMul(builder_, a, b, "");
    case Op::div: return floating ? LLVMBuildFDiv(builder_, a, b, "") : divide_integers(it, a, b, type);
    case Op::rem: return divide_integers(it, a, b, type);
    case Op::neg: return floating ? LLVMBuildFNeg(builder_, a, "") : LLVMBuildNeg(builder_, a, "");
    case Op::abs:
      if (floating) return one("llvm.fabs");
      return is_unsigned(it.type)
                 ? a
                 : intrinsic("llvm.abs", {type}, {a, integer(LLVMInt1TypeInContext(context_), 0)});
    case Op::fma: return intrinsic("llvm.fma", {type}, {a, b, addend(it, c)});
    case Op::sqrt: return one("llvm.sqrt");
    case Op::floor: return one("llvm.floor");
    case Op::ceil: return one("llvm.ceil");
    case Op::trunc: return one("llvm.trunc");
    case Op::round_even: return one("llvm.roundeven");
    case Op::mul_high: {
      const TypeRef element = LLVMIntTypeInContext(context_, 2 * bits_of(it.type));
      const TypeRef wide = is_vector(type) ? vector_of(element) : element;
      const Ref product = LLVMBuildMul(builder_, LLVMBuildZExt(builder_, a, wide, ""),
                                       LLVMBuildZExt(builder_, b, wide, ""), "");
      return LLVMBuildTrunc(
          builder_, LLVMBuildLShr(builder_, product, everywhere(wide, bits_of(it.type)), ""), type, "");
    }
    case Op::bit_and: return LLVMBuildAnd(builder_, a, b, "");
    case Op::bit_or: return LLVMBuildOr(builder_, a, b, "");
    case Op::bit_xor: return LLVMBuildXor(builder_, a, b, "");
    case Op::bit_not: return LLVMBuildNot(builder_, a, "");
    case Op::shift_left: return LLVMBuildShl(builder_, a, b, "");
    case Op::shift_right:
      return is_unsigned(it.type) ? LLVMBuildLShr(builder_, a, b, "") : LLVMBuildAShr(builder_, a, b, "");
    case Op::count_ones: return one("llvm.ctpop");
    case Op::leading_zeros:
      return intrinsic("llvm.ctlz", {type}, {a, integer(LLVMInt1TypeInContext(context_), 0)});
    case Op::trailing_zeros:
      return intrinsic("llvm.cttz", {type}, {a, integer(LLVMInt1TypeInContext(context_), 0)});
    case Op::less:
      if (const auto x = asked_for_nan(it)) {
        const Ref own = value_as(*x, LLVMGetTypeKind(LLVMTypeOf(b)) == LLVMVectorTypeKind);
        return compare(Op::not_equal, program_[*x].type, own, own);
      }
      return compare(it.op, from, a, b);
    case Op::equal:
    case Op::not_equal:
    case Op::less_equal: return compare(it.op, from, a, b);
    case Op::select:
      if (const Ref kept = choice_that_keeps_nan(it, b)) return kept;
      if (const Ref bounded = bound(it, b, c, type)) return bounded;
      return LLVMBuildSelect(builder_, a, b, c, "");
    case Op::convert:
    case Op::convert_in_range: return conversion(it, from, a, type);
    case Op::bitcast: return LLVMBuildBitCast(builder_, a, type, "");
    default: return nullptr;
  }
}

// min(x, c) and max(x, c), as builder.hpp has them, with a constant other than 0 that is a number: a NaN
// stays, as in the instructions of aarch64. (LLVM finds those of x86-64, which have builder.hpp's own rule,
// by itself.)
LLVMValueRef Emitter::bound(const Instruction& it, Ref limit, Ref x, TypeRef type) {
  const Instruction& less = program_[it.operand[0]];
  const Instruction& known = program_[it.operand[1]];
  if (!host().bounds_pass_nan || less.op != Op::less || known.op != Op::constant) return nullptr;
  const bool f64 = it.type == Type::f64;
  if (!f64 && it.type != Type::f32) return nullptr;
  const double number = f64 ? std::bit_cast<double>(known.constant)
                            : std::bit_cast<float>(static_cast<uint32_t>(known.constant));
  if (number == 0 || std::isnan(number)) return nullptr;
  const Id p = less.operand[0], q = less.operand[1];
  if (p == it.operand[1] && q == it.operand[2]) return intrinsic("llvm.minimum", {type}, {x, limit});
  if (q == it.operand[1] && p == it.operand[2]) return intrinsic("llvm.maximum", {type}, {x, limit});
  return nullptr;
}

// Whom is_nan(x) asks, as value.cpp has it: a comparison of its bits.
std::optional<Id> Emitter::asked_for_nan(const Instruction& it) const {
  const Instruction &infinity = program_[it.operand[0]], &magnitude = program_[it.operand[1]];
  if (it.op != Op::less || infinity.op != Op::constant || magnitude.op != Op::bit_and) return std::nullopt;
  const Instruction &bits = program_[magnitude.operand[0]], &mask = program_[magnitude.operand[1]];
  if (bits.op != Op::bitcast || mask.op != Op::constant) return std::nullopt;
  const Id x = bits.operand[0];
  const Type type = program_[x].type;
  if (type != Type::f64 && type != Type::f32) return std::nullopt;
  const bool is_so = infinity.constant == identity_of(Reduction::min, type) &&
                     mask.constant == (uint64_t{1} << (bits_of(type) - 1)) - 1;
  return is_so ? std::optional(x) : std::nullopt;
}

// min_or_nan and max_or_nan, as value.cpp has them.
LLVMValueRef Emitter::choice_that_keeps_nan(const Instruction& it, Ref second) {
  const Instruction& choice = program_[it.operand[2]];
  const Id b = it.operand[1];
  if (asked_for_nan(program_[it.operand[0]]) != b || choice.op != Op::select || choice.operand[1] != b)
    return nullptr;
  const Instruction& less = program_[choice.operand[0]];
  const Id a = choice.operand[2];
  const bool is_max = less.operand[0] == a && less.operand[1] == b;
  const bool is_min = less.operand[0] == b && less.operand[1] == a;
  if (less.op != Op::less || (!is_max && !is_min)) return nullptr;
  const bool is_vector = LLVMGetTypeKind(LLVMTypeOf(second)) == LLVMVectorTypeKind;
  return combine(is_max ? Reduction::max_or_nan : Reduction::min_or_nan, it.type, value_as(a, is_vector),
                 second);
}

// x / 0 is all ones, x % 0 is x, MIN / -1 is MIN: no instruction traps, whatever lane it is for.
LLVMValueRef Emitter::divide_integers(const Instruction& it, Ref a, Ref b, TypeRef type) {
  const bool is_signed = is_signed_integer(it.type), quotient = it.op == Op::div;
  const Instruction& divisor = program_[it.operand[1]];
  const uint64_t ones = bits_of(it.type) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(it.type)) - 1;
  const auto raw = [&](Ref by) {
    if (quotient) return is_signed ? LLVMBuildSDiv(builder_, a, by, "") : LLVMBuildUDiv(builder_, a, by, "");
    return is_signed ? LLVMBuildSRem(builder_, a, by, "") : LLVMBuildURem(builder_, a, by, "");
  };
  if (divisor.op == Op::constant && divisor.constant != 0 && divisor.constant != ones) return raw(b);
  const Ref zero = LLVMBuildICmp(builder_, LLVMIntEQ, b, LLVMConstNull(type), "");
  Ref unsafe = zero;
  if (is_signed) {
    const Ref lowest =
        LLVMBuildICmp(builder_, LLVMIntEQ, a, everywhere(type, uint64_t{1} << (bits_of(it.type) - 1)), "");
    const Ref minus_one = LLVMBuildICmp(builder_, LLVMIntEQ, b, LLVMConstAllOnes(type), "");
    unsafe = LLVMBuildOr(builder_, zero, LLVMBuildAnd(builder_, lowest, minus_one, ""), "");
  }
  const Ref result = raw(LLVMBuildSelect(builder_, unsafe, everywhere(type, 1), b, ""));
  return LLVMBuildSelect(builder_, zero, quotient ? LLVMConstAllOnes(type) : a, result, "");
}

// LLVM 19 stops at comparisons of <1 x half> on AArch64, and makes them of f32 ones: such a row is taken
// apart.
bool Emitter::is_single(Ref a) { return is_vector(LLVMTypeOf(a)) && LLVMGetVectorSize(LLVMTypeOf(a)) == 1; }
LLVMValueRef Emitter::element_of(Ref row) { return LLVMBuildExtractElement(builder_, row, i32(0), ""); }
LLVMValueRef Emitter::single(Ref a) {
  return LLVMBuildInsertElement(builder_, LLVMGetPoison(vector_of(LLVMTypeOf(a))), a, i32(0), "");
}

LLVMValueRef Emitter::compare(Op op, Type type, Ref a, Ref b) {
  if (is_float(type)) {
    const LLVMRealPredicate predicate = op == Op::equal       ? LLVMRealOEQ
                                        : op == Op::not_equal ? LLVMRealUNE
                                        : op == Op::less      ? LLVMRealOLT
                                                              : LLVMRealOLE;
    const auto apply = [&](Ref x, Ref y) { return LLVMBuildFCmp(builder_, predicate, x, y, ""); };
    if (!is_single(a)) return apply(a, b);
    return single(apply(element_of(a), element_of(b)));
  }
  const bool is_signed = is_signed_integer(type);
  const LLVMIntPredicate predicate = op == Op::equal       ? LLVMIntEQ
                                     : op == Op::not_equal ? LLVMIntNE
                                     : op == Op::less      ? (is_signed ? LLVMIntSLT : LLVMIntULT)
                                                           : (is_signed ? LLVMIntSLE : LLVMIntULE);
  return LLVMBuildICmp(builder_, predicate, a, b, "");
}

LLVMValueRef Emitter::conversion(const Instruction& it, Type from, Ref a, TypeRef type) {
  const Type to = it.type;
  if (to == Type::boolean) {
    const Ref zero = LLVMConstNull(LLVMTypeOf(a));
    return is_float(from) ? LLVMBuildFCmp(builder_, LLVMRealUNE, a, zero, "")
                          : LLVMBuildICmp(builder_, LLVMIntNE, a, zero, "");
  }
  const bool from_signed = is_signed_integer(from);
  if (from == Type::f16 && is_float(to) && is_single(a))
    return single(LLVMBuildFPExt(builder_, element_of(a), scalar_type(to), ""));
  if (is_float(from) && is_float(to))
    return size_of(from) < size_of(to) ? LLVMBuildFPExt(builder_, a, type, "")
                                       : LLVMBuildFPTrunc(builder_, a, type, "");
  if (is_float(to))
    return from_signed ? LLVMBuildSIToFP(builder_, a, type, "") : LLVMBuildUIToFP(builder_, a, type, "");
  if (is_float(from)) {
    const bool to_signed = is_signed_integer(to);
    if (it.op == Op::convert)
      return intrinsic(to_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", {type, LLVMTypeOf(a)}, {a});
    // Freeze: lanes whose result is masked away may hold anything, but must hold something.
    return LLVMBuildFreeze(
        builder_, to_signed ? LLVMBuildFPToSI(builder_, a, type, "") : LLVMBuildFPToUI(builder_, a, type, ""),
        "");
  }
  if (bits_of(from) == bits_of(to)) return a;
  if (bits_of(from) > bits_of(to)) return LLVMBuildTrunc(builder_, a, type, "");
  if (from_signed) return LLVMBuildSExt(builder_, a, type, "");
  const bool is_vector = LLVMGetTypeKind(LLVMTypeOf(a)) == LLVMVectorTypeKind;
  return is_vector && bits_of(from) == 32 ? beside_zeros(a, type) : LLVMBuildZExt(builder_, a, type, "");
}

// Words of 32 bits as the lower halves of 64. Where a known mask leaves lanes out, LLVM 19 makes of an
// extension one of half a register, for which x86 with AVX-512 has no instruction, and ends the process.
LLVMValueRef Emitter::beside_zeros(Ref words, TypeRef type) {
  const unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(words));
  std::vector<Ref> picks;
  for (unsigned l = 0; l < lanes; ++l) picks.insert(picks.end(), {i32(l), i32(lanes)});
  const Ref all = LLVMBuildShuffleVector(builder_, words, LLVMConstNull(LLVMTypeOf(words)),
                                         LLVMConstVector(picks.data(), 2 * lanes), "");
  return LLVMBuildBitCast(builder_, all, type, "");
}

// What two partial results of a reduction make; min and max as builder.hpp has them.
LLVMValueRef Emitter::combine(Reduction op, Type type, Ref a, Ref b) {
  const bool floating = is_float(type);
  switch (op) {
    case Reduction::add:
      return floating ? LLVMBuildFAdd(builder_, a, b, "") : LLVMBuildAdd(builder_, a, b, "");
    case Reduction::mul:
      return floating ? LLVMBuildFMul(builder_, a, b, "") : LLVMBuildMul(builder_, a, b, "");
    case Reduction::min: return LLVMBuildSelect(builder_, compare(Op::less, type, b, a), b, a, "");
    case Reduction::max: return LLVMBuildSelect(builder_, compare(Op::less, type, a, b), b, a, "");
    case Reduction::min_or_nan:
    case Reduction::max_or_nan: {
      const bool is_max = op == Reduction::max_or_nan;
      if (host().bounds_pass_nan)
        return intrinsic(is_max ? "llvm.maximum" : "llvm.minimum", {LLVMTypeOf(a)}, {a, b});
      const Ref is_nan = compare(Op::not_equal, type, b, b);
      return LLVMBuildSelect(builder_, is_nan, b,
                             combine(is_max ? Reduction::max : Reduction::min, type, a, b), "");
    }
    case Reduction::bit_and: return LLVMBuildAnd(builder_, a, b, "");
    case Reduction::bit_or: return LLVMBuildOr(builder_, a, b, "");
    case Reduction::bit_xor: return LLVMBuildXor(builder_, a, b, "");
  }
  return nullptr;
}

}  // namespace adit::native
