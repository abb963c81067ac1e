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

bool Generator::at_team_level() const { return program_.team.kind == kernel::TeamKind::many && !in_lanes_; }

Word Generator::lane() { return code_.builtin(spv::BuiltIn::LocalInvocationIndex); }

void Generator::barrier(bool with_buffers) {
  if (program_.team.lanes > 1) code_.workgroup_barrier(with_buffers);
  pending_ = {};
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

bool Generator::is_shared_access(const Instruction& it) const {
  const bool is_matrix = it.op == KernelOp::matrix_load || it.op == KernelOp::matrix_store;
  if (!is_matrix && (it.op < KernelOp::load || it.op > KernelOp::atomic_compare_exchange)) return false;
  const Instruction& object = program_[it.operand[0]];
  if (object.op == KernelOp::shared) return true;
  return object.op == KernelOp::buffer && program_.parameters[object.constant].access != kernel::Access::read;
}

void Generator::note_access(const Instruction& it) {
  if (at_team_level() && is_shared_access(it)) pending_.memory = true;
}

// What team-level code in a block, and in the blocks of its conditions and loops, may leave pending.
Generator::Pending Generator::accesses_in(uint32_t number) const {
  Pending found;
  for (const Id id : program_.blocks[number]) {
    const Instruction& it = program_[id];
    if (is_shared_access(it)) found.memory = true;
    if (it.op == KernelOp::reduce) found.scratch = true;
    if (it.op != KernelOp::if_ && it.op != KernelOp::for_ && it.op != KernelOp::while_) continue;
    for (const uint32_t inner : it.block) {
      if (inner == kernel::no_id) continue;
      const Pending more = accesses_in(inner);
      found.memory |= more.memory;
      found.scratch |= more.scratch;
    }
  }
  return found;
}

bool Generator::writes_in(uint32_t number) const {
  for (const Id id : program_.blocks[number]) {
    const Instruction& it = program_[id];
    if (it.op != KernelOp::load && it.op != KernelOp::matrix_load && is_shared_access(it)) return true;
    for (const uint32_t inner : it.block)
      if (inner != kernel::no_id && writes_in(inner)) return true;
  }
  return false;
}

// A round may begin with what the round before left pending.
void Generator::enter_loop(std::initializer_list<uint32_t> blocks) {
  if (!at_team_level()) return;
  for (const uint32_t number : blocks) {
    const Pending found = accesses_in(number);
    pending_.memory |= found.memory;
    pending_.scratch |= found.scratch;
  }
}

void Generator::over_lanes(const Instruction& it, std::vector<Carried>& carried,
                           const std::function<Words()>& body) {
  in_lanes_ = true;
  counted(it.block[0], Type::u32, lane(), operand(it, 0), code_.u32(program_.team.lanes), carried, body);
  in_lanes_ = false;
}

void Generator::each(const Instruction& it) {
  if (pending_.memory) barrier();
  std::vector<Carried> none;
  over_lanes(it, none, [&] {
    block(it.block[0]);
    return Words();
  });
  barrier();
}

void Generator::once(const Instruction& it) {
  if (pending_.memory) barrier();
  const Word body = code_.label(), merge = code_.label();
  const Word is_first = code_.compare(Op::OpIEqual, lane(), code_.u32(0));
  code_.selection_merge(merge);
  code_.branch_if(is_first, body, merge);
  code_.begin(body);
  in_lanes_ = true;
  block(it.block[0]);
  in_lanes_ = false;
  code_.branch(merge);
  code_.begin(merge);
  barrier();
}

void Generator::reduce(Id id) {
  const Instruction& it = program_[id];
  if (pending_.memory && writes_in(it.block[0])) barrier();
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
  over_lanes(it, carried, [&] {
    block(it.block[0]);
    Words next;
    for (size_t k = 0; k < carried.size(); ++k)
      next.push_back(
          combine(code_, partials[k].reduction, partials[k].type, carried[k].value, words_[yielded[k]]));
    return next;
  });
  for (size_t k = 0; k < carried.size(); ++k) partials[k].value = carried[k].value;
  if (program_.team.lanes > 1) {
    if (pending_.scratch) barrier();
    reduce_over_team(code_, memory_, partials);
    pending_ = {.memory = false, .scratch = true};
  }
  Words& results = reduced_[id];
  for (const Partial& partial : partials) results.push_back(partial.value);
}

}  // namespace adit::spirv
