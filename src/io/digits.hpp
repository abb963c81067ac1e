// Decimal digits of floats, as NumPy chooses them.
#pragma once

#include <string>

#include <adit/dtype.hpp>

namespace adit::text {

// A finite float, exact as a double, with the type whose neighbours decide how many digits tell it apart.
struct Number {
  double value = 0;
  DType type = DType::f64;
};

// Fewest digits that read back as the same number of its type, but at least `least` and at most `most` after
// the point; digits beyond the fewest are those of the exact value, ties to even.
std::string positional(const Number& number, int least, int most);  // "12.5", "12.", "-0."
std::string scientific(const Number& number, int least, int most);  // "1.25e+01"

}  // namespace adit::text
