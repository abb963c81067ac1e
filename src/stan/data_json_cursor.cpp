#include "stan/data_json_cursor.hpp"

#include <charconv>
#include <fmt/format.h>

#include <adit/text.hpp>

namespace adit::stan {
namespace {

bool is_json_digit(char c) { return c >= '0' && c <= '9'; }
bool is_json_word_character(char c) {
  return is_json_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void append_json_character(std::string& to, uint32_t code) {
  const auto add = [&](uint32_t byte) { to += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xE0 | code >> 12);
    } else {
      add(0xF0 | code >> 18);
      add(0x80 | (code >> 12 & 0x3F));
    }
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

// Of digits after a sign or none, few enough for i64. "-0" may be that of a real number.
double short_json_integer(std::string_view digits) {
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number == 0 && digits.front() == '-' ? -0.0 : static_cast<double>(number);
}

}  // namespace

JsonCursor::JsonCursor(std::string_view text, const std::string& name) : text_{text, name} {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // of UTF-8; editors put it first
  if (text.starts_with(mark)) at_ = mark.size();
}

void JsonCursor::fail(size_t at, const std::string& expected, const std::string& found) const {
  text_.fail(at, index ? variable + index() : variable, expected, found);
}

size_t JsonCursor::next() {
  while (!at_end() && (now() == ' ' || now() == '\n' || now() == '\r' || now() == '\t')) ++at_;
  return at_;
}

bool JsonCursor::skip(char c) {
  const bool is_there = peek() == c && !at_end();
  if (is_there) ++at_;
  return is_there;
}

void JsonCursor::expect(char c, const char* what) {
  if (!skip(c)) fail(next(), what, glimpse());
}

void JsonCursor::expect_end() {
  variable.clear();
  if (next() != text_.text.size()) fail(at_, "the end of the text after the object", glimpse());
}

bool JsonCursor::more(char closing, const char* what) {
  if (skip(',')) {
    if (peek() == closing) fail(at_, "a value after the comma", fmt::format("{}", what));
    return true;
  }
  if (!skip(closing)) fail(next(), fmt::format("a comma or {}", what), glimpse());
  return false;
}

void JsonCursor::enter(char opening) {
  expect(opening, opening == '[' ? "a list" : "an object");
  if (++depth_ > deepest_json)
    fail(at_, fmt::format("lists and objects at most {} deep", deepest_json), "deeper ones");
}

std::string JsonCursor::glimpse() {
  const char c = peek();
  if (at_end()) return "the end of the text";
  if (c == '[') return "a list";
  if (c == '{') return "an object";
  size_t end = at_ + 1;
  const std::string_view text = text_.text;
  if (c == '"')
    end = std::min(text.find('"', at_ + 1), text.size() - 1) + 1;
  else if (is_json_word_character(c) || c == '-' || c == '+' || c == '.')
    while (end < text.size() && (is_json_word_character(text[end]) || text[end] == '.' || text[end] == '-'))
      ++end;
  const std::string_view word = text.substr(at_, end - at_);
  if (c == '"') return "the text " + quoted_data(word.size() > 1 ? word.substr(1, word.size() - 2) : "");
  if (word == "null") return "null";
  if (word == "true" || word == "false") return fmt::format("{} (write 1 or 0)", word);
  return quoted_data(word);
}

uint32_t JsonCursor::four_digits() {
  uint32_t code = 0;
  const std::string_view digits = text_.text.substr(at_, 4);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (error != std::errc() || digits.size() < 4 || end != digits.data() + 4)
    fail(at_, "four hexadecimal digits after \\u", quoted_data(digits));
  at_ += 4;
  return code;
}

void JsonCursor::escape(std::string& result) {
  constexpr std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
  const char c = now();
  if (const size_t which = letters.find(c); which != std::string_view::npos && !at_end()) {
    result += meant[which];
    ++at_;
    return;
  }
  if (c != 'u') fail(at_, "an escape of JSON after the backslash", quoted_data(text_.text.substr(at_, 1)));
  ++at_;
  uint32_t code = four_digits();
  if (code >= 0xD800 && code < 0xDC00 && text_.text.substr(at_).starts_with("\\u")) {
    at_ += 2;
    const uint32_t low = four_digits();
    if (low >= 0xDC00 && low < 0xE000) code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  if (code >= 0xD800 && code < 0xE000) fail(at_, "a pair of surrogates", "half of one");
  append_json_character(result, code);
}

std::string JsonCursor::string(const char* what) {
  const size_t begin = next();
  expect('"', what);
  std::string result;
  while (true) {
    if (at_end()) fail(begin, "the quote that closes a text", "the end of the text");
    const char c = text_.text[at_];
    if (c == '"') break;
    if (c == '\\') {
      ++at_;
      escape(result);
      continue;
    }
    const size_t length = character_length(text_.text.substr(at_, 4));
    if (length == 0 || static_cast<unsigned char>(c) < 0x20)
      fail(at_, "UTF-8 without control characters", quoted_data(text_.text.substr(at_, 1)));
    result += text_.text.substr(at_, length);
    at_ += length;
  }
  ++at_;
  return result;
}

void JsonCursor::digits() {
  if (!is_json_digit(now())) fail(at_, "a digit", glimpse());
  while (is_json_digit(now())) ++at_;
}

// Goes past a number; whether it is written as an integer.
bool JsonCursor::scan_number() {
  const size_t begin = at_;
  if (now() == '-') ++at_;
  const bool leads_with_zero = now() == '0';
  const size_t first = at_;
  digits();
  if (leads_with_zero && at_ > first + 1)
    fail(begin, "a number without zeros in front", quoted_data(text_.text.substr(begin, at_ - begin)));
  bool is_integer = true;
  if (now() == '.') {
    ++at_;
    digits();
    is_integer = false;
  }
  if (now() == 'e' || now() == 'E') {
    ++at_;
    if (now() == '-' || now() == '+') ++at_;
    digits();
    is_integer = false;
  }
  return is_integer;
}

// NaN and infinities, bare or in quotes.
void JsonCursor::special_word(DataValue& value) {
  const size_t begin = next();
  std::optional<double> number;
  if (now() == '"') {
    const std::string found = glimpse();
    number = special_number(string("a number"));
    if (!number) fail(begin, "a number", found);
  } else {
    size_t end = begin + (now() == '-');
    while (end < text_.text.size() && is_json_word_character(text_.text[end])) ++end;
    number = special_number(text_.text.substr(begin, end - begin));
    if (!number) fail(begin, "a number", glimpse());
    at_ = end;
  }
  add_number(value, *number, false);
}

void JsonCursor::number(DataValue& value) {
  constexpr size_t few = 18;  // characters that i64 holds
  const size_t begin = next();
  const std::string_view text = text_.text;
  const char first = peek(), second = begin + 1 < text.size() ? text[begin + 1] : '\0';
  if (!is_json_digit(first) && !(first == '-' && is_json_digit(second))) return special_word(value);
  const bool is_integer = scan_number();
  const std::string_view digits = text.substr(begin, at_ - begin);
  if (is_integer && digits.size() <= few) return add_number(value, short_json_integer(digits), true);
  const std::optional<double> number = decimal_number(digits);
  if (!number) fail(begin, "a number that f64 can hold", quoted_data(digits));
  add_number(value, *number, is_integer);
}

void JsonCursor::skip_value() {
  const char c = peek();
  if (c == '"') {
    string("a text");
  } else if (c == '[' || c == '{') {
    const char closing = c == '[' ? ']' : '}';
    enter(c);
    if (!skip(closing)) {
      do {
        if (c == '{') {
          string("a name in quotes");
          expect(':', "a colon after the name");
        }
        skip_value();
      } while (more(closing, c == '[' ? "]" : "}"));
    }
    leave();
  } else if (const std::string_view rest = text_.text.substr(at_);
             rest.starts_with("null") || rest.starts_with("true") || rest.starts_with("false")) {
    at_ += rest.starts_with("false") ? 5 : 4;
  } else {
    DataValue ignored;
    number(ignored);
  }
}

}  // namespace adit::stan
