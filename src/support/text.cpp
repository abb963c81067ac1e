#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include <adit/text.hpp>

namespace adit {
namespace {

bool continues(unsigned byte) { return (byte & 0xC0) == 0x80; }

uint32_t code_point(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(character[i])); };
  switch (character.size()) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3: return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
  }
}

// What a terminal would obey rather than show: C0 and C1, ends of lines and paragraphs, marks of direction.
bool commands(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    const std::string_view character = text.substr(0, length ? length : 1);
    const uint32_t code = length ? code_point(character) : static_cast<unsigned char>(text[0]);
    if (length && (!commands(code) || kept.find(text[0]) != std::string_view::npos))
      out += character;
    else
      out += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace

size_t character_count(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!continues(byte(i))) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

std::string printable(std::string_view text) { return escaped(text, ""); }
std::string printable_lines(std::string_view text) { return escaped(text, "\n\t"); }

bool nests_too_deep(std::string_view json) {
  int depth = 0;
  bool in_word = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_word && c == '\\')
      ++i;
    else if (c == '"')
      in_word = !in_word;
    else if (!in_word && (c == '[' || c == '{') && ++depth > deepest_json)
      return true;
    else if (!in_word && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

}  // namespace adit
