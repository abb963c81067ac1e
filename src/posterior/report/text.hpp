// Text of the report: escaping, numbers, names cut to length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace adit::report {

// For HTML and XML, in text and in quoted attributes. Bytes that are no UTF-8 or no character of XML become
// the replacement character.
std::string escape(std::string_view text);
// "0.0123", "4.56", "1.2e+07", "NaN": so many significant digits.
std::string number(double value, int significant = 3);
// With the digits that tell it apart from others `spread` away.
std::string number_beside(double value, double spread);
// "1,024".
std::string count(double value);
// A share as "12 %"; never "0 %" of something or "100 %" of less than all.
std::string percent(double share);
// At most `most` characters, with an ellipsis in the middle.
std::string shorten(const std::string& text, size_t most);

}  // namespace adit::report
