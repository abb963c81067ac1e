#include <algorithm>
#include <fmt/format.h>

#include "stan/checker.hpp"

namespace adit::stan {

void Checker::check_target_variable(Target& target, Variable& variable) {
  if (variable.is_fixed)
    error(target.place,
          fmt::format("Cannot assign to '{}': it is {}.", target.name,
                      variable.block || !function_ ? "a loop variable" : "a loop variable or argument"));
  else if (variable.block && variable.block != block_)
    error(target.place, fmt::format("Cannot assign to '{}', which belongs to the {} block, {}.", target.name,
                                    to_text(*variable.block),
                                    block_ ? fmt::format("in the {} block", to_text(*block_)) : "here"));
  variable.is_written = true;
}

Type Checker::stepped_type(Target& target) {
  Type type = target.variable_type;
  bool was_multiple = false;
  for (Target::Step& step : target.steps) {
    if (step.indices.empty()) {
      const auto count = static_cast<int64_t>(type.members.size());
      if (!type.is(Base::tuple) || step.member < 1 || step.member > count) {
        error(target.place, fmt::format("A value of type {} has no member {}.", to_text(type), step.member));
        return unknown_type();
      }
      const Type member = type.members[static_cast<size_t>(step.member - 1)];
      type = member;
      continue;
    }
    Level level = Level::data;
    bool failed = false;
    const std::vector<bool> is_multiple = check_indices(step.indices, level, failed);
    if (failed) return unknown_type();
    const auto next = indexed_type(type, is_multiple);
    if (!next) {
      error(target.place, fmt::format("Too many indices: {} has {} axes, but {} were given.", to_text(type),
                                      type.rank(), is_multiple.size()));
      return unknown_type();
    }
    if (was_multiple) {
      error(target.place,
            "Several elements may be chosen by one pair of brackets alone on the left of an assignment.");
      return unknown_type();
    }
    was_multiple = std::find(is_multiple.begin(), is_multiple.end(), true) != is_multiple.end();
    type = *next;
  }
  return type;
}

void Checker::check_target_place(Target& target, bool is_compound) {
  target.type = target.variable_type = unknown_type();
  Variable* variable = find(target.name);
  if (!variable) {
    if (!functions_of(target.name).empty())
      error(target.place, fmt::format("Cannot assign to '{}': it is a function.", target.name));
    else
      tell_unknown(target.name, target.place);
    return;
  }
  target.slot = variable->slot;
  target.variable_type = variable->type;
  if (is_compound) variable->is_read = true;
  if (!is_unknown(variable->type)) target.type = stepped_type(target);
  check_target_variable(target, *variable);
}

void Checker::check_target(Target& target, bool is_compound) {
  if (target.parts.empty()) return check_target_place(target, is_compound);
  target.type = {Base::tuple, 0, {}};
  for (Target& part : target.parts) {
    check_target(part, is_compound);
    if (is_unknown(part.type))
      target.type = unknown_type();
    else if (!is_unknown(target.type))
      target.type.members.push_back(part.type);
  }
}

void Checker::check_assigned(const Target& target, const Type& value, const Place& place) {
  if (is_unknown(target.type) || is_unknown(value) || is_void(value)) return;
  if (!is_assignable(target.type, value))
    error(place,
          fmt::format("Ill-typed assignment: expected {}, found {}.", to_text(target.type), to_text(value)));
}

// x op= value is x = x op value.
void Checker::check_compound(Statement& statement) {
  const Target& target = statement.target;
  const Type& value = statement.value->type;
  if (is_unknown(target.type) || is_unknown(value) || is_void(value)) return;
  const Operator op = *statement.compound;
  const bool elementwise = op == Operator::element_multiply || op == Operator::element_divide;
  const auto type = operator_type(op, target.type, value);
  if (!type || !is_assignable(target.type, *type) || (elementwise && target.type.is_scalar()))
    error(statement.place, fmt::format("Ill-typed assignment {}=: found {} and {}.", to_text(op),
                                       to_text(target.type), to_text(value)));
}

// What is written, of a tuple all that it has: "x.2.1." for a member's member.
void Checker::collect_written(const Target& target, std::vector<std::string>& names) {
  for (const Target& part : target.parts) collect_written(part, names);
  if (!target.parts.empty()) return;
  std::string name = target.name + ".";
  for (const Target::Step& step : target.steps) {
    if (!step.indices.empty()) break;
    name += fmt::format("{}.", step.member);
  }
  names.push_back(std::move(name));
  assigned_.insert(target.name);
}

// (a, a) = ... would write one place twice; in sorted order a place stands before what lies within it.
void Checker::check_repeats(const Target& target, std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i].starts_with(names[i - 1]))
      return error(target.place, fmt::format("'{}' is assigned to twice in one assignment.",
                                             names[i - 1].substr(0, names[i - 1].size() - 1)));
}

void Checker::check_assignment(Statement& statement) {
  check_expression(*statement.value);
  std::vector<std::string> names;
  collect_written(statement.target, names);
  check_target(statement.target, statement.compound.has_value());
  assigned_.clear();
  check_repeats(statement.target, names);
  if (statement.compound)
    check_compound(statement);
  else
    check_assigned(statement.target, statement.value->type, statement.value->place);
}

}  // namespace adit::stan
