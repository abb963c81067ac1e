// Atomic operations, one lane after the other.
#include "native/emitter.hpp"

namespace adit::native {

LLVMValueRef Emitter::atomic_once(const Instruction& it, Ref pointer, Ref value, Ref expected) {
  const auto order = LLVMAtomicOrderingMonotonic;
  if (it.op == Op::atomic_compare_exchange) {
    const Ref pair = LLVMBuildAtomicCmpXchg(builder_, pointer, expected, value, order, order, 0);
    return LLVMBuildExtractValue(builder_, pair, 0, "");
  }
  const bool floating = is_float(it.type), is_signed = is_signed_integer(it.type);
  if (floating &&
      it.op != Op::atomic_add) {  // min and max with our NaN rule: exchange until nobody was faster
    const TypeRef bits = LLVMIntTypeInContext(context_, bits_of(it.type)), type = scalar_type(it.type);
    const auto before = LLVMGetInsertBlock(builder_), retry = new_block("retry"),
               done = new_block("exchanged");
    const Ref first = LLVMBuildLoad2(builder_, bits, pointer, "");
    LLVMSetOrdering(first, order);
    LLVMBuildBr(builder_, retry);
    enter(retry);
    const Ref seen = LLVMBuildPhi(builder_, bits, "");
    const Ref old = LLVMBuildBitCast(builder_, seen, type, "");
    const Ref wanted =
        combine(it.op == Op::atomic_min ? Reduction::min : Reduction::max, it.type, old, value);
    const Ref pair = LLVMBuildAtomicCmpXchg(builder_, pointer, seen,
                                            LLVMBuildBitCast(builder_, wanted, bits, ""), order, order, 0);
    Ref values[] = {first, LLVMBuildExtractValue(builder_, pair, 0, "")};
    LLVMBasicBlockRef blocks[] = {before, retry};
    LLVMAddIncoming(seen, values, blocks, 2);
    LLVMBuildCondBr(builder_, LLVMBuildExtractValue(builder_, pair, 1, ""), done, retry);
    enter(done);
    return old;
  }
  LLVMAtomicRMWBinOp op{};
  switch (it.op) {
    case Op::atomic_add: op = floating ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd; break;
    case Op::atomic_min: op = is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin; break;
    case Op::atomic_max: op = is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax; break;
    case Op::atomic_and: op = LLVMAtomicRMWBinOpAnd; break;
    case Op::atomic_or: op = LLVMAtomicRMWBinOpOr; break;
    case Op::atomic_xor: op = LLVMAtomicRMWBinOpXor; break;
    default: op = LLVMAtomicRMWBinOpXchg; break;
  }
  return LLVMBuildAtomicRMW(builder_, op, pointer, value, order, 0);
}

void Emitter::atomic(Id id, const Instruction& it) {
  const Ref base = lowered_[it.operand[0]].part[0];
  const bool exchange = it.op == Op::atomic_compare_exchange;
  const Type index_type = program_[it.operand[1]].type;
  if (!in_lanes_) {
    const Ref pointer =
        element(base, it.type, index_as_i64(lowered_[it.operand[1]].part[0], index_type, false));
    const Ref value = lowered_[it.operand[exchange ? 3 : 2]].part[0];
    set(id, atomic_once(it, pointer, value, exchange ? lowered_[it.operand[2]].part[0] : nullptr),
        Shape::uniform);
    return;
  }
  const Ref indices = index_as_i64(value_as(it.operand[1], true), index_type, true);
  const Ref values = value_as(it.operand[exchange ? 3 : 2], true);
  const Ref expected = exchange ? value_as(it.operand[2], true) : nullptr;
  const TypeRef row = vector_of(scalar_type(it.type));
  const Ref results = alloca_at_entry(row, "old");
  LLVMBuildStore(builder_, LLVMConstNull(row), results);
  for (unsigned l = 0; l < lanes_; ++l) {
    const auto work = new_block("lane"), next = new_block("next");
    if (effective())
      LLVMBuildCondBr(builder_, lane_of(effective(), l), work, next);
    else
      LLVMBuildBr(builder_, work);
    enter(work);
    const Ref pointer = element(base, it.type, lane_of(indices, l));
    const Ref old = atomic_once(it, pointer, lane_of(values, l), exchange ? lane_of(expected, l) : nullptr);
    const Ref so_far = LLVMBuildLoad2(builder_, row, results, "");
    LLVMBuildStore(builder_, LLVMBuildInsertElement(builder_, so_far, old, i32(l), ""), results);
    LLVMBuildBr(builder_, next);
    enter(next);
  }
  set(id, LLVMBuildLoad2(builder_, row, results, ""), Shape::varying);
}

}  // namespace adit::native
