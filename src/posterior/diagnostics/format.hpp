// Numbers as tables and sentences show them.
#pragma once

#include <cstdint>
#include <string>

namespace adit::diagnostics {

// So many significant digits, all digits before the point, an exponent where the number is far from 1.
std::string show(double value, int significant);
// Digits that tell a value apart from others `spread` away, at least so many: a mean of 1.974 with a standard
// deviation of 0.02 is 1.97, not 2.0.
int digits_beside(double value, double spread, int least);
// "1,024"
std::string show_count(uint64_t count);
std::string show_share(uint64_t part, uint64_t whole);  // "0.70%"

}  // namespace adit::diagnostics
