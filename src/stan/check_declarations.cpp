#include <algorithm>
#include <fmt/format.h>

#include "stan/checker.hpp"

namespace adit::stan {

namespace {

const char* size_name(Base base) {
  switch (base) {
    case Base::matrix: return "The size of a matrix";
    case Base::row_vector: return "The size of a row_vector";
    default: return "The size of a vector";
  }
}

bool holds_integers(const Type& type) {
  if (type.base != Base::tuple) return type.is_integer();
  for (const Type& member : type.members)
    if (holds_integers(member)) return true;
  return false;
}

size_t members_of(const Type& type) {
  size_t count = 1;
  for (const Type& member : type.members) count += members_of(member);
  return count;
}

bool holds_nothing(const SizedType& type) {  // array[0] real x
  const auto is_zero = [](const ExpressionPtr& size) {
    return size->kind == Expression::Kind::integer && size->integer == 0;
  };
  return std::any_of(type.array_sizes.begin(), type.array_sizes.end(), is_zero) ||
         std::any_of(type.sizes.begin(), type.sizes.end(), is_zero);
}

bool holds_complex(const Type& type) {
  if (type.base != Base::tuple) return type.base == Base::complex;
  for (const Type& member : type.members)
    if (holds_complex(member)) return true;
  return false;
}

}  // namespace

bool is_too_wide(const Type& type) { return members_of(type) > most_members; }

void Checker::check_size(Expression& size, bool is_local, const char* what) {
  in_size_ = !is_local;
  const Level level = check_expression(size);
  in_size_ = false;
  if (is_unknown(size.type) || is_void(size.type)) return;
  if (!size.type.is(Base::integer))
    error(size.place, fmt::format("{} must be of type int; found {}.", what, to_text(size.type)));
  else if (!is_local && level != Level::data)
    error(size.place, fmt::format("{} in the {} block must be made of data and transformed data alone.", what,
                                  to_text(*block_)));
}

void Checker::check_bound(Expression& bound, const SizedType& type, const char* what) {
  check_expression(bound);
  const Type& found = bound.type;
  if (is_unknown(found) || is_void(found)) return;
  const Type whole = unsized(type);
  if (whole.is_integer()) {
    if (!found.is(Base::integer) && !is_assignable(whole, found))
      error(bound.place,
            fmt::format("{} of an integer must be of type int; found {}.", what, to_text(found)));
    return;
  }
  // A scalar serves for all; else one for each element, or for each of an array's entries.
  Type entry = whole;
  bool fits = found.is_scalar() || is_assignable(whole, found);
  while (!fits && entry.array > 0) {
    --entry.array;
    fits = is_assignable(entry, found);
  }
  if (!fits)
    error(bound.place,
          fmt::format("{} must be a scalar or of type {}; found {}.", what, to_text(whole), to_text(found)));
}

void Checker::check_transform(SizedType& type, bool is_local, const std::string& name) {
  using Kind = Transform::Kind;
  Transform& transform = type.transform;
  if (transform.kind == Kind::none) return;
  if (is_local) {
    error(type.place, fmt::format("The local variable '{}' may not be constrained.", name));
    return;
  }
  const bool moves = transform.kind == Kind::offset || transform.kind == Kind::multiplier ||
                     transform.kind == Kind::offset_multiplier;
  if (moves && type.base == Base::integer)
    error(type.place, fmt::format("The integer '{}' may not have an offset or multiplier.", name));
  if (transform.first) check_bound(*transform.first, type, moves ? "An offset" : "A lower bound");
  if (transform.second) check_bound(*transform.second, type, moves ? "A multiplier" : "An upper bound");
}

void Checker::check_sized(SizedType& type, bool is_local, const std::string& name) {
  for (ExpressionPtr& size : type.array_sizes) check_size(*size, is_local, "The size of an array");
  for (ExpressionPtr& size : type.sizes) check_size(*size, is_local, size_name(type.base));
  check_transform(type, is_local, name);
  for (SizedType& member : type.members) check_sized(member, is_local, name);
}

void Checker::check_block_types(const SizedType& sized, const Place& place) {
  const Type type = unsized(sized);
  if (holds_complex(type)) error(place, "Complex numbers are not supported.");
  const bool has_gradient = in_block(BlockKind::parameters) || in_block(BlockKind::transformed_parameters);
  if (has_gradient && holds_integers(type))
    error(place, fmt::format("{} may not be integers; found {}.",
                             in_block(BlockKind::parameters) ? "Parameters" : "Transformed parameters",
                             to_text(type)));
}

void Checker::check_declaration(Declaration& declaration, bool is_local) {
  check_sized(declaration.type, is_local, declaration.name);
  if (!is_local || holds_complex(unsized(declaration.type)))
    check_block_types(declaration.type, declaration.name_place);
  const bool is_given = !is_local && (in_block(BlockKind::data) || in_block(BlockKind::parameters));
  if (declaration.value && is_given)
    error(declaration.value->place,
          fmt::format("The {} '{}' may not be given a value.",
                      in_block(BlockKind::data) ? "data" : "parameter", declaration.name));
  Variable variable;
  variable.name = declaration.name;
  variable.type = unsized(declaration.type);
  variable.place = declaration.name_place;
  variable.level = level_of(variable.type);
  if (is_too_wide(variable.type)) {
    error(declaration.name_place, fmt::format("A tuple may have {} members at most.", most_members));
    variable.type = unknown_type();
  }
  if (!is_local) variable.block = block_;
  variable.declared = &declaration.type;
  variable.is_written = is_given || holds_nothing(declaration.type);
  Variable* known = declare(std::move(variable));
  declaration.slot = known->slot;
  if (!declaration.value) return;
  check_expression(*declaration.value);
  known->is_written = true;
  const Type& found = declaration.value->type;
  if (!is_unknown(found) && !is_void(found) && !is_unknown(known->type) && !is_assignable(known->type, found))
    error(declaration.value->place, fmt::format("Ill-typed value of '{}': expected {}, found {}.",
                                                declaration.name, to_text(known->type), to_text(found)));
}

}  // namespace adit::stan
