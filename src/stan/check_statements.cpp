#include <fmt/format.h>

#include "stan/checker.hpp"

namespace adit::stan {

void Checker::check_statements(std::vector<StatementPtr>& statements) {
  for (StatementPtr& statement : statements) check_statement(*statement);
}

void Checker::check_scoped(StatementPtr& statement) {
  if (!statement) return;
  open_scope();
  check_statement(*statement);
  close_scope();
}

void Checker::check_condition(Expression& condition, const char* what) {
  check_expression(condition);
  const Type& type = condition.type;
  if (!is_unknown(type) && !is_void(type) && !type.is(Base::integer))
    error(condition.place,
          fmt::format("The condition of {} must be of type int; found {}.", what, to_text(type)));
}

void Checker::check_integer(Expression& value, const char* what) {
  check_expression(value);
  if (!is_unknown(value.type) && !is_void(value.type) && !value.type.is(Base::integer))
    error(value.place, fmt::format("{} must be of type int; found {}.", what, to_text(value.type)));
}

// Chains of `else if` are long more often than deep.
void Checker::check_choice(Statement& statement) {
  Statement* one = &statement;
  while (true) {
    check_condition(*one->value, "if");
    check_scoped(one->body);
    if (!one->otherwise) return;
    if (one->otherwise->kind != Statement::Kind::choice) return check_scoped(one->otherwise);
    one = one->otherwise.get();
  }
}

void Checker::check_loop(Statement& statement) {
  Variable variable;
  variable.name = statement.name;
  variable.place = statement.name_place;
  variable.is_fixed = variable.is_written = true;
  if (statement.kind == Statement::Kind::for_range) {
    check_integer(*statement.low, "The lower bound of a loop");
    check_integer(*statement.high, "The upper bound of a loop");
    variable.type = scalar_type(Base::integer);
  } else {
    variable.level = check_expression(*statement.value);
    const Type& over = statement.value->type;
    const auto element = element_type(over);
    if (!element && !is_unknown(over) && !is_void(over))
      error(statement.value->place,
            fmt::format("A loop goes over an array, vector, row_vector or matrix; found {}.", to_text(over)));
    variable.type = element && !is_unknown(over) ? *element : unknown_type();
  }
  open_scope();
  ++loops_;
  statement.slot = declare(std::move(variable))->slot;
  check_scoped(statement.body);
  --loops_;
  close_scope();
}

void Checker::check_return(Statement& statement) {
  if (statement.value) check_expression(*statement.value);
  if (!function_) {
    error(statement.place, "A return may only stand in a function.");
    return;
  }
  const Type& wanted = function_->result;
  if (!statement.value) {
    if (!is_void(wanted))
      error(statement.place, fmt::format("The function '{}' must return {}; found no value.", function_->name,
                                         to_text(wanted)));
    return;
  }
  const Type& found = statement.value->type;
  if (is_unknown(found) || is_void(found)) return;
  if (is_void(wanted))
    error(statement.place, fmt::format("The function '{}' returns nothing; found a value of type {}.",
                                       function_->name, to_text(found)));
  else if (!is_assignable(wanted, found))
    error(statement.value->place, fmt::format("The function '{}' must return {}; found {}.", function_->name,
                                              to_text(wanted), to_text(found)));
}

void Checker::check_call_statement(Statement& statement) {
  Expression& call = *statement.value;
  if (call.kind != Expression::Kind::call) {
    check_expression(call);
    error(call.place, "A value alone is no statement.");
    return;
  }
  check_call(call);
  if (!is_unknown(call.type) && !is_void(call.type))
    error(call.place, fmt::format("The function '{}' gives a value of type {}, which is not used.", call.name,
                                  to_text(call.type)));
}

void Checker::check_increment(Statement& statement) {
  const bool is_jacobian = statement.kind == Statement::Kind::jacobian;
  const bool allowed = is_jacobian ? in_block(BlockKind::transformed_parameters) || in_function("_jacobian")
                                   : in_block(BlockKind::model) || in_function("_lp");
  if (!allowed)
    error(statement.place, is_jacobian
                               ? "jacobian += may only stand in the transformed parameters block and in "
                                 "functions with the suffix _jacobian."
                               : "target += may only stand in the model block and in functions with the "
                                 "suffix _lp.");
  check_expression(*statement.value);
  const Type& type = statement.value->type;
  const bool is_number = type.base == Base::integer || type.base == Base::real || type.base == Base::vector ||
                         type.base == Base::row_vector || type.base == Base::matrix;
  if (!is_unknown(type) && !is_void(type) && !is_number)
    error(statement.value->place,
          fmt::format("{} += takes numbers; found {}.", is_jacobian ? "jacobian" : "target", to_text(type)));
}

void Checker::check_pieces(Statement& statement) {
  for (Statement::Piece& piece : statement.pieces)
    if (piece.value) check_expression(*piece.value);
}

void Checker::check_statement(Statement& statement) {
  using Kind = Statement::Kind;
  switch (statement.kind) {
    case Kind::declare:
      for (Declaration& declaration : statement.declarations) check_declaration(declaration, true);
      return;
    case Kind::assign: return check_assignment(statement);
    case Kind::increment:
    case Kind::jacobian: return check_increment(statement);
    case Kind::tilde: return check_tilde(statement);
    case Kind::call: return check_call_statement(statement);
    case Kind::for_range:
    case Kind::for_each: return check_loop(statement);
    case Kind::while_loop:
      ++loops_;  // its condition runs each round
      check_condition(*statement.value, "while");
      check_scoped(statement.body);
      --loops_;
      return;
    case Kind::choice: return check_choice(statement);
    case Kind::block:
    case Kind::profile:
      open_scope();
      check_statements(statement.statements);
      if (statement.body) check_statement(*statement.body);
      close_scope();
      return;
    case Kind::break_loop:
    case Kind::continue_loop:
      if (loops_ == 0)
        error(statement.place, statement.kind == Kind::break_loop ? "A break may only stand in a loop."
                                                                  : "A continue may only stand in a loop.");
      return;
    case Kind::give: return check_return(statement);
    case Kind::print:
    case Kind::reject:
    case Kind::fatal_error: return check_pieces(statement);
    case Kind::nothing: return;
  }
}

}  // namespace adit::stan
