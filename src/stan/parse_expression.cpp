// Expressions, from the loosest operators to the tightest.
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

ExpressionPtr Parser::make(Expression::Kind kind, const Place& place) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->place = place;
  return made;
}

// What bounds a variable: '>' ends it.
ExpressionPtr Parser::bound() { return binary(additive_precedence); }

// Of if and while: '=' is a slip for '=='.
ExpressionPtr Parser::condition() {
  ExpressionPtr result = expression();
  if (!at(TokenKind::assign)) return result;
  complain(token().place, "'=' assigns; write '==' to compare.");
  take();
  return expression();
}

ExpressionPtr Parser::expression() {
  ExpressionPtr test = binary(1);
  if (!take_if(TokenKind::question)) return test;
  ExpressionPtr yes = expression();
  expect(TokenKind::colon, "':' of the choice '? :'");
  ExpressionPtr no = expression();
  ExpressionPtr whole = make(Expression::Kind::ternary, joined(test->place, no->place));
  for (ExpressionPtr* part : {&test, &yes, &no}) whole->parts.push_back(std::move(*part));
  return whole;
}

// Operators of at least the lowest precedence; all of these associate to the left.
ExpressionPtr Parser::binary(int lowest) {
  ExpressionPtr left = prefix();
  for (;;) {
    const BinaryOperator found = binary_operator(token().kind);
    if (found.precedence < lowest || found.precedence == 0) return left;
    take();
    ExpressionPtr right = binary(found.precedence + 1);
    ExpressionPtr whole = make(Expression::Kind::binary, joined(left->place, right->place));
    whole->op = found.op;
    whole->parts.push_back(std::move(left));
    whole->parts.push_back(std::move(right));
    left = std::move(whole);
  }
}

ExpressionPtr Parser::prefix() {
  const auto op = prefix_operator(token().kind);
  if (!op) return power();
  const Place place = take().place;
  ExpressionPtr operand = prefix();
  ExpressionPtr whole = make(Expression::Kind::prefix, joined(place, operand->place));
  whole->op = *op;
  whole->parts.push_back(std::move(operand));
  return whole;
}

// Tighter than a minus before it; the exponent may have one: 2^-x^2 is 2^(-(x^2)).
ExpressionPtr Parser::power() {
  ExpressionPtr base = postfix();
  if (!at(TokenKind::power) && !at(TokenKind::element_power)) return base;
  const Operator op = take().kind == TokenKind::power ? Operator::power : Operator::element_power;
  ExpressionPtr exponent = prefix();
  ExpressionPtr whole = make(Expression::Kind::binary, joined(base->place, exponent->place));
  whole->op = op;
  whole->parts.push_back(std::move(base));
  whole->parts.push_back(std::move(exponent));
  return whole;
}

ExpressionPtr Parser::postfix() {
  ExpressionPtr tree = primary();
  for (;;) {
    const TokenKind kind = token().kind;
    if (kind != TokenKind::quote && kind != TokenKind::bracket_open && kind != TokenKind::dot_integer)
      return tree;
    const Place begin = tree->place;
    ExpressionPtr whole = make(kind == TokenKind::quote          ? Expression::Kind::postfix
                               : kind == TokenKind::bracket_open ? Expression::Kind::index
                                                                 : Expression::Kind::member,
                               begin);
    whole->parts.push_back(std::move(tree));
    whole->op = Operator::transpose;
    if (kind == TokenKind::bracket_open) {
      indices(*whole);
    } else if (take().kind == TokenKind::dot_integer) {
      for (const char byte : text(previous()))
        if (byte >= '0' && byte <= '9' && whole->integer < 1000000)
          whole->integer = whole->integer * 10 + (byte - '0');
      whole->name_place = previous().place;
    }
    whole->place = since(begin);
    tree = std::move(whole);
  }
}

void Parser::indices(Expression& whole) {
  expect(TokenKind::bracket_open, "'['");
  do whole.indices.push_back(index());
  while (take_if(TokenKind::comma));
  expect(TokenKind::bracket_close, "',' or ']' in the indices");
}

Index Parser::index() {
  const auto ends = [&] { return at(TokenKind::comma) || at(TokenKind::bracket_close); };
  Index index;
  const Place begin = token().place;
  const size_t first = position_;
  if (!ends() && !at(TokenKind::colon)) index.low = expression();
  if (take_if(TokenKind::colon)) {
    if (!ends()) index.high = expression();
    index.kind = index.low ? (index.high ? Index::Kind::between : Index::Kind::from)
                           : (index.high ? Index::Kind::to : Index::Kind::all);
  } else {
    index.kind = index.low ? Index::Kind::single : Index::Kind::all;
  }
  index.place = position_ == first ? Place{begin.file, begin.begin, begin.begin} : since(begin);
  return index;
}

}  // namespace adit::stan
