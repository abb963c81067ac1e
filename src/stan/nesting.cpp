#include "stan/nesting.hpp"

#include <algorithm>

namespace adit::stan {

namespace {

// What stands between an open bracket and its end.
struct OpenBracket {
  size_t token = 0;
  bool is_block = false;  // of statements, by what stands before it
  bool has_semicolon = false;
  size_t first = 0, length = 0, inside = 0;  // the part at hand, and the deepest bracket in it
  size_t deepest = 0, deepest_first = 0;     // of all parts so far
};

bool opens_bracket(TokenKind kind) {
  return kind == TokenKind::paren_open || kind == TokenKind::bracket_open || kind == TokenKind::brace_open;
}
bool closes_bracket(TokenKind kind) {
  return kind == TokenKind::paren_close || kind == TokenKind::bracket_close || kind == TokenKind::brace_close;
}
bool comes_before_block(TokenKind kind) {
  return kind == TokenKind::paren_close || kind == TokenKind::semicolon || kind == TokenKind::brace_close ||
         is_word(kind);
}

void end_part(OpenBracket& bracket, size_t next) {
  const size_t depth = bracket.length + bracket.inside;
  if (depth > bracket.deepest) bracket.deepest = depth, bracket.deepest_first = bracket.first;
  bracket.length = bracket.inside = 0;
  bracket.first = next;
}

}  // namespace

Nesting nesting_of(const std::vector<Token>& tokens) {
  Nesting nesting;
  nesting.closing.resize(tokens.size());
  std::vector<OpenBracket> open(1);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const TokenKind kind = tokens[i].kind;
    const bool goes_on = i + 1 < tokens.size() && tokens[i + 1].kind == TokenKind::else_word;
    ++open.back().length;
    if (opens_bracket(kind)) {
      OpenBracket next{.token = i, .first = i + 1};
      next.is_block = kind == TokenKind::brace_open && (i == 0 || comes_before_block(tokens[i - 1].kind));
      open.push_back(next);
    } else if (closes_bracket(kind) && open.size() > 1) {
      OpenBracket closed = open.back();
      open.pop_back();
      end_part(closed, i);
      if (kind == TokenKind::brace_close && !closed.has_semicolon)
        nesting.closing[closed.token] = static_cast<uint32_t>(i);
      OpenBracket& around = open.back();
      around.has_semicolon = around.has_semicolon || closed.has_semicolon;
      ++around.length;
      around.inside = std::max(around.inside, closed.deepest);
      if (closed.is_block && !goes_on) end_part(around, i + 1);
    } else if (kind == TokenKind::comma) {
      end_part(open.back(), i + 1);
    } else if (kind == TokenKind::semicolon) {
      open.back().has_semicolon = true;
      if (!goes_on) end_part(open.back(), i + 1);
    }
  }
  // What is not closed nests all the same.
  while (!open.empty()) {
    OpenBracket last = open.back();
    open.pop_back();
    end_part(last, 0);
    if (!open.empty()) open.back().inside = std::max(open.back().inside, last.deepest);
    if (open.empty()) nesting.depth = last.deepest, nesting.deepest = tokens[last.deepest_first].place;
  }
  return nesting;
}

}  // namespace adit::stan
