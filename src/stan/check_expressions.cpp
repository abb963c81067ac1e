#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "stan/checker.hpp"

namespace adit::stan {

namespace {

bool is_spine(const Expression& value) {
  using Kind = Expression::Kind;
  return value.kind == Kind::binary || value.kind == Kind::postfix || value.kind == Kind::index ||
         value.kind == Kind::member;
}

bool is_integer_literal(const Expression& value) { return value.kind == Expression::Kind::integer; }

// 4 / 2 is no slip; n / 2 and 1 / 2 may be.
bool is_doubtful_division(const Expression& value) {
  const Expression &a = *value.parts[0], &b = *value.parts[1];
  if (value.op != Operator::divide || !a.type.is(Base::integer) || !b.type.is(Base::integer)) return false;
  return !(is_integer_literal(a) && is_integer_literal(b) && b.integer != 0 && a.integer % b.integer == 0);
}

}  // namespace

// Chains as a + b + c + ... lean to the left and may be long: they are walked without recursion.
Level Checker::check_expression(Expression& value) {
  std::vector<Expression*> spine;
  Expression* leaf = &value;
  while (is_spine(*leaf) && !leaf->parts.empty() && leaf->parts[0]) {
    spine.push_back(leaf);
    leaf = leaf->parts[0].get();
  }
  Level level = check_leaf(*leaf);
  check_value(*leaf);
  while (!spine.empty()) {
    level = check_step(*spine.back(), level);
    spine.pop_back();
  }
  return level;
}

void Checker::check_value(const Expression& value) {
  if (value.kind == Expression::Kind::call && is_void(value.type))
    error(value.place, fmt::format("A value was expected, but the function '{}' gives none.", value.name));
}

Level Checker::check_step(Expression& value, Level left) {
  switch (value.kind) {
    case Expression::Kind::index: return check_index(value, left);
    case Expression::Kind::member: return check_member(value, left);
    case Expression::Kind::binary: return check_binary(value, left);
    default: break;
  }
  const Type& operand = value.parts[0]->type;
  const auto type = operator_type(value.op, operand);
  value.type = type ? *type : unknown_type();
  if (!type && !is_unknown(operand) && !is_void(operand))
    error(value.place,
          fmt::format("Ill-typed operand of {}: a vector, row_vector or matrix was expected; found {}.",
                      to_text(value.op), to_text(operand)));
  return left;
}

Level Checker::check_leaf(Expression& value) {
  using Kind = Expression::Kind;
  switch (value.kind) {
    case Kind::integer:
      if (value.integer > std::numeric_limits<int32_t>::max() || value.integer < 0)
        error(value.place, "An integer must not be greater than 2147483647; write it as a real.");
      value.type = scalar_type(Base::integer);
      return Level::data;
    case Kind::real: value.type = scalar_type(Base::real); return Level::data;
    case Kind::imaginary:
      error(value.place, "Complex numbers are not supported.");
      value.type = unknown_type();
      return Level::data;
    case Kind::variable: return check_variable(value);
    case Kind::call: return check_call(value);
    case Kind::ternary: return check_ternary(value);
    case Kind::array: return check_array(value);
    case Kind::row: return check_row(value);
    case Kind::tuple: return check_tuple(value);
    case Kind::group: {
      const Level level = check_expression(*value.parts[0]);
      value.type = value.parts[0]->type;
      return level;
    }
    case Kind::prefix: {
      const Level level = check_expression(*value.parts[0]);
      const Type& operand = value.parts[0]->type;
      const auto type = operator_type(value.op, operand);
      value.type = type ? *type : unknown_type();
      if (!type && !is_unknown(operand) && !is_void(operand))
        error(value.place,
              fmt::format("Ill-typed operand of {}: {} was expected; found {}.", to_text(value.op),
                          value.op == Operator::logical_not ? "int" : "a number or container of them",
                          to_text(operand)));
      return level;
    }
    case Kind::target:
      if (!in_block(BlockKind::model) && !in_block(BlockKind::transformed_parameters) && !in_function("_lp"))
        error(value.place,
              "target() may only be read in the model block and in functions with the suffix _lp.");
      value.type = scalar_type(Base::real);
      return Level::parameter;
    default: value.type = unknown_type(); return Level::data;
  }
}

Level Checker::check_variable(Expression& value) {
  Variable* variable = find(value.name);
  value.type = unknown_type();
  if (!variable) {
    if (!functions_of(value.name).empty())
      error(value.place, fmt::format("'{}' is a function; a value was expected.", value.name));
    else
      tell_unknown(value.name, value.place);
    return Level::data;
  }
  if (assigned_.contains(value.name))
    error(value.place,
          fmt::format("The variable '{}' is read on the left of its own assignment.", value.name));
  variable->is_read = true;
  // In a loop that began after the declaration an earlier round may have written it.
  if (!variable->is_written && !variable->is_warned && variable->loops == loops_ && !in_shape_) {
    variable->is_warned = true;
    warn(value.place,
         fmt::format("The variable '{}' may not have been assigned a value before its use.", value.name));
  }
  value.type = variable->type;
  value.slot = variable->slot;
  if (block_ == BlockKind::generated_quantities && variable->level == Level::parameter) return Level::derived;
  return variable->level;
}

Level Checker::check_binary(Expression& value, Level left) {
  const Level level = std::max(left, check_expression(*value.parts[1]));
  const Type &a = value.parts[0]->type, &b = value.parts[1]->type;
  value.type = unknown_type();
  if (is_unknown(a) || is_unknown(b) || is_void(a) || is_void(b)) return level;
  if (const auto type = operator_type(value.op, a, b)) {
    value.type = *type;
    if (is_doubtful_division(value))
      warn(value.place,
           "Integer division: the result is rounded towards zero; make one side a real, or write %/%.");
  } else {
    error(value.place, fmt::format("Ill-typed operands of {}: found {} and {}.", to_text(value.op),
                                   to_text(a), to_text(b)));
  }
  return level;
}

// Those on the right, a ? b : c ? d : e, are walked in a loop too.
Level Checker::check_ternary(Expression& value) {
  Level level = Level::data;
  std::vector<Expression*> chain;
  Expression* last = &value;
  for (; last->kind == Expression::Kind::ternary; last = last->parts[2].get()) {
    chain.push_back(last);
    level = std::max(level, check_expression(*last->parts[0]));
    const Type& condition = last->parts[0]->type;
    if (!is_unknown(condition) && !is_void(condition) && !condition.is(Base::integer))
      error(last->parts[0]->place,
            fmt::format("The condition of ?: must be of type int; found {}.", to_text(condition)));
    level = std::max(level, check_expression(*last->parts[1]));
  }
  level = std::max(level, check_expression(*last));
  for (; !chain.empty(); chain.pop_back()) {
    Expression& one = *chain.back();
    const Type &yes = one.parts[1]->type, &no = one.parts[2]->type;
    one.type = unknown_type();
    if (is_unknown(yes) || is_unknown(no) || is_void(yes) || is_void(no)) continue;
    if (const auto type = common_type(yes, no))
      one.type = *type;
    else
      error(one.place, fmt::format("The two values of ?: must have one type; found {} and {}.", to_text(yes),
                                   to_text(no)));
  }
  return level;
}

Level Checker::check_array(Expression& value) {
  Level level = Level::data;
  std::optional<Type> type;
  bool failed = false;
  for (const ExpressionPtr& part : value.parts) {
    level = std::max(level, check_expression(*part));
    if (is_unknown(part->type) || is_void(part->type)) failed = true;
    if (failed) continue;
    const auto both = type ? common_type(*type, part->type) : std::optional(part->type);
    if (!both) {
      failed = true;
      error(part->place, fmt::format("The entries of an array must have one type; expected {}, found {}.",
                                     to_text(*type), to_text(part->type)));
      continue;
    }
    type = both;
  }
  if (value.parts.empty()) error(value.place, "An array needs an entry: the type of {} is not known.");
  value.type = type && !failed ? array_of(*type) : unknown_type();
  return level;
}

Level Checker::check_row(Expression& value) {
  Level level = Level::data;
  size_t rows = 0, numbers = 0;
  bool failed = false;
  for (const ExpressionPtr& part : value.parts) {
    level = std::max(level, check_expression(*part));
    failed |= is_unknown(part->type) || is_void(part->type);
    rows += part->type.is(Base::row_vector) ? 1 : 0;
    numbers += part->type.is_scalar() ? 1 : 0;
  }
  const bool is_matrix = rows == value.parts.size() && rows > 0;
  value.type = scalar_type(is_matrix ? Base::matrix : Base::row_vector);
  if (!failed && !is_matrix && numbers != value.parts.size()) {
    const auto odd = std::find_if(value.parts.begin(), value.parts.end(), [&](const ExpressionPtr& part) {
      return rows > 0 ? !part->type.is(Base::row_vector) : !part->type.is_scalar();
    });
    error((*odd)->place,
          fmt::format("The entries of {} must all be {}; found {}.", rows > 0 ? "a matrix" : "a row vector",
                      rows > 0 ? "row_vectors" : "int or real", to_text((*odd)->type)));
    failed = true;
  }
  if (failed) value.type = unknown_type();
  return level;
}

Level Checker::check_tuple(Expression& value) {
  Level level = Level::data;
  bool failed = false;
  value.type = {Base::tuple, 0, {}};
  for (const ExpressionPtr& part : value.parts) {
    level = std::max(level, check_expression(*part));
    failed |= is_unknown(part->type) || is_void(part->type);
    value.type.members.push_back(part->type);
  }
  if (!failed && is_too_wide(value.type)) {
    error(value.place, fmt::format("A tuple may have {} members at most.", most_members));
    failed = true;
  }
  if (failed) value.type = unknown_type();
  return level;
}

Level Checker::check_member(Expression& value, Level left) {
  const Type& tuple = value.parts[0]->type;
  value.type = unknown_type();
  if (is_unknown(tuple)) return left;
  if (!tuple.is(Base::tuple))
    error(value.place, fmt::format("Only tuples have members; found {}.", to_text(tuple)));
  else if (value.integer < 1 || value.integer > static_cast<int64_t>(tuple.members.size()))
    error(value.place, fmt::format("A tuple of {} has no member {}.", tuple.members.size(), value.integer));
  else
    value.type = tuple.members[static_cast<size_t>(value.integer - 1)];
  return left;
}

}  // namespace adit::stan
