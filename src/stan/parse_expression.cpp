// Expressions, from the loosest operators to the tightest.
#include <algorithm>
#include <fmt/format.h>

#include "stan/parser.hpp"

namespace adit::stan {

namespace {

struct BinaryOperator {
  int precedence = 0;  // 0: none
  Operator op = Operator::add;
};

constexpr int additive_precedence = 5;

BinaryOperator binary_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::logical_or: return {1, Operator::logical_or};
    case TokenKind::logical_and: return {2, Operator::logical_and};
    case TokenKind::equal: return {3, Operator::equal};
    case TokenKind::not_equal: return {3, Operator::not_equal};
    case TokenKind::less: return {4, Operator::less};
    case TokenKind::less_equal: return {4, Operator::less_equal};
    case TokenKind::greater: return {4, Operator::greater};
    case TokenKind::greater_equal: return {4, Operator::greater_equal};
    case TokenKind::plus: return {additive_precedence, Operator::add};
    case TokenKind::minus: return {additive_precedence, Operator::subtract};
    case TokenKind::times: return {6, Operator::multiply};
    case TokenKind::divide: return {6, Operator::divide};
    case TokenKind::modulo: return {6, Operator::modulo};
    case TokenKind::element_times: return {6, Operator::element_multiply};
    case TokenKind::element_divide: return {6, Operator::element_divide};
    case TokenKind::integer_divide: return {7, Operator::integer_divide};
    case TokenKind::left_divide: return {7, Operator::left_divide};
    default: return {};
  }
}

std::optional<Operator> prefix_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::exclaim: return Operator::logical_not;
    case TokenKind::minus: return Operator::minus;
    case TokenKind::plus: return Operator::plus;
    default: return std::nullopt;
  }
}

Place joined(const Place& first, const Place& last) {
  return first.file == last.file && last.end >= first.begin ? first + last : first;
}

}  // namespace

Parser::Tree Parser::make(Expression::Kind kind, const Place& place) {
  Tree tree{std::make_unique<Expression>(), 1};
  tree.top->kind = kind;
  tree.top->place = place;
  return tree;
}

void Parser::adopt(Tree& whole, Tree part) {
  whole.height = std::max(whole.height, part.height + 1);
  whole.top->parts.push_back(std::move(part.top));
  if (whole.height > tallest_tree)
    stop(fmt::format("This expression has more than {} operations on top of each other; split it.",
                     tallest_tree));
}

// What bounds a variable: '>' ends it.
ExpressionPtr Parser::bound() { return binary(additive_precedence).top; }

// Of if and while: '=' is a slip for '=='.
ExpressionPtr Parser::condition() {
  ExpressionPtr result = expression();
  if (!at(TokenKind::assign)) return result;
  complain(token().place, "'=' assigns; write '==' to compare.");
  take();
  return expression();
}

Parser::Tree Parser::ternary() {
  const Level level(*this);
  Tree test = binary(1);
  if (!take_if(TokenKind::question)) return test;
  Tree yes = ternary();
  expect(TokenKind::colon, "':' of the choice '? :'");
  Tree no = ternary();
  Tree whole = make(Expression::Kind::ternary, joined(test.top->place, no.top->place));
  adopt(whole, std::move(test));
  adopt(whole, std::move(yes));
  adopt(whole, std::move(no));
  return whole;
}

// Operators of at least the lowest precedence; all of these associate to the left.
Parser::Tree Parser::binary(int lowest) {
  Tree left = prefix();
  for (;;) {
    const BinaryOperator found = binary_operator(token().kind);
    if (found.precedence < lowest || found.precedence == 0) return left;
    take();
    Tree right = binary(found.precedence + 1);
    Tree whole = make(Expression::Kind::binary, joined(left.top->place, right.top->place));
    whole.top->op = found.op;
    adopt(whole, std::move(left));
    adopt(whole, std::move(right));
    left = std::move(whole);
  }
}

Parser::Tree Parser::prefix() {
  const auto op = prefix_operator(token().kind);
  if (!op) return power();
  const Level level(*this);
  const Place place = take().place;
  Tree operand = prefix();
  Tree whole = make(Expression::Kind::prefix, joined(place, operand.top->place));
  whole.top->op = *op;
  adopt(whole, std::move(operand));
  return whole;
}

// Tighter than a minus before it; the exponent may have one: 2^-x^2 is 2^(-(x^2)).
Parser::Tree Parser::power() {
  Tree base = postfix();
  if (!at(TokenKind::power) && !at(TokenKind::element_power)) return base;
  const Level level(*this);
  const Operator op = take().kind == TokenKind::power ? Operator::power : Operator::element_power;
  Tree exponent = prefix();
  Tree whole = make(Expression::Kind::binary, joined(base.top->place, exponent.top->place));
  whole.top->op = op;
  adopt(whole, std::move(base));
  adopt(whole, std::move(exponent));
  return whole;
}

Parser::Tree Parser::postfix() {
  Tree tree = primary();
  for (;;) {
    const TokenKind kind = token().kind;
    if (kind != TokenKind::quote && kind != TokenKind::bracket_open && kind != TokenKind::dot_integer)
      return tree;
    const Place begin = tree.top->place;
    Tree whole = make(kind == TokenKind::quote          ? Expression::Kind::postfix
                      : kind == TokenKind::bracket_open ? Expression::Kind::index
                                                        : Expression::Kind::member,
                      begin);
    adopt(whole, std::move(tree));
    whole.top->op = Operator::transpose;
    if (kind == TokenKind::bracket_open) {
      indices(whole);
    } else if (take().kind == TokenKind::dot_integer) {
      for (const char byte : text(previous()))
        if (byte >= '0' && byte <= '9' && whole.top->integer < 1000000)
          whole.top->integer = whole.top->integer * 10 + (byte - '0');
      whole.top->name_place = previous().place;
    }
    whole.top->place = since(begin);
    tree = std::move(whole);
  }
}

void Parser::indices(Tree& whole) {
  expect(TokenKind::bracket_open, "'['");
  do index(whole);
  while (take_if(TokenKind::comma));
  expect(TokenKind::bracket_close, "',' or ']' in the indices");
}

void Parser::index(Tree& whole) {
  const auto ends = [&] { return at(TokenKind::comma) || at(TokenKind::bracket_close); };
  Index index;
  const Place begin = token().place;
  const size_t first = position_;
  int height = 0;
  const auto part = [&] {
    Tree tree = ternary();
    height = std::max(height, tree.height);
    return std::move(tree.top);
  };
  if (!ends() && !at(TokenKind::colon)) index.low = part();
  if (take_if(TokenKind::colon)) {
    if (!ends()) index.high = part();
    index.kind = index.low ? (index.high ? Index::Kind::between : Index::Kind::from)
                           : (index.high ? Index::Kind::to : Index::Kind::all);
  } else {
    index.kind = index.low ? Index::Kind::single : Index::Kind::all;
  }
  index.place = position_ == first ? Place{begin.file, begin.begin, begin.begin} : since(begin);
  adopt_index(whole, std::move(index), height);
}

void Parser::adopt_index(Tree& whole, Index index, int height) {
  whole.height = std::max(whole.height, height + 1);
  whole.top->indices.push_back(std::move(index));
}

}  // namespace adit::stan
