#include "io/csv_records.hpp"

#include <fmt/format.h>

#include <adit/text.hpp>

namespace adit::table {
namespace {

std::string undouble(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); i++) {
    result += text[i];
    if (text[i] == '"') ++i;
  }
  return result;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string shown(std::string_view text) {
  constexpr size_t most = 80;
  size_t length = 0;
  while (length < text.size() && length < most)
    length += std::max<size_t>(character_length(text.substr(length)), 1);
  return fmt::format("\"{}{}\"", printable(text.substr(0, length)), length < text.size() ? "..." : "");
}

Records::Records(const Place& place, std::string_view text, char separator, char comment)
    : place_(place), text_(text), separator_(separator), comment_(comment) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";  // of UTF-8; editors put it first
  if (text_.starts_with(mark)) text_.remove_prefix(mark.size());
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    place_.fail("expected UTF-8, got UTF-16; save it as UTF-8");
  for (const char c : {separator, '"', '\r', '\n', '\0'}) stops_[static_cast<unsigned char>(c)] = true;
}

void Records::fail(int64_t line, const std::string& what) const {
  place_.fail(fmt::format("line {}: {}", line, what));
}

// A character that cannot follow where a field may end.
void Records::refuse(char character) const {
  switch (character) {
    case '\0': fail(line_, "expected text, got a byte that is 0");
    case '\r': fail(line_, "expected lines that end in LF or CR LF, got a CR alone");
    case '"':
      fail(line_,
           "expected quotes around a whole field, got one inside; double it and put the field in quotes");
    default:
      fail(line_, fmt::format("expected {} or the end of the line after a field in quotes, got {}",
                              shown({&separator_, 1}), shown({&character, 1})));
  }
}

void Records::skip_blanks() {
  while (!at_end() && is_blank(text_[at_])) ++at_;
}

void Records::skip_comments() {
  while (comment_ && !at_end() && text_[at_] == comment_) {
    const size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
  }
}

// Where the line is blank: goes to the next one.
bool Records::skip_blank_line() {
  size_t end = at_;
  while (end < text_.size() && is_blank(text_[end])) ++end;
  if (text_.substr(end).starts_with("\r\n")) ++end;
  if (end < text_.size() && text_[end] != '\n') return false;
  at_ = std::min(end + 1, text_.size());
  ++line_;
  return true;
}

bool Records::next() {
  fields_.clear();
  undoubled_.clear();
  skip_comments();
  const int64_t blank = line_;
  bool skipped = false;
  while (!at_end() && skip_blank_line()) {
    skipped = true;
    skip_comments();
  }
  if (at_end()) return false;
  if (skipped) fail(blank, "expected a row, got a blank line; those may only stand at the end");
  record_line_ = line_;
  while (field()) {
  }
  return true;
}

// Whether another one follows in the record.
bool Records::field() {
  if (fields_.size() == most_columns) fail(line_, fmt::format("expected at most {} fields", most_columns));
  skip_blanks();
  if (!at_end() && text_[at_] == '"')
    quoted_field();
  else
    plain_field();
  return end_of_field();
}

void Records::plain_field() {
  const size_t start = at_;
  while (!at_end() && !stops_[static_cast<unsigned char>(text_[at_])]) ++at_;
  size_t end = at_;
  while (end > start && is_blank(text_[end - 1])) --end;
  fields_.push_back({text_.substr(start, end - start), line_, false});
}

void Records::quoted_field() {
  const int64_t opened = line_;
  const size_t start = ++at_;
  bool doubled = false;
  for (;; ++at_) {
    if (at_end()) fail(opened, "expected the quote that closes a field, got the end of the text");
    if (text_[at_] == '\0') refuse('\0');
    if (text_[at_] == '\n') ++line_;
    if (text_[at_] != '"') continue;
    if (!text_.substr(at_ + 1).starts_with('"')) break;
    doubled = true;
    ++at_;
  }
  std::string_view text = text_.substr(start, at_ - start);
  if (doubled) text = undoubled_.emplace_back(undouble(text));
  fields_.push_back({text, opened, true});
  ++at_;
  skip_blanks();
}

// Whether the record goes on.
bool Records::end_of_field() {
  if (at_end()) return false;
  const char c = text_[at_];
  const bool with_return = c == '\r' && text_.substr(at_ + 1).starts_with('\n');
  if (c != separator_ && c != '\n' && !with_return) refuse(c);
  at_ += with_return ? 2 : 1;
  if (c == separator_) return true;
  ++line_;
  return false;
}

}  // namespace adit::table
