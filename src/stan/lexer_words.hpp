// Words and marks of the language.
#pragma once

#include <string>
#include <string_view>

#include "stan/lexer.hpp"

namespace adit::stan {

// `name` where the word is none of the language.
TokenKind kind_of_word(std::string_view word);

struct Mark {
  Token::Kind kind = Token::Kind::bad;
  size_t length = 0;  // 0: no mark stands here
};
Mark mark_at(std::string_view text);

// As messages quote it: not too long.
std::string excerpt(std::string_view text);

}  // namespace adit::stan
