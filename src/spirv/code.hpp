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

// Which small types the kernel computes with. A type that is only loaded, stored and converted needs no more
// than the storage feature, and such a value may then only be widened or narrowed.
struct SmallTypes {
  bool int8 = false, int16 = false, float16 = false;
};

class Code {
 public:
  Code(const kernel::Program& program, const Target& target);

  const kernel::Program& program;
  const Target& target;
  Module module;
  const bool has_fences;  // such a program is written in Vulkan's memory model

  // Throws `unsupported` naming `what` unless the target has it.
  void need(bool available, std::string_view what) const;

  // Types. Signed and unsigned integers of a width are one type here: the instructions tell them apart; a
  // bf16 is 16 bits.
  Word type(Type type, uint32_t width = 1);
  Word type_void() { return module.type(spv::Op::OpTypeVoid, {}); }
  // True where the type may be used for no more than memory and width conversion.
  bool is_storage_only(Type type) const;

  Word constant(Type type, uint64_t bits);
  Word u32(uint32_t number) { return module.constant(type(Type::u32), number, 4); }
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
  Word local(Word pointee);  // a variable in the function
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

  // All lanes of the workgroup arrive, and see what the others wrote.
  void workgroup_barrier();
  // What was written before is visible to the device before what is written after.
  void device_fence();

  Words finish();

  // Halves made here, and the f32 each one was made of. Widening one again rounds that f32 by hand: drivers
  // get the way there and back wrong (NVIDIA's leaves both out, Mesa's software device yields the half's
  // bits).
  std::unordered_map<Word, Word> halves;

  // Frequent instructions, by their kernel type
  Word select(Type type, Word condition, Word yes, Word no);
  Word logical_and(Word a, Word b) { return op(spv::Op::OpLogicalAnd, type(Type::boolean), {a, b}); }
  Word compare(spv::Op how, Word a, Word b) { return op(how, type(Type::boolean), {a, b}); }

 private:
  uint32_t barrier_semantics(bool shared_memory) const;
  void float_modes();
  void float_mode(spv::ExecutionMode mode, spv::Capability capability, uint32_t bits, bool available);
  Word integer_type(uint32_t bits);

  SmallTypes small_;
  Words locals_, entry_, body_;
  Word first_ = 0, current_ = 0;
  std::vector<std::pair<spv::BuiltIn, Word>> builtins_;
  bool floats16_ = false, floats32_ = false, floats64_ = false;
};

// What the kernel computes with, found by reading it once.
SmallTypes computed_small_types(const kernel::Program& program);

}  // namespace adit::spirv
