// Text from outside: names in files, names of files, what was typed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace adit {

// As a terminal may show it: control characters, characters that turn the direction of a line, and bytes that
// are no UTF-8 become \xNN or \uNNNN; all else stays as it is.
std::string printable(std::string_view text);
// The same for a text of several lines, whose ends and tabs stay.
std::string printable_lines(std::string_view text);

// Bytes of the UTF-8 character that `text` begins with; 0 where there is none.
size_t character_length(std::string_view text);

// Characters of a UTF-8 text.
size_t character_count(std::string_view text);

// Nothing that is read here nests deeper; whoever walks a document may go down by recursion.
inline constexpr int deepest_json = 100;
// Whether lists and objects nest deeper in a text that may be JSON.
bool nests_too_deep(std::string_view json);

// All of a file, or of a pipe, which is read once; "-" is standard input. A pipe that nobody writes to, a
// device, and what does not fit into memory throw.
std::string read_text(const std::string& path);

}  // namespace adit
#pragma GCC visibility pop
