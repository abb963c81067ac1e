// The type rules of single instructions, shared by the builder (at once) and the verifier (of the whole).
#pragma once

#include <adit/kernel/program.hpp>

namespace adit::kernel {

// Throws Error(bad_argument) "[kernel NAME] op: expected ..., got ...". Operands must be valid Ids.
void check_types(const Program& program, const Instruction& instruction);

// The same for the reduction that a reduce's yield or a subgroup instruction names.
void check_reduction(const Program& program, const Instruction& instruction);

// True for instructions that yield the same value from the same operands wherever they stand.
bool is_pure(Op op);

[[noreturn]] void reject(const Program& program, const Instruction& instruction, const std::string& what);

}  // namespace adit::kernel
