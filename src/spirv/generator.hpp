// Walks a program's blocks and writes them: instructions, structured control flow, team loops.
#pragma once

#include <functional>
#include <unordered_map>

#include "spirv/memory.hpp"

namespace adit::spirv {

class Generator {
 public:
  Generator(const kernel::Program& program, const Target& target);
  Words run();

 private:
  // A value that a loop hands from one round to the next; after the loop `value` is the last.
  struct Carried {
    Type type;
    Word value;
  };
  // Team-level accesses since the last barrier that a later write could overtake.
  struct Pending {
    bool memory = false;   // shared memory or a buffer that may be written
    bool scratch = false;  // a reduction's result was read
  };

  void block(uint32_t number);
  void instruction(kernel::Id id);
  Word leaf(const kernel::Instruction& it);
  Words operands(const kernel::Instruction& it) const;
  Word operand(const kernel::Instruction& it, int which) const { return words_[it.operand[which]]; }

  void team_number();
  void if_(const kernel::Instruction& it);
  void for_(const kernel::Instruction& it);
  void while_(const kernel::Instruction& it);
  // for (index = begin; index < end; index += step); `body` hands back the next carried values.
  void counted(uint32_t block_number, Type type, Word begin, Word end, Word step,
               std::vector<Carried>& carried, const std::function<Words()>& body);

  // Team level (team_loops.cpp)
  void each(const kernel::Instruction& it);
  void reduce(kernel::Id id);
  void once(const kernel::Instruction& it);
  void over_lanes(const kernel::Instruction& it, std::vector<Carried>& carried,
                  const std::function<Words()>& body);
  Word lane();
  bool at_team_level() const;
  void barrier(bool with_buffers = true);
  bool buffers_matter_at(kernel::Id barrier) const;
  void note_access(const kernel::Instruction& it);
  bool is_shared_access(const kernel::Instruction& it) const;
  Pending accesses_in(uint32_t block_number) const;
  bool writes_in(uint32_t block_number) const;
  void enter_loop(std::initializer_list<uint32_t> blocks);

  Code code_;
  Memory memory_;
  const kernel::Program& program_;
  std::vector<Word> words_;  // the result of each kernel instruction
  std::unordered_map<kernel::Id, std::vector<Word>> reduced_;
  Word team_ = 0;
  bool in_lanes_ = false;
  Pending pending_;
};

}  // namespace adit::spirv
