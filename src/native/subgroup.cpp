// Operations over the lanes that run together: on a CPU the SIMD lanes of one-invocation teams.
#include "native/emitter.hpp"

namespace adit::native {

// Each lane's value combined with those before it, in log2(W) steps of fixed shape.
LLVMValueRef Emitter::scan(Reduction op, Type type, Ref vector, bool inclusive) {
  const Ref nothing = splat(constant(type, identity_of(op, type)));
  const auto shifted = [&](Ref v, unsigned by) {
    std::vector<Ref> picks;
    for (unsigned l = 0; l < lanes_; ++l) picks.push_back(i32(l < by ? lanes_ + l : l - by));
    return LLVMBuildShuffleVector(builder_, v, nothing, LLVMConstVector(picks.data(), lanes_), "");
  };
  if (!inclusive) vector = shifted(vector, 1);
  for (unsigned by = 1; by < lanes_; by *= 2) vector = combine(op, type, shifted(vector, by), vector);
  return vector;
}

// The votes of the active lanes as bits.
LLVMValueRef Emitter::ballot(Ref votes, uint64_t word) {
  if (32 * word >= lanes_) return i32(0);
  const TypeRef bits = LLVMIntTypeInContext(context_, lanes_);
  if (effective()) votes = LLVMBuildAnd(builder_, effective(), votes, "");
  const Ref number = LLVMBuildBitCast(builder_, votes, bits, "");
  const Ref shifted = LLVMBuildLShr(builder_, number, integer(bits, 32 * word), "");
  return LLVMBuildIntCast2(builder_, shifted, LLVMInt32TypeInContext(context_), 0, "");
}

void Emitter::subgroup(Id id, const Instruction& it) {
  const Type type = it.type;
  const auto operand = [&](int k) { return value_as(it.operand[k], true); };
  // Inactive lanes take no part: they hold what changes nothing.
  const auto masked = [&](Ref value, uint64_t bits) {
    return effective() ? LLVMBuildSelect(builder_, effective(), value, splat(constant(type, bits)), "")
                       : value;
  };
  const auto op = static_cast<Reduction>(it.constant);
  switch (it.op) {
    case Op::subgroup_size: set(id, i32(lanes_), Shape::uniform); return;
    case Op::subgroup_lane: set(id, i32(0), Shape::linear); return;
    case Op::subgroup_reduce:
      set(id, horizontal(op, type, masked(operand(0), identity_of(op, type))), Shape::uniform);
      return;
    case Op::subgroup_inclusive:
    case Op::subgroup_exclusive:
      set(id, scan(op, type, masked(operand(0), identity_of(op, type)), it.op == Op::subgroup_inclusive),
          Shape::varying);
      return;
    case Op::subgroup_any: set(id, any(masked(operand(0), 0)), Shape::uniform); return;
    case Op::subgroup_all: set(id, all(masked(operand(0), 1)), Shape::uniform); return;
    case Op::subgroup_ballot: set(id, ballot(operand(0), it.constant), Shape::uniform); return;
    case Op::subgroup_first: {
      Ref lane = i32(0);
      if (effective()) {
        const TypeRef bits = LLVMIntTypeInContext(context_, lanes_);
        const Ref number = LLVMBuildBitCast(builder_, effective(), bits, "");
        const Ref first =
            intrinsic("llvm.cttz", {bits}, {number, integer(LLVMInt1TypeInContext(context_), 0)});
        lane = LLVMBuildAnd(
            builder_,
            LLVMBuildZExtOrBitCast(
                builder_, LLVMBuildIntCast2(builder_, first, LLVMInt32TypeInContext(context_), 0, ""),
                LLVMInt32TypeInContext(context_), ""),
            i32(lanes_ - 1), "");
      }
      set(id, LLVMBuildExtractElement(builder_, operand(0), lane, ""), Shape::uniform);
      return;
    }
    default: {  // shuffles
      const Ref value = operand(0);
      Ref from = operand(1);
      if (it.op == Op::subgroup_shuffle_xor)
        from = LLVMBuildXor(builder_, from, iota(LLVMInt32TypeInContext(context_)), "");
      from = LLVMBuildAnd(builder_, from, splat(i32(lanes_ - 1)), "");
      Ref result = LLVMGetPoison(LLVMTypeOf(value));
      for (unsigned l = 0; l < lanes_; ++l)
        result = LLVMBuildInsertElement(
            builder_, result, LLVMBuildExtractElement(builder_, value, lane_of(from, l), ""), i32(l), "");
      set(id, result, Shape::varying);
    }
  }
}

}  // namespace adit::native
