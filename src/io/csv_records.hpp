// The records of a CSV text (RFC 4180), one at a time.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.hpp"

namespace adit::table {

struct Field {
  std::string_view text;  // without its quotes, or without the blanks around it
  int64_t line = 0;       // where it begins, counted from 1
  bool quoted = false;
};

// More are no table: a text of separators alone must not take all memory.
inline constexpr size_t most_columns = 1'000'000;

// "\"abc\"" for messages: cut if long, and as a terminal may show it.
std::string shown(std::string_view text);

bool is_utf8(std::string_view text);

class Records {
 public:
  // `comment` 0: none.
  Records(const Place& place, std::string_view text, char separator, char comment);
  // Whether there is another record. Its fields live until the next call.
  bool next();
  const std::vector<Field>& fields() const { return fields_; }
  int64_t line() const { return record_line_; }  // where the record begins

 private:
  [[noreturn]] void fail(int64_t line, const std::string& what) const;
  [[noreturn]] void refuse(char character) const;
  bool at_end() const { return at_ == text_.size(); }
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  void skip_blanks();
  void skip_comments();
  bool skip_blank_line();
  bool field();
  void plain_field();
  void quoted_field();
  bool end_of_field();

  const Place& place_;
  std::string_view text_;
  char separator_, comment_;
  std::array<bool, 256> stops_{};  // characters that no plain field has
  size_t at_ = 0;
  int64_t line_ = 1, record_line_ = 1;
  std::vector<Field> fields_;
  std::deque<std::string> undoubled_;  // fields whose quotes were doubled
};

}  // namespace adit::table
