// Text from outside (names in files, names of files, what was typed) as it may be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace adit {

// Bytes of the UTF-8 character that `text` begins with; 0 where there is none.
size_t character_length(std::string_view text);

// Control characters, characters that turn the direction of a line, and bytes that are no UTF-8 become \xNN
// or \uNNNN; all else stays as it is.
std::string printable(std::string_view text);
// The same for a text of several lines, whose ends and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace adit
