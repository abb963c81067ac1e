// Warnings about distributions whose support or parameters do not fit the bounds of parameters.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string_view>

#include "stan/checker.hpp"
#include "stan/domains.hpp"

namespace adit::stan {

namespace {

// What a distribution has for its outcome (first letter) and asks of its parameters: + positive, 1 between 0
// and 1, . all.
std::string support_of(const std::string& name) {
  const Demands* demands = demands_of(name);
  if (!demands) return {};
  std::string letters(demands->letters);
  for (char& letter : letters) {
    const bool is_positive = letter == 'p' || letter == '0' || letter == 'w';
    letter = is_positive || letter == '+' ? '+' : letter == '1' || letter == 'i' ? '1' : '.';
  }
  letters[0] = demands->support;
  return letters;
}

// A number as it stands in the text, with its sign; NaN for anything else.
double literal_number(const Expression* value) {
  double sign = 1;
  while (value) {
    if (value->kind == Expression::Kind::integer) return sign * static_cast<double>(value->integer);
    if (value->kind == Expression::Kind::real) return sign * value->real;
    const bool is_minus = value->kind == Expression::Kind::prefix && value->op == Operator::minus;
    if (!is_minus && value->kind != Expression::Kind::group) break;
    if (is_minus) sign = -sign;
    value = value->parts[0].get();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool bound_below(const Expression* bound, double limit) { return bound && literal_number(bound) < limit; }
bool bound_above(const Expression* bound, double limit) { return bound && literal_number(bound) > limit; }

// Whether the declared bounds keep a value positive (or within the unit interval), as far as literals tell.
bool keeps_within(const SizedType& type, char letter) {
  using Kind = Transform::Kind;
  const Transform& transform = type.transform;
  switch (transform.kind) {
    case Kind::simplex:
    case Kind::row_stochastic_matrix:
    case Kind::column_stochastic_matrix: return true;
    case Kind::positive_ordered: return letter == '+';
    case Kind::lower: return letter == '+' && !bound_below(transform.first.get(), 0);
    case Kind::lower_upper:
      return !bound_below(transform.first.get(), 0) &&
             (letter == '+' || !bound_above(transform.second.get(), 1));
    default: return false;
  }
}

const char* wanted_range(char letter) { return letter == '+' ? "positive" : "between 0 and 1"; }

// Functions that move or choose values without changing them, or do so in a straight line.
bool is_linear_function(const std::string& name) {
  static constexpr std::array<std::string_view, 26> names{
      "to_vector",      "to_row_vector", "to_matrix",      "to_array_1d", "to_array_2d", "head", "tail",
      "segment",        "sub_row",       "sub_col",        "block",       "row",         "col",  "diagonal",
      "append_row",     "append_col",    "append_array",   "reverse",     "transpose",   "sum",  "mean",
      "cumulative_sum", "rep_vector",    "rep_row_vector", "rep_matrix",  "rep_array"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const Variable* Checker::plain_variable(const Expression& value) const {
  const Expression* one = &value;
  while (one->kind == Expression::Kind::index || one->kind == Expression::Kind::group)
    one = one->parts[0].get();
  if (one->kind != Expression::Kind::variable) return nullptr;
  const auto found = in_scope_.find(one->name);
  return found == in_scope_.end() ? nullptr : found->second;
}

void Checker::warn_support(const Statement& statement) {
  const Variable* variable = plain_variable(*statement.value);
  if (!variable || variable->block != BlockKind::parameters || statement.truncation.present) return;
  const SizedType& declared = *variable->declared;
  if (statement.name == "uniform" && statement.arguments.size() == 2) {
    const Transform& bounds = declared.transform;
    const double low = literal_number(statement.arguments[0].get()),
                 high = literal_number(statement.arguments[1].get());
    const bool has_low = bounds.first && !bound_below(bounds.first.get(), low);
    const bool has_high = bounds.second && !bound_above(bounds.second.get(), high);
    const bool is_bounded = bounds.kind == Transform::Kind::lower || bounds.kind == Transform::Kind::upper ||
                            bounds.kind == Transform::Kind::lower_upper;
    const bool is_inside =
        bounds.kind != Transform::Kind::none && keeps_within(declared, '1') && low <= 0 && high >= 1;
    if (!is_inside && !(is_bounded && has_low && has_high))
      warn(statement.place,
           fmt::format("The parameter '{}' is given the distribution uniform, but its declaration does not "
                       "keep it between those bounds.",
                       variable->name));
    return;
  }
  const std::string letters = support_of(statement.name);
  if (letters.empty() || letters[0] == '.' || keeps_within(declared, letters[0])) return;
  warn(statement.value->place,
       fmt::format("The parameter '{}' is given the distribution {}, whose values are {}, but its "
                   "declaration does not keep it so.",
                   variable->name, statement.name, wanted_range(letters[0])));
}

void Checker::warn_scales(const Statement& statement) {
  const std::string letters = support_of(statement.name);
  for (size_t i = 0; i < statement.arguments.size() && i + 1 < letters.size(); ++i) {
    const char letter = letters[i + 1];
    if (letter == '.') continue;
    const Expression& argument = *statement.arguments[i];
    const double number = literal_number(&argument);
    const Variable* variable = plain_variable(argument);
    const bool is_loose =
        variable && variable->block == BlockKind::parameters && !keeps_within(*variable->declared, letter);
    const bool is_outside = letter == '+' ? number <= 0 : number < 0 || number > 1;
    if (is_loose || is_outside)
      warn(argument.place,
           fmt::format("Argument {} of the distribution {} must be {}{}.", i + 1, statement.name,
                       wanted_range(letter),
                       is_loose
                           ? fmt::format(", but the declaration of '{}' does not keep it so", variable->name)
                           : ""));
  }
}

// Iterative: sums may be long.
bool Checker::has_parameter(const Expression& value) {
  std::vector<const Expression*> open{&value};
  while (!open.empty()) {
    const Expression& one = *open.back();
    open.pop_back();
    if (one.kind == Expression::Kind::variable) {
      const Variable* variable = plain_variable(one);
      if (variable &&
          (variable->block == BlockKind::parameters || variable->block == BlockKind::transformed_parameters))
        return true;
    }
    for (const ExpressionPtr& part : one.parts) open.push_back(part.get());
  }
  return false;
}

bool Checker::is_nonlinear(const Expression& value) {
  using Kind = Expression::Kind;
  std::vector<const Expression*> open{&value};
  while (!open.empty()) {
    const Expression& one = *open.back();
    open.pop_back();
    const bool is_product = one.op == Operator::multiply || one.op == Operator::element_multiply;
    const bool is_quotient = one.op == Operator::divide || one.op == Operator::element_divide;
    const bool is_power = one.op == Operator::power || one.op == Operator::element_power;
    if (one.kind == Kind::call && !(one.function == nullptr && is_linear_function(one.name))) return true;
    if (one.kind == Kind::binary && is_power) return true;
    // The shorter side is looked at first; products nest to the left.
    if (one.kind == Kind::binary && is_quotient && has_parameter(*one.parts[1])) return true;
    if (one.kind == Kind::binary && is_product && has_parameter(*one.parts[1]) &&
        has_parameter(*one.parts[0]))
      return true;
    for (const ExpressionPtr& part : one.parts) open.push_back(part.get());
  }
  return false;
}

void Checker::warn_jacobian(const Statement& statement) {
  if (plain_variable(*statement.value) || !has_parameter(*statement.value) || !is_nonlinear(*statement.value))
    return;
  warn(statement.value->place,
       "The left side of ~ may be a nonlinear transform of a parameter: then the log of the "
       "Jacobian's determinant must be added to target.");
}

}  // namespace adit::stan
