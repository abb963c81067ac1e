// A SPIR-V module while it is being written: the sections in the order the format asks for, each type and
// constant once.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adit::spirv {

// A word of the format; mostly the number of a result.
using Word = uint32_t;
using Words = std::vector<Word>;
constexpr Word code_of(auto enumerator) { return static_cast<Word>(enumerator); }

// Appends one instruction; the word count goes into the first word.
void append(Words& out, spv::Op op, std::span<const Word> operands);
void append(Words& out, spv::Op op, std::initializer_list<Word> operands);

class Module {
 public:
  Word fresh() { return next_++; }

  void capability(spv::Capability capability);
  bool has(spv::Capability capability) const;
  void extension(std::string_view name);
  void execution_mode(spv::ExecutionMode mode, std::initializer_list<Word> operands);
  void decorate(Word target, spv::Decoration decoration, std::initializer_list<Word> operands = {});
  void decorate_member(Word target, Word member, spv::Decoration decoration,
                       std::initializer_list<Word> operands = {});
  void name(Word target, std::string_view text);
  Word glsl();  // the import of GLSL.std.450

  // Types, each declared once.
  Word type(spv::Op op, std::initializer_list<Word> operands);
  Word type_integer(uint32_t bits) { return type(spv::Op::OpTypeInt, {bits, 0}); }
  Word type_float(uint32_t bits) { return type(spv::Op::OpTypeFloat, {bits}); }
  Word type_vector(Word component, uint32_t width);
  Word type_array(Word element, uint32_t length);
  Word type_pointer(spv::StorageClass storage, Word pointee);
  // A pointer to memory outside, as an address is.
  Word type_address(Word block);
  // struct { element values[]; } as a buffer has it.
  Word type_buffer(Word element, uint32_t stride, bool writable);
  Word type_struct(std::span<const Word> members) { return declare_type(spv::Op::OpTypeStruct, members); }

  // A number of 1, 2, 4 or 8 bytes in that type, from its bits.
  Word constant(Word type, uint64_t bits, uint32_t bytes);
  Word constant_bool(bool value);
  Word constant_composite(Word type, std::initializer_list<Word> parts);

  // A variable at module level, listed in the entry point's interface.
  Word variable(spv::StorageClass storage, Word pointee);

  void set_lanes(uint32_t lanes) { lanes_ = lanes; }
  // The whole module around the words of its one function.
  Words assemble(Word function, std::string_view entry_name, const Words& body);

 private:
  struct Hash {
    size_t operator()(const Words& words) const;
  };
  Word declare_type(spv::Op op, std::span<const Word> operands);
  Word& known(spv::Op op, std::span<const Word> operands);

  Word next_ = 1;
  Word glsl_ = 0;
  uint32_t lanes_ = 1;
  std::vector<spv::Capability> capabilities_;
  std::vector<std::string> extensions_;
  Words modes_;  // operands after the entry point, each led by its count
  Words names_, decorations_, globals_;
  Words interface_;
  std::unordered_map<Words, Word, Hash> known_;
};

}  // namespace adit::spirv
