// What the lanes of a team do together: subgroup instructions and the last step of a team's reduction.
#pragma once

#include "spirv/memory.hpp"

namespace adit::spirv {

// Op::subgroup_reduce to Op::subgroup_shuffle_xor.
Word subgroup(Code& code, const kernel::Instruction& instruction, std::span<const Word> operands);

// A subgroup's value of a builtin: its size, a lane's number in it.
Word subgroup_builtin(Code& code, spv::BuiltIn builtin);

// A result of a reduction: every lane's own share before, the whole in every lane after.
struct Partial {
  kernel::Reduction reduction;
  Type type;
  Word value;
};

// Holds one barrier or more, unless the team is one subgroup; the first is one for buffers too where the
// caller wants that.
void reduce_over_team(Code& code, Memory& memory, std::vector<Partial>& partials, bool with_buffers);

}  // namespace adit::spirv
