#include "stan/syntax.hpp"

namespace adit::stan {

const char* to_text(Operator op) {
  switch (op) {
    case Operator::add: return "+";
    case Operator::subtract: return "-";
    case Operator::multiply: return "*";
    case Operator::divide: return "/";
    case Operator::integer_divide: return "%/%";
    case Operator::modulo: return "%";
    case Operator::left_divide: return "\\";
    case Operator::element_multiply: return ".*";
    case Operator::element_divide: return "./";
    case Operator::power: return "^";
    case Operator::element_power: return ".^";
    case Operator::logical_or: return "||";
    case Operator::logical_and: return "&&";
    case Operator::equal: return "==";
    case Operator::not_equal: return "!=";
    case Operator::less: return "<";
    case Operator::less_equal: return "<=";
    case Operator::greater: return ">";
    case Operator::greater_equal: return ">=";
    case Operator::logical_not: return "!";
    case Operator::plus: return "+";
    case Operator::minus: return "-";
    case Operator::transpose: return "'";
  }
  return "";
}

const char* to_text(BlockKind kind) {
  switch (kind) {
    case BlockKind::data: return "data";
    case BlockKind::transformed_data: return "transformed data";
    case BlockKind::parameters: return "parameters";
    case BlockKind::transformed_parameters: return "transformed parameters";
    case BlockKind::model: return "model";
    case BlockKind::generated_quantities: return "generated quantities";
  }
  return "";
}

Type unsized(const SizedType& type) {
  Type result{type.base, static_cast<int>(type.array_sizes.size()), {}};
  for (const SizedType& member : type.members) result.members.push_back(unsized(member));
  return result;
}

}  // namespace adit::stan
