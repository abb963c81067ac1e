#include "stan/source.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace adit::stan {

namespace {

constexpr size_t context_before = 2, context_after = 2;
constexpr size_t widest_line = 160;  // bytes of a line that are shown
constexpr std::string_view context_rule = "   -------------------------------------------------\n";

bool is_continuation_byte(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

size_t begin_of_line(std::string_view text, size_t byte) {
  const size_t before = byte == 0 ? std::string_view::npos : text.rfind('\n', byte - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

size_t end_of_line(std::string_view text, size_t byte) {
  return std::min(text.find('\n', byte), text.size());
}

// The length of the UTF-8 character at the front of the text; 0 where there is none.
size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xC2 ? 0
                        : lead < 0xE0 ? 2
                        : lead < 0xF0 ? 3
                        : lead < 0xF5 ? 4
                                      : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!is_continuation_byte(text[i])) return 0;
  return length;
}

// Text that a terminal shows as it is: bytes that are no text become '?'.
std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = character_length(text);
    const bool plain =
        length > 1 || (length == 1 && (text[0] == '\t' || (text[0] >= ' ' && text[0] != 0x7F)));
    shown += plain ? text.substr(0, length) : std::string_view("?");
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

// As wide as the text is on a terminal: tabs stay tabs.
std::string blank_of(std::string_view shown) {
  std::string blank;
  for (const char byte : shown)
    if (!is_continuation_byte(byte)) blank += byte == '\t' ? '\t' : ' ';
  return blank;
}

struct LineView {
  std::string_view text;
  bool cut_front = false;
};

// Of a long line: the part around the byte of interest (counted from its start).
LineView part_of_line(std::string_view line, size_t byte) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.size() <= widest_line) return {line, false};
  size_t from = byte > widest_line / 2 ? std::min(byte - widest_line / 2, line.size() - widest_line) : 0;
  while (from > 0 && is_continuation_byte(line[from])) --from;
  size_t to = std::min(from + widest_line, line.size());
  while (to < line.size() && is_continuation_byte(line[to])) ++to;
  return {line.substr(from, to - from), from > 0};
}

std::string header_of_message(const Source& source, const Message& message, uint32_t begin, uint32_t end) {
  const char* kind = message.kind == Message::Kind::syntax     ? "Syntax error"
                     : message.kind == Message::Kind::semantic ? "Semantic error"
                                                               : "Warning";
  const LineColumn from = line_of(source, begin), to = line_of(source, end);
  std::string place = fmt::format("line {}, column {}", from.line, from.column);
  if (to.line != from.line)
    place += fmt::format(" to line {}, column {}", to.line, to.column);
  else if (to.column != from.column)
    place += fmt::format(" to column {}", to.column);
  return fmt::format("{} in '{}', {}:\n", kind, printable(source.name), place);
}

std::string context_of_message(const Source& source, uint32_t byte) {
  const std::string_view text = source.text;
  const size_t line_begin = begin_of_line(text, byte);
  const size_t line = line_of(source, byte).line;
  size_t first = line, begin = line_begin;
  for (; first > 1 && line - first < context_before; --first) begin = begin_of_line(text, begin - 1);
  std::string out;
  for (size_t number = first; number <= line + context_after && begin <= text.size(); ++number) {
    const size_t end = end_of_line(text, begin);
    if (begin == text.size() && number > line) break;  // behind the last newline
    const size_t column = number == line ? byte - begin : 0;
    const LineView part = part_of_line(text.substr(begin, end - begin), column);
    const char* dots = part.cut_front ? "..." : "";
    out += fmt::format("{:6}:  {}{}\n", number, dots, printable(part.text));
    if (number == line) {
      const size_t skipped = part.cut_front ? static_cast<size_t>(part.text.data() - text.data()) - begin : 0;
      const std::string before = printable(part.text.substr(0, std::min(column - skipped, part.text.size())));
      out += fmt::format("{:9}{}{}^\n", "", blank_of(dots), blank_of(before));
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace

LineColumn line_of(const Source& source, uint32_t byte) {
  const size_t stop = std::min<size_t>(byte, source.text.size());
  if (!source.lines.empty()) {
    const auto next = std::upper_bound(source.lines.begin(), source.lines.end(), stop);
    return {static_cast<uint32_t>(next - source.lines.begin()), static_cast<uint32_t>(stop - *(next - 1))};
  }
  const auto begin = source.text.begin();
  const auto lines = std::count(begin, begin + static_cast<std::ptrdiff_t>(stop), '\n');
  return {static_cast<uint32_t>(lines + 1), static_cast<uint32_t>(stop - begin_of_line(source.text, stop))};
}

std::string to_text(const Sources& sources, const Message& message) {
  static const Source none;
  const Source& source = message.place.file < sources.size() ? sources[message.place.file] : none;
  const auto size = static_cast<uint32_t>(source.text.size());
  const uint32_t begin = std::min(message.place.begin, size);
  const uint32_t end = std::clamp(message.place.end, begin, size);
  return fmt::format("{}{}{}{}\n{}\n", header_of_message(source, message, begin, end), context_rule,
                     context_of_message(source, begin), context_rule, message.text);
}

}  // namespace adit::stan
