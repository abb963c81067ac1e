// Conversions between the types of the kernel language.
#pragma once

#include "spirv/code.hpp"

namespace adit::spirv {

// To integers from floats: saturates and gives 0 for NaN, or with `in_range` the plain instruction. Integers
// are extended or cut; a bool is 0 or 1; a number is true where it is not zero.
Word convert(Code& code, Word value, Type from, Type to, bool in_range);

// f32 for f16 and back, where the value must fit; anything else as it is.
Word widen(Code& code, Word value, Type type, uint32_t width = 1);
Word narrow(Code& code, Word value, Type type, uint32_t width = 1);

}  // namespace adit::spirv
