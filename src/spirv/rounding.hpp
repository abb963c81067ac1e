// Pieces of exact arithmetic, for what a device rounds in its own way or does not round once.
#pragma once

#include "spirv/code.hpp"

namespace adit::spirv {

struct Pair {
  Word high, low;
};

// a + b as the rounded sum and its error, exact (Knuth).
Pair two_sum(Code& code, Type type, Word a, Word b);

// A rounded value of f32 or f64 and its error as one value that is odd wherever it is inexact: rounded once
// more, to at least two bits fewer, it gives what one rounding would (Boldo and Melquiond).
Word round_to_odd(Code& code, Type type, Word value, Word error);

// An f32 rounded to a value that f16 holds, so that any conversion of it is exact.
Word round_to_half(Code& code, Word value);

// f32 or f64 to f16, to nearest even whatever the device's own conversion does.
Word to_half(Code& code, Type from, Word value);
// The same for an f32 that comes from an integer: some drivers join both conversions into one that they lack.
Word integer_valued_to_half(Code& code, Word value);

// The f32 of a half's bits, which lie in a u32, by integer arithmetic.
Word single_of_half(Code& code, Word bits);

// a * b + c with one rounding, where the device has no such instruction. Exact for f16, and for f32 where
// there is f64; else unless the product's rounding error is itself below the smallest number.
Word composed_fma(Code& code, Type type, Word a, Word b, Word c);

}  // namespace adit::spirv
