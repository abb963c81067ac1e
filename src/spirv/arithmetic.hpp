// Elementwise instructions: Op::add to Op::extract.
#pragma once

#include "spirv/code.hpp"

namespace adit::spirv {

// `operands` are the words of the instruction's operands.
Word arithmetic(Code& code, const kernel::Instruction& instruction, std::span<const Word> operands);

// One step of a reduction, and the value that changes nothing in it.
Word combine(Code& code, kernel::Reduction reduction, Type type, Word a, Word b);
Word multiply_add(Code& code, Type type, Word a, Word b, Word c);  // a b + c, rounded once
Word magnitude_bits(Code& code, Type type, Word value);            // of a float
Word infinity_bits(Code& code, Type type);
uint64_t identity(kernel::Reduction reduction, Type type);

// Bit counting (bits.cpp).
Word count_ones(Code& code, Type type, Word value);
Word leading_zeros(Code& code, Type type, Word value);
Word trailing_zeros(Code& code, Type type, Word value);

// Integer products and quotients (products.cpp). The divisor is not zero, and no quotient overflows.
Word multiply(Code& code, Type type, Word a, Word b);
Word mul_high(Code& code, Type type, Word a, Word b);  // u32 and u64
Word divide(Code& code, Type type, Word a, Word b, bool remainder);

}  // namespace adit::spirv
