// Program text and places in it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace adit::stan {

// One file: the program, or one that it includes.
struct Source {
  std::string name;  // as messages name it
  std::string text;
  std::vector<uint32_t> lines = {};  // where they begin, once the lexer has found them
};
using Sources = std::vector<Source>;  // the program first

// Bytes [begin, end) of a file.
struct Place {
  uint32_t file = 0, begin = 0, end = 0;
};
inline Place operator+(const Place& first, const Place& last) { return {first.file, first.begin, last.end}; }

struct Message {
  enum class Kind : uint8_t { syntax, semantic, warning };
  Kind kind = Kind::semantic;
  Place place;
  std::string text;  // one sentence (or a few): what was expected, what was found
};

// As stanc writes it:
//   Semantic error in 'm.stan', line 3, column 0 to column 7:
// five lines of context with numbers, a caret line, and the sentence.
std::string to_text(const Sources& sources, const Message& message);

struct LineColumn {
  uint32_t line = 1, column = 0;  // lines count from 1 and columns from 0, as in stanc
};
LineColumn line_of(const Source& source, uint32_t byte);

}  // namespace adit::stan
