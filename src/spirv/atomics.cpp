// Atomics: the device's own for integers, compare and exchange of the bits for what it does not have.
#include <adit/error.hpp>

#include "spirv/arithmetic.hpp"
#include "spirv/memory.hpp"

namespace adit::spirv {

using kernel::Instruction;
using kernel::is_signed_integer;
using kernel::Reduction;
using spv::Op;
using KernelOp = kernel::Op;

namespace {

Op integer_atomic(KernelOp op, bool is_signed) {
  switch (op) {
    case KernelOp::atomic_add: return Op::OpAtomicIAdd;
    case KernelOp::atomic_min: return is_signed ? Op::OpAtomicSMin : Op::OpAtomicUMin;
    case KernelOp::atomic_max: return is_signed ? Op::OpAtomicSMax : Op::OpAtomicUMax;
    case KernelOp::atomic_and: return Op::OpAtomicAnd;
    case KernelOp::atomic_or: return Op::OpAtomicOr;
    case KernelOp::atomic_xor: return Op::OpAtomicXor;
    case KernelOp::atomic_exchange: return Op::OpAtomicExchange;
    default: throw Error(ErrorKind::internal, "[spirv] atomic: unknown instruction");
  }
}

// old = *p; while another wrote in between, again with what it wrote.
Word exchange_loop(Code& code, Reduction op, Type t, Word pointer, Word scope, Word value) {
  const Type bits = kernel::unsigned_like(t);
  const Word cell = code.type(bits), none = code.u32(0);
  const Word header = code.label(), next = code.label(), merge = code.label(), old = code.module.fresh();
  const Word first = code.op(Op::OpAtomicLoad, cell, {pointer, scope, none}), before = code.current();
  code.branch(header);
  code.begin(header);
  const size_t retry = code.phi(old, cell, first, before, next);
  const Word body = code.label();
  code.loop_merge(merge, next);
  code.branch(body);
  code.begin(body);
  const Word current = code.op(Op::OpBitcast, code.type(t), {old});
  const Word wanted = code.op(Op::OpBitcast, cell, {combine(code, op, t, current, value)});
  const Word seen = code.op(Op::OpAtomicCompareExchange, cell, {pointer, scope, none, none, wanted, old});
  code.set_phi(retry, seen);
  code.branch_if(code.compare(Op::OpIEqual, seen, old), merge, next);
  code.begin(next);
  code.branch(header);
  code.begin(merge);
  return code.op(Op::OpBitcast, code.type(t), {old});
}

Reduction reduction_of(KernelOp op) {
  return op == KernelOp::atomic_min   ? Reduction::min
         : op == KernelOp::atomic_max ? Reduction::max
                                      : Reduction::add;
}

}  // namespace

Word atomic(Code& code, Memory& memory, const Instruction& it, std::span<const Word> x) {
  const Type t = it.type;
  const bool in_buffer = code.program[it.operand[0]].op == KernelOp::buffer;
  const Word scope = code.u32(static_cast<Word>(in_buffer ? spv::Scope::Device : spv::Scope::Workgroup));
  const Word type = code.type(t), none = code.u32(0);
  if (t == Type::f32 && in_buffer && it.op == KernelOp::atomic_add && code.target.float_atomics) {
    code.module.capability(spv::Capability::AtomicFloat32AddEXT);
    code.module.extension("SPV_EXT_shader_atomic_float_add");
    return code.op(Op::OpAtomicFAddEXT, type, {memory.pointer(it.operand[0], x[1], t), scope, none, x[2]});
  }
  if (kernel::size_of(t) == 8) {
    code.need(code.target.int64_atomics, "64-bit atomics");
    code.module.capability(spv::Capability::Int64Atomics);
  }
  const Word pointer = memory.pointer(it.operand[0], x[1], kernel::unsigned_like(t));
  if (kernel::is_float(t)) return exchange_loop(code, reduction_of(it.op), t, pointer, scope, x[2]);
  if (it.op == KernelOp::atomic_compare_exchange)
    return code.op(Op::OpAtomicCompareExchange, type, {pointer, scope, none, none, x[3], x[2]});
  // What a team that waits asks again and again: a load does for it, and does not hold others up. Words of 64
  // bits alone: with loads of 32 triangular_chain reads wrong words on Mesa 22's software device
  // (system_test.by_hand).
  const Instruction& with = code.program[it.operand[2]];
  const bool is_look = it.op == KernelOp::atomic_or && with.op == KernelOp::constant && with.constant == 0;
  if (is_look && kernel::size_of(t) == 8) return code.op(Op::OpAtomicLoad, type, {pointer, scope, none});
  return code.op(integer_atomic(it.op, is_signed_integer(t)), type, {pointer, scope, none, x[2]});
}

}  // namespace adit::spirv
