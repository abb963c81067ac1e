// Constraints of declared types, and copies of types for `real<lower=0> a, b`.
#include <fmt/format.h>

#include "stan/lexer_words.hpp"
#include "stan/parser.hpp"

namespace adit::stan {

namespace {

// Bits of what was given between < and >.
constexpr unsigned lower_given = 1, upper_given = 2, offset_given = 4, multiplier_given = 8;

unsigned constraint_bit(std::string_view word) {
  if (word == "lower") return lower_given;
  if (word == "upper") return upper_given;
  if (word == "offset") return offset_given;
  if (word == "multiplier") return multiplier_given;
  return 0;
}

Transform::Kind transform_of(unsigned given) {
  switch (given) {
    case lower_given: return Transform::Kind::lower;
    case upper_given: return Transform::Kind::upper;
    case lower_given | upper_given: return Transform::Kind::lower_upper;
    case offset_given: return Transform::Kind::offset;
    case multiplier_given: return Transform::Kind::multiplier;
    default: return Transform::Kind::offset_multiplier;
  }
}

}  // namespace

// Constraints are of variables that are read or written out.
void Parser::check_transform(const SizedType& type, const Place& place) {
  const bool is_global = block_ && nesting_ == 0;
  if (is_global && *block_ != BlockKind::model) return;
  const char* where = !block_     ? "in functions"
                      : is_global ? "in the model block"
                                  : "inside of other statements";
  const bool is_word = type.transform.kind != Transform::Kind::none;
  complain(place,
           fmt::format("Variables {} have no constraints{}.", where,
                       is_word ? fmt::format("; write '{}' with its sizes", to_text(scalar_type(type.base)))
                               : std::string()));
}

void Parser::constraint(SizedType& type, bool is_integer) {
  check_transform(type, token().place);
  take();
  unsigned seen = 0;
  do constraint_part(type, is_integer, seen);
  while (take_if(TokenKind::comma));
  expect(TokenKind::greater, "',' or '>' of the constraint");
  type.transform.kind = transform_of(seen);
}

void Parser::constraint_part(SizedType& type, bool is_integer, unsigned& seen) {
  const Token word = token();
  const unsigned bit = at(TokenKind::bound_word) ? constraint_bit(text(word)) : 0;
  if (bit == 0) fail_expected(is_integer ? "lower or upper" : "lower, upper, offset or multiplier");
  if (is_integer && bit >= offset_given)
    fail(word.place, fmt::format("'{}' is of reals; an int has lower and upper.", text(word)));
  if ((seen & bit) != 0) fail(word.place, fmt::format("'{}' stands twice in this constraint.", text(word)));
  const bool is_bound = bit < offset_given;
  if (seen != 0 && is_bound != (seen < offset_given))
    fail(word.place, "Bounds cannot stand together with offset or multiplier.");
  take();
  expect(TokenKind::assign, fmt::format("'=' after {}", text(word)));
  const bool is_first = bit == lower_given || bit == offset_given;
  (is_first ? type.transform.first : type.transform.second) = bound();
  seen |= bit;
}

ExpressionPtr Parser::copy(const Expression& from) {
  if (++copies_ > most_copies)
    stop("Too many variables are declared with one long type; declare some of them apart.");
  auto to = std::make_unique<Expression>();
  to->kind = from.kind;
  to->place = from.place;
  to->name = from.name;
  to->name_place = from.name_place;
  to->integer = from.integer;
  to->real = from.real;
  to->op = from.op;
  to->with_bar = from.with_bar;
  for (const ExpressionPtr& part : from.parts) to->parts.push_back(copy(*part));
  for (const Index& index : from.indices) {
    Index& own = to->indices.emplace_back();
    own.kind = index.kind;
    own.place = index.place;
    if (index.low) own.low = copy(*index.low);
    if (index.high) own.high = copy(*index.high);
  }
  return to;
}

SizedType Parser::copy(const SizedType& from) {
  SizedType to;
  to.base = from.base;
  to.place = from.place;
  to.transform.kind = from.transform.kind;
  if (from.transform.first) to.transform.first = copy(*from.transform.first);
  if (from.transform.second) to.transform.second = copy(*from.transform.second);
  for (const ExpressionPtr& size : from.array_sizes) to.array_sizes.push_back(copy(*size));
  for (const ExpressionPtr& size : from.sizes) to.sizes.push_back(copy(*size));
  for (const SizedType& member : from.members) {
    if (++copies_ > most_copies)
      stop("Too many variables are declared with one long type; declare some of them apart.");
    to.members.push_back(copy(member));
  }
  return to;
}

}  // namespace adit::stan
