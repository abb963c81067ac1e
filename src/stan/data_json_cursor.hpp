// A place in a JSON text that goes on token by token.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "stan/data_text.hpp"

namespace adit::stan {

class JsonCursor {
 public:
  JsonCursor(std::string_view text, const std::string& name);

  // What errors name: a variable, and where in its array the cursor is.
  std::string variable;
  std::function<std::string()> index;
  [[noreturn]] void fail(size_t at, const std::string& expected, const std::string& found) const;

  // Of the next token. At the end of the text: its size and 0.
  size_t next();
  char peek() { return next() < text_.text.size() ? text_.text[at_] : '\0'; }
  // Whether the character was there; the cursor is past it then.
  bool skip(char c);
  void expect(char c, const char* what);
  void expect_end();
  // After an element: whether another follows; else the closing character must.
  bool more(char closing, const char* what);
  // A list or an object opens, and closes: nothing nests without end.
  void enter(char opening);
  void leave() { --depth_; }

  std::string string(const char* what);
  // Adds the number that follows.
  void number(DataValue& value);
  void skip_value();
  // What follows, for a message.
  std::string glimpse();

 private:
  bool at_end() const { return at_ == text_.text.size(); }
  char now() const { return at_end() ? '\0' : text_.text[at_]; }
  void digits();
  bool scan_number();
  void special_word(DataValue& value);
  void escape(std::string& result);
  uint32_t four_digits();

  DataText text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace adit::stan
