// Matrices of a subgroup: Op::matrix_fill to Op::matrix_convert.
#pragma once

#include "spirv/memory.hpp"

namespace adit::spirv {

// The type of an instruction of width 0.
Word matrix_type(Code& code, const kernel::Instruction& instruction);

// `operands` are the words of the instruction's operands; 0 for a store.
Word matrix(Code& code, Memory& memory, const kernel::Instruction& instruction,
            std::span<const Word> operands);

}  // namespace adit::spirv
