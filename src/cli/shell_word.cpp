#include "cli/shell_word.hpp"

#include <fmt/format.h>

#include <adit/text.hpp>

namespace adit::cli {

std::string shell_word(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  const bool shown = printable(word) == word;
  std::string quoted = shown ? "'" : "$'";
  for (const char c : word) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\'')
      quoted += shown ? "'\\''" : "\\'";
    else if (shown || (code >= 32 && code < 127 && c != '\\'))
      quoted += c;
    else
      quoted += fmt::format("\\{:03o}", code);
  }
  return quoted + "'";
}

}  // namespace adit::cli
