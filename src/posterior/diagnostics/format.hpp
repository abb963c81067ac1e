// Numbers as tables and sentences show them.
#pragma once

#include <cstdint>
#include <string>

namespace adit::diagnostics {

// So many significant digits, all digits before the point, an exponent where the number is far from 1.
std::string show(double value, int significant);
// "1,024"
std::string show_count(uint64_t count);
std::string show_share(uint64_t part, uint64_t whole);  // "0.70%"

}  // namespace adit::diagnostics
