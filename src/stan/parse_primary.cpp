// What operators work on: numbers, names, calls and what stands in brackets.
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "stan/parser.hpp"

namespace adit::stan {

namespace {

std::string without_separators(std::string_view written) {
  std::string digits;
  for (const char byte : written)
    if (byte != '_') digits += byte;
  return digits;
}

// Whether a number that is no double is too large for one, not too small: by the place of its first digit.
bool is_too_large(std::string_view digits) {
  const size_t exponent_at = std::min(digits.find_first_of("eE"), digits.size());
  const std::string_view mantissa = digits.substr(0, exponent_at);
  const size_t first = mantissa.find_first_not_of("0.");
  if (first == std::string_view::npos) return false;
  const auto decimal_point = static_cast<double>(std::min(mantissa.find('.'), mantissa.size()));
  double exponent = 0;
  for (const char byte : digits.substr(exponent_at))
    if (byte >= '0' && byte <= '9') exponent = std::min(exponent * 10 + (byte - '0'), 1e15);
  if (digits.substr(exponent_at).find('-') != std::string_view::npos) exponent = -exponent;
  return decimal_point - static_cast<double>(first) + exponent > 0;
}

// Infinity where it is too large.
double value_of_real(std::string_view written) {
  const std::string digits = without_separators(written);
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc::result_out_of_range) return value;
  return is_too_large(digits) ? HUGE_VAL : 0.0;
}

}  // namespace

ExpressionPtr Parser::leaf(Expression::Kind kind) {
  ExpressionPtr tree = make(kind, token().place);
  tree->name = text(token());
  tree->name_place = token().place;
  take();
  return tree;
}

ExpressionPtr Parser::number() {
  const TokenKind kind = token().kind;
  if (kind == TokenKind::integer) {
    ExpressionPtr tree = leaf(Expression::Kind::integer);
    const std::string digits = without_separators(tree->name);
    std::from_chars(digits.data(), digits.data() + digits.size(), tree->integer);
    tree->real = static_cast<double>(tree->integer);
    return tree;
  }
  const Place place = token().place;
  const double value = value_of_real(text(token()));
  if (!std::isfinite(value)) complain(place, "This number is too large for a real.");
  ExpressionPtr tree =
      leaf(kind == TokenKind::imaginary ? Expression::Kind::imaginary : Expression::Kind::real);
  tree->real = value;
  return tree;
}

ExpressionPtr Parser::primary() {
  switch (token().kind) {
    case TokenKind::integer:
    case TokenKind::real:
    case TokenKind::imaginary:
    case TokenKind::dot_integer: return number();
    case TokenKind::name: return named();
    case TokenKind::paren_open: return parenthesised();
    case TokenKind::brace_open:
      return listed(Expression::Kind::array, TokenKind::brace_close, "'}' of the array");
    case TokenKind::bracket_open:
      return listed(Expression::Kind::row, TokenKind::bracket_close, "']' of the row vector");
    case TokenKind::target_word: {
      ExpressionPtr tree = leaf(Expression::Kind::target);
      expect(TokenKind::paren_open, "'()' after target");
      expect(TokenKind::paren_close, "')' after 'target('");
      tree->place = since(tree->place);
      return tree;
    }
    case TokenKind::text:
      fail(token().place, "Expected an expression; a text can stand in print, reject and fatal_error only.");
    case TokenKind::reserved_word:
      if (text(token()) == "true" || text(token()) == "false")
        fail(token().place, fmt::format("'{}' is no value of the language; write {}.", text(token()),
                                        text(token()) == "true" ? "1" : "0"));
      break;
    case TokenKind::times:
      if (previous().kind == TokenKind::times && previous().place.end == token().place.begin)
        fail(token().place, "'**' is no operator; write '^' for powers.");
      break;
    case TokenKind::assign:
      if (position_ > 0 && previous().place.end == token().place.begin)
        fail(token().place,
             fmt::format("Expected an expression, but found '='; '{}=' is no operator.", text(previous())));
      break;
    default: break;
  }
  fail_expected("an expression");
}

// A variable or a call.
ExpressionPtr Parser::named() {
  ExpressionPtr tree = leaf(Expression::Kind::variable);
  if (!at(TokenKind::paren_open)) return tree;
  tree->kind = Expression::Kind::call;
  call_arguments(*tree);
  tree->place = since(tree->place);
  return tree;
}

void Parser::call_arguments(Expression& call) {
  expect(TokenKind::paren_open, "'('");
  if (take_if(TokenKind::paren_close)) return;
  call.parts.push_back(expression());
  if (take_if(TokenKind::bar)) {
    call.with_bar = true;
    if (take_if(TokenKind::paren_close)) return;
    call.parts.push_back(expression());
  }
  while (take_if(TokenKind::comma)) call.parts.push_back(expression());
  if (take_if(TokenKind::paren_close)) return;
  if (at(TokenKind::bar) && !call.with_bar)
    fail(token().place, "'|' can stand behind the first argument only.");
  fail_expected(fmt::format("',' or ')' in the arguments of '{}'", call.name));
}

ExpressionPtr Parser::parenthesised() {
  const Place begin = take().place;
  ExpressionPtr first = expression();
  const bool is_tuple = at(TokenKind::comma);
  ExpressionPtr tree = make(is_tuple ? Expression::Kind::tuple : Expression::Kind::group, begin);
  tree->parts.push_back(std::move(first));
  while (take_if(TokenKind::comma)) {
    if (tree->parts.size() == 1 && at(TokenKind::paren_close)) break;  // (x,): of one member
    tree->parts.push_back(expression());
  }
  expect(TokenKind::paren_close, is_tuple ? "',' or ')' of the tuple" : "')'");
  tree->place = since(begin);
  return tree;
}

ExpressionPtr Parser::listed(Expression::Kind kind, TokenKind close, const char* what) {
  const Place begin = take().place;
  ExpressionPtr tree = make(kind, begin);
  if (at(close)) {
    if (kind == Expression::Kind::array)
      complain(token().place, "An array in braces has at least one element.");
  } else {
    do tree->parts.push_back(expression());
    while (take_if(TokenKind::comma));
  }
  expect(close, fmt::format("',' or {}", what));
  tree->place = since(begin);
  return tree;
}

}  // namespace adit::stan
