#include "stan/parser.hpp"

#include <fmt/format.h>

#include "stan/lexer_words.hpp"

namespace adit::stan {

const Token& Parser::token(size_t ahead) const {
  return lexed_.tokens[std::min(position_ + ahead, lexed_.tokens.size() - 1)];
}

Token Parser::take() {
  const Token taken = token();
  if (taken.kind != TokenKind::end) ++position_;
  return taken;
}

bool Parser::take_if(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

Token Parser::expect(TokenKind kind, const std::string& what) {
  if (!at(kind)) fail_expected(what);
  return take();
}

std::string Parser::found() const {
  if (at(TokenKind::end)) return "the end of the program";
  if (at(TokenKind::text)) return "a text";
  return fmt::format("'{}'", excerpt(text(token())));
}

void Parser::note(Message::Kind kind, const Place& place, std::string text) {
  if (stopped_) return;
  if (kind != Message::Kind::warning) {
    // The lexer told of what it could not read.
    const bool known = at(TokenKind::bad) || (at(TokenKind::end) && lexed_.cut);
    if (known || last_complaint_ == position_) return;
    last_complaint_ = position_;
  }
  notes_.add(position_, {kind, place, std::move(text)});
  if (notes_.full()) {
    stopped_ = true;
    position_ = lexed_.tokens.size() - 1;
  }
}

void Parser::fail(const Place& place, std::string text) {
  complain(place, std::move(text));
  throw Failure();
}

void Parser::fail_expected(const std::string& what) {
  fail(token().place, fmt::format("Expected {}, but found {}.", what, found()));
}

// Nothing behind this can be parsed.
void Parser::stop(std::string text) {
  complain(token().place, std::move(text));
  stopped_ = true;
  position_ = lexed_.tokens.size() - 1;
  throw Failure();
}

bool Parser::begins_statement() const {
  const TokenKind kind = token().kind;
  return (is_word(kind) && kind != TokenKind::in_word && kind < TokenKind::bound_word) ||
         kind == TokenKind::brace_close || kind == TokenKind::end;
}

// A missing one is noted behind the last token, and parsing goes on as if it were there.
void Parser::semicolon(const char* after) {
  if (take_if(TokenKind::semicolon)) return;
  const bool next_line = token().begins_line && (at(TokenKind::name) || at(TokenKind::brace_open));
  if (!begins_statement() && !next_line) fail_expected(fmt::format("';' after {}", after));
  const Place last = previous().place;
  complain({last.file, last.end, last.end},
           fmt::format("Expected ';' after {}, but found {}.", after, found()));
}

// From the first place to the end of the token before; files that an include joins cannot be spanned.
Place Parser::since(const Place& first) const {
  const Place last = previous().place;
  return last.file == first.file && last.end >= first.begin ? first + last : first;
}

Token Parser::declared_name(const char* what) {
  const bool is_free = at(TokenKind::name);
  if (!is_free && (!is_word(token().kind) || at_block())) fail_expected(fmt::format("the name of {}", what));
  const std::string_view word = text(token());
  if (!is_free)
    complain(token().place, fmt::format("'{}' is a reserved word and cannot be the name of {}.", word, what));
  else if (word.ends_with("__"))
    complain(token().place,
             fmt::format("The name '{}' ends in '__', which is kept for other uses.", excerpt(word)));
  return take();
}

}  // namespace adit::stan
