#include <fmt/format.h>

#include "stan/checker.hpp"
#include "stan/nearest.hpp"

namespace adit::stan {

Variable* Checker::find(const std::string& name) {
  const auto found = in_scope_.find(name);
  return found == in_scope_.end() ? nullptr : found->second;
}

void Checker::check_name(const std::string& name, const Place& place) {
  if (const Variable* other = find(name))
    error(place, fmt::format("Identifier '{}' is already in use{}.", name,
                             other->block ? fmt::format(" in the {} block", to_text(*other->block)) : ""));
  if (name.ends_with("_lupdf") || name.ends_with("_lupmf"))
    error(place,
          fmt::format("Identifier '{}' has the suffix of a density, which only functions have.", name));
}

Variable* Checker::declare(Variable variable) {
  check_name(variable.name, variable.place);
  variable.slot = next_slot_++;
  variable.loops = loops_;
  variables_.push_back(std::make_unique<Variable>(std::move(variable)));
  Variable* known = variables_.back().get();
  // The first of two with one name stays: its scope is the wider one.
  if (in_scope_.emplace(known->name, known).second) scope_names_.push_back(known->name);
  return known;
}

void Checker::close_scope() {
  while (scope_names_.size() > scopes_.back()) {
    in_scope_.erase(scope_names_.back());
    scope_names_.pop_back();
  }
  scopes_.pop_back();
}

// Of a variable declared here. Integers carry no gradient.
Level Checker::level_of(const Type& type) const {
  if (!block_) return type.is_integer() ? Level::data : Level::parameter;
  switch (*block_) {
    case BlockKind::data:
    case BlockKind::transformed_data: return Level::data;
    case BlockKind::generated_quantities: return Level::derived;
    default: return type.is_integer() ? Level::derived : Level::parameter;
  }
}

// Once of each name.
void Checker::tell_unknown(const std::string& name, const Place& place) {
  if (!unknown_names_.insert(name).second) return;
  if (name == "lp__")
    return error(place,
                 "'lp__' is reserved: the log density is read by target() and changed by target += ...;");
  if (name.ends_with("__"))
    return error(place, fmt::format("'{}' is reserved, as all names that end in '__'.", name));
  if (is_full()) return error(place, "");  // counted, not told
  Nearest nearest(name);
  for (const std::string& known : scope_names_) nearest.offer(known);
  error(place, fmt::format("Identifier '{}' not in scope.{}", name, did_you_mean(nearest.name())));
}

void Checker::warn_unused() {
  if (errors_ > 0) return;  // what is wrong may have been the use
  for (const auto& variable : variables_) {
    if (variable->is_read || variable->is_fixed) continue;
    if (variable->block == BlockKind::parameters)
      warn(variable->place,
           fmt::format("The parameter '{}' is declared but never used: its posterior is its prior, "
                       "which no statement gives.",
                       variable->name));
    else if (!variable->block)
      warn(variable->place, fmt::format("The local variable '{}' is never used.", variable->name));
  }
}

}  // namespace adit::stan
