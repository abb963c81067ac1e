// Conversions between the types of the kernel language.
#pragma once

#include "spirv/code.hpp"

namespace adit::spirv {

// To integers from floats: saturates and gives 0 for NaN, or with `in_range` the plain instruction. Integers
// are extended or cut; a bool is 0 or 1; a number is true where it is not zero.
Word convert(Code& code, Word value, Type from, Type to, bool in_range);

// The 32-bit type of the same kind for 8- and 16-bit types, any other type itself.
Type widened(Type type);
Word widen(Code& code, Word value, Type type, uint32_t width = 1);
// Back from widened(type); floats must fit.
Word narrow(Code& code, Word value, Type type, uint32_t width = 1);

}  // namespace adit::spirv
