// Walks a program's blocks and writes them: instructions, structured control flow, team loops.
#pragma once

#include <functional>
#include <unordered_map>

#include "spirv/barriers.hpp"
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
  void at_most_once(const kernel::Instruction& it, std::vector<Carried>& carried,
                    const std::function<Words()>& body);
  Word lane();
  void barrier(bool with_buffers);
  void wait(Wait how);
  bool buffers_matter_at(kernel::Id barrier) const;

  Code code_;
  Memory memory_;
  const kernel::Program& program_;
  const BarrierPlan plan_;
  std::vector<Word> words_;  // the result of each kernel instruction
  std::unordered_map<kernel::Id, std::vector<Word>> reduced_;
  Word team_ = 0;
};

}  // namespace adit::spirv
