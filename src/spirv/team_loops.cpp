// Team level: every lane runs the same code on the same values, so conditions and loops there are uniform and
// may hold barriers. Inside each, reduce and once the lanes part.
#include <algorithm>

#include "spirv/arithmetic.hpp"
#include "spirv/generator.hpp"
#include "spirv/team.hpp"

namespace adit::spirv {

using kernel::Id;
using kernel::Instruction;
using kernel::Reduction;
using spv::Op;
using KernelOp = kernel::Op;

Word Generator::lane() { return code_.builtin(spv::BuiltIn::LocalInvocationIndex); }

void Generator::barrier(bool with_buffers) {
  if (program_.team.lanes > 1) code_.team_barrier(with_buffers);
}

void Generator::wait(Wait how) {
  if (how != Wait::none) barrier(how == Wait::all);
}

// Whether a buffer may have been written when this barrier is reached, perhaps in an earlier round of a loop
// around it. Drivers wait for buffers at a barrier that names them.
bool Generator::buffers_matter_at(Id barrier) const {
  for (const kernel::Parameter& p : program_.parameters)
    if (p.is_buffer && p.access == kernel::Access::read_write) return true;
  const kernel::Block& body = program_.blocks[0];
  const auto next = std::upper_bound(body.begin(), body.end(), barrier);
  const Id end = next == body.end() ? static_cast<Id>(program_.instructions.size()) : *next;
  for (Id id = 0; id < end; ++id) {
    const Instruction& it = program_[id];
    const bool writes = it.op == KernelOp::store || it.op == KernelOp::matrix_store || is_atomic(it.op);
    if (writes && program_[it.operand[0]].op == KernelOp::buffer) return true;
  }
  return false;
}

void Generator::over_lanes(const Instruction& it, std::vector<Carried>& carried,
                           const std::function<Words()>& body) {
  const Instruction& count = program_[it.operand[0]];
  if (count.op == KernelOp::constant && count.constant <= program_.team.lanes)
    at_most_once(it, carried, body);
  else
    counted(it.block[0], Type::u32, lane(), operand(it, 0), code_.u32(program_.team.lanes), carried, body);
}

// A loop that no lane goes through twice.
void Generator::at_most_once(const Instruction& it, std::vector<Carried>& carried,
                             const std::function<Words()>& body) {
  const Word before = code_.current(), inside = code_.label(), merge = code_.label();
  words_[program_.blocks[it.block[0]][0]] = lane();
  const Word exists = code_.compare(Op::OpULessThan, lane(), operand(it, 0));
  code_.selection_merge(merge);
  code_.branch_if(exists, inside, merge);
  code_.begin(inside);
  const Words results = body();
  const Word end = code_.current();
  code_.branch(merge);
  code_.begin(merge);
  for (size_t k = 0; k < carried.size(); ++k) {
    const Word id = code_.module.fresh();
    code_.set_phi(code_.phi(id, code_.type(carried[k].type), carried[k].value, before, end), results[k]);
    carried[k].value = id;
  }
}

void Generator::each(const Instruction& it) {
  std::vector<Carried> none;
  over_lanes(it, none, [&] {
    block(it.block[0]);
    return Words();
  });
}

void Generator::once(const Instruction& it) {
  const Word body = code_.label(), merge = code_.label();
  const Word is_first = code_.compare(Op::OpIEqual, lane(), code_.u32(0));
  code_.selection_merge(merge);
  code_.branch_if(is_first, body, merge);
  code_.begin(body);
  block(it.block[0]);
  code_.branch(merge);
  code_.begin(merge);
}

void Generator::reduce(Id id) {
  const Instruction& it = program_[id];
  std::vector<Carried> carried;
  std::vector<Partial> partials;
  std::vector<Id> yielded;
  for (const Id inner : program_.blocks[it.block[0]]) {
    if (program_[inner].op != KernelOp::yield) continue;
    const auto reduction = static_cast<Reduction>(program_[inner].constant);
    const Type type = program_[program_[inner].operand[0]].type;
    yielded.push_back(program_[inner].operand[0]);
    carried.push_back({type, code_.constant(type, identity(reduction, type))});
    partials.push_back({reduction, type, 0});
  }
  // A product that is summed is added in the same instruction, where the device has it.
  const auto added = [&](const Partial& partial, Word before, Id id_of_part) {
    const Instruction& what = program_[id_of_part];
    const bool real = partial.type == Type::f32 || partial.type == Type::f64;
    if (partial.reduction == Reduction::add && real && what.op == KernelOp::mul && code_.target.fused_fma)
      return multiply_add(code_, partial.type, words_[what.operand[0]], words_[what.operand[1]], before);
    return combine(code_, partial.reduction, partial.type, before, words_[id_of_part]);
  };
  over_lanes(it, carried, [&] {
    block(it.block[0]);
    Words next;
    for (size_t k = 0; k < carried.size(); ++k)
      next.push_back(added(partials[k], carried[k].value, yielded[k]));
    return next;
  });
  for (size_t k = 0; k < carried.size(); ++k) partials[k].value = carried[k].value;
  if (program_.team.lanes > 1) reduce_over_team(code_, memory_, partials, plan_.carries_buffers(id));
  Words& results = reduced_[id];
  for (const Partial& partial : partials) results.push_back(partial.value);
}

}  // namespace adit::spirv
