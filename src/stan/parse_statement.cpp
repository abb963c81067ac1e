// Statements that are not made of other statements.
#include <fmt/format.h>

#include "stan/lexer_words.hpp"
#include "stan/parser.hpp"

namespace adit::stan {

namespace {

std::optional<Operator> compound_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::plus_assign: return Operator::add;
    case TokenKind::minus_assign: return Operator::subtract;
    case TokenKind::times_assign: return Operator::multiply;
    case TokenKind::divide_assign: return Operator::divide;
    case TokenKind::element_times_assign: return Operator::element_multiply;
    case TokenKind::element_divide_assign: return Operator::element_divide;
    default: return std::nullopt;
  }
}

// `x <- 3` was parsed as the comparison x < -3.
bool is_old_assignment(const Expression& expression, const Sources& sources, Place& arrow) {
  if (expression.kind != Expression::Kind::binary || expression.op != Operator::less) return false;
  const Expression* right = expression.parts[1].get();
  while (right->kind == Expression::Kind::binary) right = right->parts[0].get();
  const Place place = right->place;
  if (right->kind != Expression::Kind::prefix || right->op != Operator::minus || place.begin == 0)
    return false;
  arrow = {place.file, place.begin - 1, place.begin + 1};
  return text_of(sources, arrow) == "<-";
}

}  // namespace

StatementPtr Parser::start(Statement::Kind kind) const {
  auto result = std::make_unique<Statement>();
  result->kind = kind;
  result->place = token().place;
  return result;
}

StatementPtr Parser::finish(StatementPtr statement) const {
  statement->place = since(statement->place);
  return statement;
}

StatementPtr Parser::declaration() {
  StatementPtr result = start(Statement::Kind::declare);
  SizedType type = sized_type();
  for (;;) {
    Declaration next = declarator(type);
    const bool is_last = !at(TokenKind::comma);
    std::vector<ExpressionPtr> old_sizes = std::move(next.type.array_sizes);
    next.type = is_last ? std::move(type) : copy(type);
    if (!old_sizes.empty()) next.type.array_sizes = std::move(old_sizes);
    result->declarations.push_back(std::move(next));
    if (is_last) break;
    take();
  }
  semicolon("the declaration");
  return finish(std::move(result));
}

// A name and its value; of the type only the sizes of an old array, if any.
Declaration Parser::declarator(const SizedType& type) {
  Declaration declaration;
  const Token name = declared_name("a variable");
  declaration.name = text(name);
  declaration.name_place = name.place;
  if (at(TokenKind::bracket_open)) declaration.type.array_sizes = old_array(type, name);
  if (at(TokenKind::assign)) {
    const bool is_free =
        nesting_ > 0 || !block_ || (*block_ != BlockKind::data && *block_ != BlockKind::parameters);
    if (!is_free)
      complain(token().place, fmt::format("Variables of the {} block are given no value.", to_text(*block_)));
    take();
    declaration.value = expression();
  } else if (at(TokenKind::less) && at(TokenKind::minus, 1)) {
    fail(token().place, "'<-' is an old form of assignment; write '='.");
  }
  return declaration;
}

std::vector<ExpressionPtr> Parser::old_array(const SizedType& type, const Token& name) {
  const Place begin = token().place;
  std::vector<ExpressionPtr> sizes = size_list("the sizes of the array");
  const Place place = since(begin);
  if (!type.array_sizes.empty()) {
    complain(place, "The array's sizes stand twice here; write them behind 'array' only.");
    return {};
  }
  note(Message::Kind::warning, place,
       fmt::format("This form of an array is old; write 'array{} {} {}'.",
                   excerpt(text_of(lexed_.sources, place)), excerpt(text_of(lexed_.sources, type.place)),
                   excerpt(text(name))));
  return sizes;
}

// A call, an assignment or `y ~ normal(0, 1)`.
StatementPtr Parser::expression_statement() {
  ExpressionPtr left = expression();
  if (at(TokenKind::tilde)) return tilde(std::move(left));
  if (at(TokenKind::assign) || compound_operator(token().kind)) return assignment(std::move(left));
  return call_statement(std::move(left));
}

StatementPtr Parser::call_statement(ExpressionPtr left) {
  Place arrow;
  const Place place = left->place;
  if (is_old_assignment(*left, lexed_.sources, arrow)) {
    complain(arrow, "'<-' is an old form of assignment; write '='.");
  } else if (left->kind != Expression::Kind::call) {
    if (left->kind == Expression::Kind::variable && at(TokenKind::name))
      fail(place, fmt::format("Expected a statement, but found '{}', which is no type and no call.",
                              excerpt(left->name)));
    if (!at(TokenKind::semicolon)) fail_expected("'=', '~' or another assignment after this expression");
    complain(place, "An expression alone is no statement; expected '=', '~' or a call.");
  } else if (left->name == "increment_log_prob") {
    complain(place, "'increment_log_prob(...)' is an old form; write 'target += ...;'.");
  }
  StatementPtr result = start(Statement::Kind::call);
  result->place = place;
  result->value = std::move(left);
  semicolon("the call");
  return finish(std::move(result));
}

StatementPtr Parser::assignment(ExpressionPtr left) {
  StatementPtr result = start(Statement::Kind::assign);
  result->place = left->place;
  result->compound = compound_operator(token().kind);
  if (!to_target(*left, result->target))
    complain(left->place,
             fmt::format("Cannot assign to this: expected a variable, its elements or members before '{}'.",
                         text(token())));
  else if (result->compound && !result->target.parts.empty())
    complain(left->place,
             fmt::format("Only '=' assigns to several variables at once, not '{}'.", text(token())));
  take();
  result->value = expression();
  semicolon("the assignment");
  return finish(std::move(result));
}

bool Parser::to_target(Expression& from, Target& to, int depth) {
  to.place = from.place;
  if (from.kind == Expression::Kind::tuple && depth < deepest_tuple) {
    for (const ExpressionPtr& part : from.parts)
      if (!to_target(*part, to.parts.emplace_back(), depth + 1)) return false;
    return true;
  }
  std::vector<Target::Step> backwards;
  Expression* at = &from;
  for (; at->kind == Expression::Kind::index || at->kind == Expression::Kind::member; at = at->parts[0].get())
    backwards.push_back({std::move(at->indices), at->integer});
  if (at->kind != Expression::Kind::variable) return false;
  to.name = at->name;
  for (size_t i = backwards.size(); i-- > 0;) to.steps.push_back(std::move(backwards[i]));
  return true;
}

StatementPtr Parser::tilde(ExpressionPtr left) {
  StatementPtr result = start(Statement::Kind::tilde);
  result->place = left->place;
  result->value = std::move(left);
  take();
  const Token name = expect(TokenKind::name, "the name of a distribution after '~'");
  result->name = text(name);
  result->name_place = name.place;
  expect(TokenKind::paren_open, fmt::format("'(' after the distribution '{}'", excerpt(result->name)));
  if (!at(TokenKind::paren_close)) {
    do result->arguments.push_back(expression());
    while (take_if(TokenKind::comma));
  }
  expect(TokenKind::paren_close, fmt::format("',' or ')' in the arguments of '{}'", excerpt(result->name)));
  truncation(result->truncation);
  semicolon("the distribution");
  return finish(std::move(result));
}

void Parser::truncation(Truncation& truncation) {
  if (!at(TokenKind::name) || text(token()) != "T" || !at(TokenKind::bracket_open, 1)) return;
  take();
  take();
  truncation.present = true;
  if (!at(TokenKind::comma)) truncation.low = expression();
  expect(TokenKind::comma, "',' between the bounds of the truncation");
  if (!at(TokenKind::bracket_close)) truncation.high = expression();
  expect(TokenKind::bracket_close, "']' of the truncation");
}

// target += x; jacobian += x;
StatementPtr Parser::increment() {
  const bool is_target = at(TokenKind::target_word);
  if (is_target && at(TokenKind::paren_open, 1)) return expression_statement();
  StatementPtr result = start(is_target ? Statement::Kind::increment : Statement::Kind::jacobian);
  const std::string word(text(take()));
  if (!at(TokenKind::plus_assign))
    fail(token().place,
         fmt::format("Expected '+=' after '{}', but found {}: it can only be added to.", word, found()));
  take();
  result->value = expression();
  semicolon("the increment");
  return finish(std::move(result));
}

// break; continue;
StatementPtr Parser::keyword_statement(Statement::Kind kind) {
  StatementPtr result = start(kind);
  const std::string word = fmt::format("'{}'", text(take()));
  semicolon(word.c_str());
  return finish(std::move(result));
}

StatementPtr Parser::give() {
  StatementPtr result = start(Statement::Kind::give);
  take();
  if (!at(TokenKind::semicolon) && !at(TokenKind::brace_close)) result->value = expression();
  semicolon("the return");
  return finish(std::move(result));
}

StatementPtr Parser::printing(Statement::Kind kind) {
  StatementPtr result = start(kind);
  const std::string word(text(take()));
  expect(TokenKind::paren_open, fmt::format("'(' after {}", word));
  if (!at(TokenKind::paren_close)) {
    do {
      Statement::Piece& piece = result->pieces.emplace_back();
      if (at(TokenKind::text)) {
        std::string_view quoted = text(take());
        quoted.remove_prefix(1);
        if (quoted.ends_with('"')) quoted.remove_suffix(1);
        piece.text = quoted;
      } else {
        piece.value = expression();
      }
    } while (take_if(TokenKind::comma));
  }
  expect(TokenKind::paren_close, fmt::format("',' or ')' in {}", word));
  const std::string after = fmt::format("the {}", word);
  semicolon(after.c_str());
  return finish(std::move(result));
}

}  // namespace adit::stan
