// The one function of a module while it is being written. Everything that writes instructions does it through
// this: types of the kernel language, constants, blocks, and the check that the target can do what is asked.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <adit/kernel/program.hpp>

#include "spirv/emit.hpp"
#include "spirv/module.hpp"

namespace adit::spirv {

using kernel::Type;

// Integers of 8 and 16 bits, and a bf16, which is 16 bits without a meaning. Only memory holds them as such:
// their values live in 32-bit integers, sign- or zero-extended, and so do private and shared cells. NVIDIA's
// driver (580.159) computes with narrow integers as if the upper bits of their registers were clean, which
// they are not after sums, shifts and complements; and devices need no feature for it this way.
constexpr bool is_small(Type t) {
  return kernel::size_of(t) < 4 && (kernel::is_integer(t) || t == Type::bf16);
}
// Bytes of a private or shared cell; drivers keep a bool in 32 bits too.
constexpr uint32_t cell_bytes(Type t) { return is_small(t) || t == Type::boolean ? 4 : kernel::size_of(t); }

class Code {
 public:
  Code(const kernel::Program& program, const Target& target);

  const kernel::Program& program;
  const Target& target;
  Module module;
  const bool has_fences, has_matrices;
  const bool vulkan_model;  // Vulkan's memory model, which both of them need

  // Throws `unsupported` naming `what` unless the target has it.
  void need(bool available, std::string_view what) const;

  // Types of values. Signed and unsigned integers of a width are one type here: the instructions tell them
  // apart.
  Word type(Type type, uint32_t width = 1);
  Word type_void() { return module.type(spv::Op::OpTypeVoid, {}); }
  // True for an f16 that the kernel only loads, stores and converts: that needs no more than the storage
  // feature, and its values may then only be widened or narrowed.
  bool is_storage_only(Type type) const { return type == Type::f16 && !computes_halves_; }

  Word constant(Type type, uint64_t bits);
  Word u32(uint32_t number, uint32_t width = 1);  // in every part of a vector
  Word float_constant(Type type, double number);

  // Instructions with a result, without one, of GLSL.std.450, and arithmetic that may not be contracted.
  Word op(spv::Op op, Word type, std::initializer_list<Word> operands);
  Word op(spv::Op op, Word type, std::span<const Word> operands);
  void plain(spv::Op op, std::initializer_list<Word> operands) { append(body_, op, operands); }
  void plain(spv::Op op, const Words& operands) { append(body_, op, operands); }
  Word extended(Word instruction, Word type, std::initializer_list<Word> operands);
  Word exact(spv::Op op, Word type, std::initializer_list<Word> operands);
  void result(Word id, spv::Op op, Word type, std::initializer_list<Word> operands);  // the id known before

  // A phi of two ways into a block; the value of the second way is set when it is known.
  size_t phi(Word id, Word type, Word value, Word from, Word second_from);
  void set_phi(size_t position, Word value) { body_[position] = value; }

  // The same at the function's entry, where every block sees it.
  Word at_entry(spv::Op op, Word type, std::initializer_list<Word> operands);
  Word local(Word pointee, Word initial = 0);  // a variable in the function; a constant in it, or 0
  Word builtin(spv::BuiltIn builtin);

  // Blocks
  Word label() { return module.fresh(); }
  void begin(Word label);
  Word current() const { return current_; }
  void branch(Word to) { plain(spv::Op::OpBranch, {to}); }
  void branch_if(Word condition, Word yes, Word no) {
    plain(spv::Op::OpBranchConditional, {condition, yes, no});
  }
  void selection_merge(Word merge) { plain(spv::Op::OpSelectionMerge, {merge, 0}); }
  void loop_merge(Word merge, Word next) { plain(spv::Op::OpLoopMerge, {merge, next, 0}); }

  // All lanes of the team arrive, and see what the others wrote to shared memory, and to buffers unless those
  // do not matter.
  void team_barrier(bool with_buffers);
  // True where the lanes of a team are one subgroup, whole.
  bool is_one_subgroup() const {
    return fills_subgroups(program, target) && program.team.lanes == target.subgroup_size;
  }
  // What was written before is visible to the device before what is written after.
  void device_fence();

  Words finish();

  // Halves made here, and the f32 each one was made of. Widening one again rounds that f32 by hand: drivers
  // get the way there and back wrong (NVIDIA's leaves both out, Mesa's software device yields the half's
  // bits).
  std::unordered_map<Word, Word> halves;
  // Halves, or vectors of them, that are known as f32 as well, exactly.
  std::unordered_map<Word, Word> widened;

  // Cuts the 32-bit value of a small integer to its bits and extends it again; for what may leave its range.
  // In 32 bits only: a driver folds narrow conversions away.
  Word wrap(Type type, Word value, uint32_t width = 1);

  // Frequent instructions, by their kernel type
  Word select(Type type, Word condition, Word yes, Word no);
  Word logical_and(Word a, Word b) { return op(spv::Op::OpLogicalAnd, type(Type::boolean), {a, b}); }
  Word compare(spv::Op how, Word a, Word b) { return op(how, type(Type::boolean), {a, b}); }

 private:
  uint32_t barrier_semantics(bool with_shared, bool with_buffers) const;
  void float_modes();
  void float_mode(spv::ExecutionMode mode, spv::Capability capability, uint32_t bits, bool available);

  const bool computes_halves_;
  Words locals_, entry_, body_;
  Word first_ = 0, current_ = 0;
  std::vector<std::pair<spv::BuiltIn, Word>> builtins_;
  bool floats16_ = false, floats32_ = false, floats64_ = false;
};

}  // namespace adit::spirv
