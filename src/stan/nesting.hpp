// How deep the tokens of a program nest, before they are parsed.
#pragma once

#include "stan/lexer.hpp"

namespace adit::stan {

struct Nesting {
  // No tree of the program is deeper: in each bracket what stands between commas or semicolons may all lie on
  // top of each other.
  size_t depth = 0;
  Place deepest;  // where that begins
  // Of an open brace without a semicolon inside: the token that closes it. Else 0.
  std::vector<uint32_t> closing;
};
Nesting nesting_of(const std::vector<Token>& tokens);

}  // namespace adit::stan
