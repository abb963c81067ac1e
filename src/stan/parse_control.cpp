// Statements that hold others, and how parsing goes on behind an error.
#include <fmt/format.h>

#include "stan/parser.hpp"

namespace adit::stan {

StatementPtr Parser::statement() {
  switch (token().kind) {
    case TokenKind::semicolon: {
      StatementPtr result = start(Statement::Kind::nothing);
      take();
      return result;
    }
    case TokenKind::brace_open: return begins_array() ? expression_statement() : block();
    case TokenKind::type_word:
    case TokenKind::array_word:
    case TokenKind::tuple_word: return declaration();
    case TokenKind::for_word: return for_loop();
    case TokenKind::while_word: return while_loop();
    case TokenKind::if_word: return choice();
    case TokenKind::profile_word: return profile();
    case TokenKind::break_word: return keyword_statement(Statement::Kind::break_loop);
    case TokenKind::continue_word: return keyword_statement(Statement::Kind::continue_loop);
    case TokenKind::return_word: return give();
    case TokenKind::print_word: return printing(Statement::Kind::print);
    case TokenKind::reject_word: return printing(Statement::Kind::reject);
    case TokenKind::fatal_error_word: return printing(Statement::Kind::fatal_error);
    case TokenKind::target_word:
    case TokenKind::jacobian_word: return increment();
    case TokenKind::else_word: fail(token().place, "This 'else' belongs to no 'if'.");
    default: break;
  }
  if (is_word(token().kind)) fail_expected("a statement");
  return expression_statement();
}

// At a brace: whether it opens an array, as in `{y, 2.0} ~ normal(0, 1);`, and no block. Behind an array
// something goes on with it, and nothing inside of it is a statement.
bool Parser::begins_array() const {
  const uint32_t close = brackets_.closing[position_];
  if (close == 0) return false;
  const TokenKind next = lexed_.tokens[std::min<size_t>(close + 1, lexed_.tokens.size() - 1)].kind;
  return next == TokenKind::tilde || next == TokenKind::bracket_open || next == TokenKind::quote ||
         next == TokenKind::dot_integer || next == TokenKind::question ||
         (next >= TokenKind::plus && next <= TokenKind::greater_equal);
}

StatementPtr Parser::block() {
  StatementPtr result = start(Statement::Kind::block);
  const Token open = take();
  ++nesting_;
  result->statements = statements();
  --nesting_;
  close(open);
  return finish(std::move(result));
}

// To the closing brace, which stays. Nothing but the end of all parsing leaves this by Failure.
std::vector<StatementPtr> Parser::statements() {
  std::vector<StatementPtr> list;
  while (!at(TokenKind::brace_close) && !at(TokenKind::end) && !at_block()) {
    const size_t before = position_;
    const int nesting = nesting_;
    const bool refused = nesting_ == 0 && refuses_statement();
    try {
      StatementPtr next = statement();
      if (!refused) list.push_back(std::move(next));
    } catch (const Failure&) {
      nesting_ = nesting;
      recover(before);
    }
  }
  return list;
}

void Parser::close(const Token& open) {
  if (take_if(TokenKind::brace_close) || stopped_ || last_complaint_ == position_) return;
  const uint32_t line = line_of(lexed_.sources[open.place.file], open.place.begin).line;
  complain(token().place,
           fmt::format("Expected '}}' for the '{{' of line {}, but found {}.", line,
                       at(TokenKind::end) ? "the end of the program" : "the next block of the program"));
}

// To the end of the statement that failed, or to where another begins.
void Parser::recover(size_t before) {
  int depth = 0;
  bool held_statements = false;
  for (; !at(TokenKind::end); take()) {
    const bool moved = position_ > before;
    if (moved && at_block()) return;
    const bool new_line = moved && depth == 0 && token().begins_line;
    if (new_line && begins_statement() && !at(TokenKind::brace_close) && !at(TokenKind::else_word)) return;
    switch (token().kind) {
      case TokenKind::brace_open: {
        const TokenKind last = previous().kind;
        if (moved && depth == 0 && (last == TokenKind::paren_close || last == TokenKind::else_word)) return;
        ++depth;
        held_statements = false;
        break;
      }
      case TokenKind::brace_close:
        if (depth == 0) return;
        if (--depth == 0 && held_statements) {
          take();
          return;
        }
        break;
      case TokenKind::semicolon:
        held_statements = true;
        if (depth == 0) {
          take();
          return;
        }
        break;
      default: break;
    }
  }
}

bool Parser::skip_to_body() {
  for (;; take()) {
    if (at(TokenKind::brace_open)) return true;
    if (at(TokenKind::end) || at(TokenKind::semicolon) || at(TokenKind::brace_close) || at_block())
      return false;
  }
}

StatementPtr Parser::body(const char* of) {
  if (at(TokenKind::brace_close) || at(TokenKind::end) || at_block())
    fail_expected(fmt::format("a statement as the body of {}", of));
  ++nesting_;
  StatementPtr result = statement();
  --nesting_;
  return result;
}

StatementPtr Parser::for_loop() {
  StatementPtr loop = start(Statement::Kind::for_range);
  take();
  header([&] { for_header(*loop); });
  loop->body = body("the loop");
  return finish(std::move(loop));
}

void Parser::for_header(Statement& loop) {
  expect(TokenKind::paren_open, "'(' after for");
  if (at_type()) fail(token().place, "The variable of a loop has no type: write 'for (i in 1:N)'.");
  const Token name = declared_name("the loop's variable");
  loop.name = text(name);
  loop.name_place = name.place;
  expect(TokenKind::in_word, "'in' after the loop's variable");
  ExpressionPtr first = expression();
  if (take_if(TokenKind::colon)) {
    loop.low = std::move(first);
    loop.high = expression();
  } else {
    loop.kind = Statement::Kind::for_each;
    loop.value = std::move(first);
  }
  expect(TokenKind::paren_close, loop.high ? "')' after the range" : "':' or ')' after the loop's values");
}

StatementPtr Parser::while_loop() {
  StatementPtr loop = start(Statement::Kind::while_loop);
  take();
  header([&] {
    expect(TokenKind::paren_open, "'(' after while");
    loop->value = condition();
    expect(TokenKind::paren_close, "')' after the condition");
  });
  loop->body = body("the loop");
  return finish(std::move(loop));
}

StatementPtr Parser::choice() {
  StatementPtr result = start(Statement::Kind::choice);
  take();
  header([&] {
    expect(TokenKind::paren_open, "'(' after if");
    result->value = condition();
    expect(TokenKind::paren_close, "')' after the condition");
  });
  result->body = body("the if");
  if (take_if(TokenKind::else_word)) result->otherwise = body("the else");
  return finish(std::move(result));
}

StatementPtr Parser::profile() {
  StatementPtr result = start(Statement::Kind::profile);
  take();
  header([&] {
    expect(TokenKind::paren_open, "'(' after profile");
    if (!at(TokenKind::text)) fail_expected("the profile's name in quotes");
    result->name_place = token().place;
    const std::string_view quoted = text(take());
    result->name = quoted.substr(1, quoted.size() - (quoted.size() > 1 && quoted.ends_with('"') ? 2 : 1));
    expect(TokenKind::paren_close, "')' after the profile's name");
  });
  const Token open = expect(TokenKind::brace_open, "'{' after the profile's name");
  ++nesting_;
  result->statements = statements();
  --nesting_;
  close(open);
  return finish(std::move(result));
}

}  // namespace adit::stan
