#include "spirv/generator.hpp"

#include "spirv/arithmetic.hpp"
#include "spirv/matrix.hpp"
#include "spirv/team.hpp"

namespace adit::spirv {

using kernel::Id;
using kernel::Instruction;
using kernel::TeamKind;
using spv::Op;
using KernelOp = kernel::Op;

Generator::Generator(const kernel::Program& program, const Target& target)
    : code_(program, target),
      memory_(code_),
      program_(program),
      plan_(program, !code_.is_one_subgroup()),
      words_(program.instructions.size()) {}

// Workgroups past the end, which a grid of two dimensions has, and invocations past the end do nothing.
Words Generator::run() {
  team_number();
  const Word body = code_.label(), exit = code_.label();
  const Word exists = code_.compare(Op::OpULessThan, team_, memory_.team_count());
  code_.selection_merge(exit);
  code_.branch_if(exists, body, exit);
  code_.begin(body);
  block(0);
  code_.branch(exit);
  code_.begin(exit);
  return code_.finish();
}

void Generator::team_number() {
  const Word u32 = code_.type(Type::u32);
  const auto part = [&](spv::BuiltIn builtin, Word which) {
    return code_.op(Op::OpCompositeExtract, u32, {code_.builtin(builtin), which});
  };
  const Word x = part(spv::BuiltIn::WorkgroupId, 0), y = part(spv::BuiltIn::WorkgroupId, 1);
  const Word row = code_.op(Op::OpIMul, u32, {y, part(spv::BuiltIn::NumWorkgroups, 0)});
  team_ = code_.op(Op::OpIAdd, u32, {row, x});
  if (program_.team.kind == TeamKind::many) return;
  const Word first = code_.op(Op::OpIMul, u32, {team_, code_.u32(program_.team.lanes)});
  team_ = code_.op(Op::OpIAdd, u32, {first, code_.builtin(spv::BuiltIn::LocalInvocationIndex)});
}

void Generator::block(uint32_t number) {
  for (const Id id : program_.blocks[number]) {
    wait(plan_.before(id));
    instruction(id);
    wait(plan_.after(id));
  }
}

Words Generator::operands(const Instruction& it) const {
  Words all;
  for (int k = 0; k < it.operand_count; ++k) all.push_back(words_[it.operand[k]]);
  return all;
}

Word Generator::leaf(const Instruction& it) {
  switch (it.op) {
    case KernelOp::constant: return code_.constant(it.type, it.constant);
    case KernelOp::argument: return memory_.argument(it.constant);
    case KernelOp::team:
      return it.type == Type::u64 ? code_.op(Op::OpUConvert, code_.type(Type::u64), {team_}) : team_;
    case KernelOp::lane: return code_.builtin(spv::BuiltIn::LocalInvocationIndex);
    case KernelOp::subgroup_size: return subgroup_builtin(code_, spv::BuiltIn::SubgroupSize);
    case KernelOp::subgroup_number: return subgroup_builtin(code_, spv::BuiltIn::SubgroupId);
    case KernelOp::subgroup_lane: return subgroup_builtin(code_, spv::BuiltIn::SubgroupLocalInvocationId);
    default: return 0;
  }
}

void Generator::instruction(Id id) {
  const Instruction& it = program_[id];
  switch (it.op) {
    case KernelOp::constant:
    case KernelOp::argument:
    case KernelOp::team:
    case KernelOp::lane:
    case KernelOp::subgroup_size:
    case KernelOp::subgroup_number:
    case KernelOp::subgroup_lane: words_[id] = leaf(it); return;
    case KernelOp::index:  // the loop around has set it
    case KernelOp::buffer:
    case KernelOp::yield: return;
    case KernelOp::variable:
    case KernelOp::array:
    case KernelOp::shared: memory_.declare(id); return;
    case KernelOp::if_: if_(it); return;
    case KernelOp::for_: for_(it); return;
    case KernelOp::while_: while_(it); return;
    case KernelOp::each: each(it); return;
    case KernelOp::reduce: reduce(id); return;
    case KernelOp::reduced: words_[id] = reduced_.at(it.operand[0])[it.constant]; return;
    case KernelOp::once: once(it); return;
    case KernelOp::barrier: barrier(buffers_matter_at(id)); return;
    case KernelOp::fence: code_.device_fence(); return;
    default: break;
  }
  const bool has_index = it.operand_count > 1 && program_[it.operand[0]].op != KernelOp::variable;
  if (it.op == KernelOp::load)
    words_[id] = memory_.load(it, has_index ? operand(it, 1) : 0);
  else if (it.op == KernelOp::store)
    memory_.store(it, has_index ? operand(it, 1) : 0, operand(it, it.operand_count - 1));
  else if (is_atomic(it.op))
    words_[id] = atomic(code_, memory_, it, operands(it));
  else if (is_matrix_op(it.op))
    words_[id] = matrix(code_, memory_, it, operands(it));
  else if (it.op >= KernelOp::subgroup_reduce)
    words_[id] = subgroup(code_, it, operands(it));
  else
    words_[id] = arithmetic(code_, it, operands(it));
}

void Generator::if_(const Instruction& it) {
  const bool has_else = it.block[1] != kernel::no_id;
  const Word then = code_.label(), merge = code_.label(), otherwise = has_else ? code_.label() : merge;
  code_.selection_merge(merge);
  code_.branch_if(operand(it, 0), then, otherwise);
  code_.begin(then);
  block(it.block[0]);
  code_.branch(merge);
  if (has_else) {
    code_.begin(otherwise);
    block(it.block[1]);
    code_.branch(merge);
  }
  code_.begin(merge);
}

void Generator::counted(uint32_t number, Type t, Word begin, Word end, Word step,
                        std::vector<Carried>& carried, const std::function<Words()>& body) {
  const Word type = code_.type(t), index = code_.module.fresh(), before = code_.current();
  const Word header = code_.label(), test = code_.label(), inside = code_.label(), next = code_.label(),
             merge = code_.label();
  code_.branch(header);
  code_.begin(header);
  const size_t later_index = code_.phi(index, type, begin, before, next);
  std::vector<size_t> later;
  for (Carried& value : carried) {
    const Word id = code_.module.fresh();
    later.push_back(code_.phi(id, code_.type(value.type), value.value, before, next));
    value.value = id;
  }
  code_.loop_merge(merge, next);
  code_.branch(test);
  code_.begin(test);
  const Op less = kernel::is_signed_integer(t) ? Op::OpSLessThan : Op::OpULessThan;
  code_.branch_if(code_.compare(less, index, end), inside, merge);
  code_.begin(inside);
  words_[program_.blocks[number][0]] = index;
  const Words results = body();
  for (size_t k = 0; k < later.size(); ++k) code_.set_phi(later[k], results[k]);
  code_.branch(next);
  code_.begin(next);
  code_.set_phi(later_index, code_.op(Op::OpIAdd, type, {index, step}));
  code_.branch(header);
  code_.begin(merge);
}

void Generator::for_(const Instruction& it) {
  std::vector<Carried> none;
  const Type type = program_[it.operand[0]].type;
  counted(it.block[0], type, operand(it, 0), operand(it, 1), operand(it, 2), none, [&] {
    block(it.block[0]);
    return Words();
  });
}

void Generator::while_(const Instruction& it) {
  const Word header = code_.label(), test = code_.label(), inside = code_.label(), next = code_.label(),
             merge = code_.label();
  code_.branch(header);
  code_.begin(header);
  code_.loop_merge(merge, next);
  code_.branch(test);
  code_.begin(test);
  block(it.block[0]);
  const Instruction& yielded = program_[program_.blocks[it.block[0]].back()];
  code_.branch_if(operand(yielded, 0), inside, merge);
  code_.begin(inside);
  block(it.block[1]);
  code_.branch(next);
  code_.begin(next);
  code_.branch(header);
  code_.begin(merge);
}

}  // namespace adit::spirv
