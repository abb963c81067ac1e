// Where values live: the argument block, buffers behind pointers, private cells and shared arrays.
#pragma once

#include <map>
#include <vector>

#include "spirv/code.hpp"

namespace adit::spirv {

class Memory {
 public:
  // Declares the argument block and loads, at the function's entry, every argument.
  explicit Memory(Code& code);

  Word team_count() const { return team_count_; }  // its low 32 bits
  Word argument(uint64_t parameter) const { return arguments_[parameter]; }

  void declare(kernel::Id object);  // a variable, an array or a shared array
  Word load(const kernel::Instruction& instruction, Word index);
  void store(const kernel::Instruction& instruction, Word index, Word value);
  // One element, seen as `cell`, for an atomic.
  Word pointer(kernel::Id object, Word index, Type cell);

  // Where a matrix begins, and the operands that say how it is accessed.
  Word matrix_place(const kernel::Instruction& instruction, Word index);
  Words matrix_access(kernel::Id object, bool stores);

  // Shared memory of the reductions themselves, in cells of `width` elements: `slot` tells apart those used
  // at once. A store is of one element of a cell, a load of a whole cell where its index counts cells.
  Word scratch(Type type, uint32_t length, uint32_t slot, uint32_t width);
  void store_scratch(Type type, Word array, Word element, uint32_t width, Word value);
  Word load_scratch(Type type, Word array, Word cell, uint32_t width);
  // 0 and 1 by turns, from one call to the next while the kernel runs.
  Word next_turn();

 private:
  struct Local {
    Word variable = 0;
    Type cell{};
    uint32_t width = 1;  // of a shared array's cells
  };
  struct View {  // a buffer's pointer with another element type
    kernel::Id object;
    Word element;
    Word pointer;
  };

  Word memory_type(Type type, uint32_t width = 1);  // as it lies in a buffer
  Word block_type();
  // Operands of a load or store; `bytes` is the alignment in a buffer, 0 elsewhere.
  Words loading(kernel::Id object, Word from, uint32_t bytes);
  Words storing(kernel::Id object, Word to, Word value, uint32_t bytes);
  bool is_watched(kernel::Id object) const;
  Word device_scope();
  void find_block();
  void load_arguments();
  Word argument_member(uint32_t member, Word type, uint32_t bytes);
  Word buffer_element(kernel::Id object, Word index, Type cell, uint32_t width);
  Word local_element(kernel::Id object, Word index);
  uint32_t cell_width(kernel::Id shared) const;
  Word shared_part(const kernel::Instruction& instruction, Word index, uint32_t part);
  bool has_float_atomics(kernel::Id object) const;
  void reserve_shared(uint64_t bytes);
  void check_private();
  // Between a value and what a buffer holds of it.
  Word from_buffer(Type type, Word value, uint32_t width = 1);
  Word half_from_bits(Word bits, uint32_t width);
  Word to_buffer(Type type, Word value, uint32_t width);

  Code& code_;
  const kernel::Program& program_;
  Word block_ = 0, team_count_ = 0;
  std::vector<Word> arguments_;  // by parameter: a value, or the pointer to a buffer
  std::vector<Local> locals_;    // by kernel Id
  std::vector<View> views_;
  std::map<std::pair<Type, uint32_t>, Word> scratch_;
  uint64_t shared_bytes_ = 0;
  Word turn_ = 0;  // the variable of next_turn
};

// Op::atomic_add to Op::atomic_compare_exchange (atomics.cpp). Operands: object, index, [expected], value.
Word atomic(Code& code, Memory& memory, const kernel::Instruction& instruction,
            std::span<const Word> operands);

}  // namespace adit::spirv
