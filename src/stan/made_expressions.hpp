// Small pieces of a program's tree that the evaluator writes itself.
#pragma once

#include "stan/syntax.hpp"

namespace adit::stan {

inline const Type integer_type = scalar_type(Base::integer);

inline ExpressionPtr integer_literal(int64_t integer) {
  auto e = std::make_unique<Expression>();
  e->kind = Expression::Kind::integer, e->integer = integer, e->type = integer_type;
  return e;
}

inline ExpressionPtr binary_of(Operator op, ExpressionPtr a, ExpressionPtr b, const Type& type) {
  auto e = std::make_unique<Expression>();
  e->kind = Expression::Kind::binary, e->op = op, e->type = type, e->place = a->place;
  e->parts.push_back(std::move(a)), e->parts.push_back(std::move(b));
  return e;
}

// a + b - minus, in whole numbers.
inline ExpressionPtr sum_less(ExpressionPtr a, ExpressionPtr b, int64_t minus) {
  ExpressionPtr both = binary_of(Operator::add, std::move(a), std::move(b), integer_type);
  return binary_of(Operator::subtract, std::move(both), integer_literal(minus), integer_type);
}

inline Index single_index(ExpressionPtr at) {
  Index index;
  index.kind = Index::Kind::single, index.low = std::move(at);
  return index;
}

inline Index range_index(ExpressionPtr low, ExpressionPtr high) {
  Index index;
  index.kind = Index::Kind::between, index.low = std::move(low), index.high = std::move(high);
  return index;
}

}  // namespace adit::stan
