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

Parser::Tree Parser::leaf(Expression::Kind kind) {
  Tree tree = make(kind, token().place);
  tree.top->name = text(token());
  tree.top->name_place = token().place;
  take();
  return tree;
}

Parser::Tree Parser::number() {
  const TokenKind kind = token().kind;
  if (kind == TokenKind::integer) {
    Tree tree = leaf(Expression::Kind::integer);
    const std::string digits = without_separators(tree.top->name);
    std::from_chars(digits.data(), digits.data() + digits.size(), tree.top->integer);
    tree.top->real = static_cast<double>(tree.top->integer);
    return tree;
  }
  const Place place = token().place;
  const double value = value_of_real(text(token()));
  if (!std::isfinite(value)) complain(place, "This number is too large for a real.");
  Tree tree = leaf(kind == TokenKind::imaginary ? Expression::Kind::imaginary : Expression::Kind::real);
  tree.top->real = value;
  return tree;
}

Parser::Tree Parser::primary() {
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
      Tree tree = leaf(Expression::Kind::target);
      expect(TokenKind::paren_open, "'()' after target");
      expect(TokenKind::paren_close, "')' after 'target('");
      tree.top->place = since(tree.top->place);
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
Parser::Tree Parser::named() {
  Tree tree = leaf(Expression::Kind::variable);
  if (!at(TokenKind::paren_open)) return tree;
  tree.top->kind = Expression::Kind::call;
  call_arguments(tree);
  tree.top->place = since(tree.top->place);
  return tree;
}

void Parser::call_arguments(Tree& call) {
  expect(TokenKind::paren_open, "'('");
  if (take_if(TokenKind::paren_close)) return;
  adopt(call, ternary());
  if (take_if(TokenKind::bar)) {
    call.top->with_bar = true;
    if (take_if(TokenKind::paren_close)) return;
    adopt(call, ternary());
  }
  while (take_if(TokenKind::comma)) adopt(call, ternary());
  if (take_if(TokenKind::paren_close)) return;
  if (at(TokenKind::bar) && !call.top->with_bar)
    fail(token().place, "'|' can stand behind the first argument only.");
  fail_expected(fmt::format("',' or ')' in the arguments of '{}'", call.top->name));
}

Parser::Tree Parser::parenthesised() {
  const Place begin = take().place;
  Tree first = ternary();
  const bool is_tuple = at(TokenKind::comma);
  Tree tree = make(is_tuple ? Expression::Kind::tuple : Expression::Kind::group, begin);
  adopt(tree, std::move(first));
  while (take_if(TokenKind::comma)) adopt(tree, ternary());
  expect(TokenKind::paren_close, is_tuple ? "',' or ')' of the tuple" : "')'");
  tree.top->place = since(begin);
  return tree;
}

Parser::Tree Parser::listed(Expression::Kind kind, TokenKind close, const char* what) {
  const Place begin = take().place;
  Tree tree = make(kind, begin);
  if (at(close)) {
    if (kind == Expression::Kind::array)
      complain(token().place, "An array in braces has at least one element.");
  } else {
    do adopt(tree, ternary());
    while (take_if(TokenKind::comma));
  }
  expect(close, fmt::format("',' or {}", what));
  tree.top->place = since(begin);
  return tree;
}

}  // namespace adit::stan
