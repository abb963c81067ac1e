#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "stan/checker.hpp"
#include "stan/nearest.hpp"
#include "stan/signature.hpp"
#include "stan/signature_words.hpp"

namespace adit::stan {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 7> old_names{
    {{"fabs", "abs"},
     {"multiply_log", "lmultiply"},
     {"binomial_coefficient_log", "lchoose"},
     {"cov_exp_quad", "gp_exp_quad_cov"},
     {"integrate_ode_rk45", "ode_rk45"},
     {"integrate_ode_bdf", "ode_bdf"},
     {"integrate_ode_adams", "ode_adams"}}};

bool asks_shape(const std::string& name) {
  return name == "size" || name == "rows" || name == "cols" || name == "dims" || name == "num_elements";
}

bool is_unnormalised(const std::string& name) { return name.ends_with("_lupdf") || name.ends_with("_lupmf"); }

}  // namespace

std::string normalised_name(const std::string& name) {
  if (!is_unnormalised(name)) return name;
  std::string plain = name;
  plain.erase(plain.size() - 4, 1);
  return plain;
}

bool is_conditional_name(const std::string& name) {
  for (const char* suffix : {"_lpdf", "_lpmf", "_lupdf", "_lupmf", "_lcdf", "_lccdf", "_cdf"})
    if (name.ends_with(suffix)) return true;
  return false;
}

Checker::Call Checker::check_arguments(std::vector<ExpressionPtr>& arguments) {
  Call call;
  for (ExpressionPtr& argument : arguments) {
    const Level level = check_expression(*argument);
    call.types.push_back(argument->type);
    call.levels.push_back(level);
    call.level = std::max(call.level, level);
    call.failed |= is_unknown(argument->type) || is_void(argument->type);
  }
  return call;
}

// Of the functions of the program the one with the fewest promotions.
Checker::Choice Checker::choose_own(const std::string& name, const Call& call) {
  Choice best;
  int fewest = 0;
  bool is_tie = false;
  const auto& functions = functions_of(name);
  for (const Function* function : functions) {
    if (function->arguments.size() != call.types.size()) continue;
    int count = 0;
    bool fits = true;
    for (size_t i = 0; i < call.types.size() && fits; ++i) {
      const auto one = promotions(call.types[i], function->arguments[i].type);
      fits = one.has_value();
      count += one.value_or(0);
    }
    if (!fits || (best.found && count > fewest)) continue;
    is_tie = best.found && count == fewest;
    best = {true, function, function->result, ""};
    fewest = count;
  }
  const Resolved builtin = is_builtin(name) ? resolve(name, call.types) : Resolved{};
  if (builtin.found && (!best.found || builtin.promotions < fewest))
    return {true, nullptr, builtin.result, ""};
  if (best.found && is_tie)
    return {false,
            nullptr,
            {},
            fmt::format("The call of '{}' with {} is ambiguous: several of its forms fit equally well.", name,
                        to_text(call.types))};
  if (best.found) return best;
  std::string forms;
  for (size_t i = 0; i < std::min<size_t>(functions.size(), 6); ++i)
    forms += (forms.empty() ? "" : " or ") + signature_text(*functions[i]);
  return {false,
          nullptr,
          {},
          fmt::format("Ill-typed arguments supplied to function '{}'. Expected {}; found {}.", name, forms,
                      to_text(call.types))};
}

Checker::Choice Checker::choose(const std::string& name, const Call& call) {
  if (!functions_of(name).empty()) return choose_own(name, call);
  Resolved builtin = resolve(name, call.types);
  return {builtin.found, nullptr, builtin.result, std::move(builtin.problem)};
}

void Checker::unknown_function(const Expression& value) {
  if (find(value.name)) {
    error(value.place, fmt::format("'{}' is a variable; a function was expected.", value.name));
    return;
  }
  std::string hint;
  for (const char* suffix : {"_lpdf", "_lpmf", "_rng"})
    if (is_builtin(value.name + suffix) || !functions_of(value.name + suffix).empty())
      hint += fmt::format("{}'{}{}'", hint.empty() ? "" : " or ", value.name, suffix);
  if (!hint.empty()) {
    error(value.place, fmt::format("There is no function '{}'. Did you mean {}?", value.name, hint));
    return;
  }
  if (!unknown_names_.insert(value.name + "(").second) return;
  if (is_full()) return error(value.place, "");  // counted, not told
  Nearest nearest(value.name);
  for (const auto& function : program_.functions) nearest.offer(function->name);
  for (const Signature& row : signatures()) nearest.offer(row.name);
  error(value.place, fmt::format("There is no function '{}'.{}", value.name, did_you_mean(nearest.name())));
}

void Checker::check_unnormalised(const std::string& name, const Place& place) {
  if (!is_unnormalised(name) || in_block(BlockKind::model) || in_function("_lpdf") || in_function("_lpmf"))
    return;
  error(place,
        fmt::format("The unnormalised '{}' may only be used in the model block and in functions with the "
                    "suffixes _lpdf and _lpmf; elsewhere write '{}'.",
                    name, normalised_name(name)));
}

// Where functions with certain suffixes may be called.
void Checker::check_call_place(const Expression& value) {
  const std::string& name = value.name;
  if (name.ends_with("_rng")) {
    if (in_size_)
      error(value.place,
            fmt::format("Random numbers, as of '{}', may not give the size of a block's variable.", name));
    else if (!in_block(BlockKind::transformed_data) && !in_block(BlockKind::generated_quantities) &&
             !in_function("_rng"))
      error(value.place,
            fmt::format("'{}' may only be called in the transformed data and generated quantities blocks "
                        "and in functions with the suffix _rng.",
                        name));
  }
  if (name.ends_with("_lp") && !in_block(BlockKind::model) && !in_block(BlockKind::transformed_parameters) &&
      !in_function("_lp"))
    error(value.place,
          fmt::format("'{}' may only be called in the transformed parameters and model blocks and in "
                      "functions with the suffix _lp.",
                      name));
  if (name.ends_with("_jacobian") && !in_block(BlockKind::transformed_parameters) &&
      !in_function("_jacobian"))
    error(value.place,
          fmt::format("'{}' may only be called in the transformed parameters block and in functions with "
                      "the suffix _jacobian.",
                      name));
  check_unnormalised(name, value.place);
  if (value.with_bar && !is_conditional_name(name))
    error(value.place,
          fmt::format("'{}' takes no bar: its name does not end as that of a density or a cdf.", name));
  if (value.with_bar || !is_conditional_name(name) || value.parts.size() < 2) return;
  const std::string text =
      fmt::format("'{}' needs a bar, not a comma, behind its first argument: {}(y | ...).", name, name);
  if (name.ends_with("_cdf"))
    warn(value.place, text);  // older programs have it so
  else
    error(value.place, text);
}

void Checker::check_data_arguments(const Expression& value, const Function& function, const Call& call,
                                   size_t skip) {
  for (size_t i = skip; i < function.arguments.size() && i < call.levels.size(); ++i)
    if (function.arguments[i].is_data && call.levels[i] == Level::parameter)
      error(value.parts[i]->place,
            fmt::format("Argument {} of '{}' must be data; this depends on parameters (as local "
                        "variables and arguments without 'data' may).",
                        i + 1, function.name));
}

void Checker::warn_old_name(const Expression& value) {
  for (const auto& [old, now] : old_names)
    if (value.name == old && functions_of(value.name).empty())
      warn(value.name_place, fmt::format("The function '{}' is an old one; write '{}'.", old, now));
}

// A call by an operator's name becomes that operator; its name stays for the formatter. False where the call
// is not one of those.
bool Checker::check_operator_call(Expression& value, const Call& call) {
  const OperatorName* found = operator_named(value.name);
  if (!found || find(value.name) || (!functions_of(value.name).empty() && choose(value.name, call).found))
    return false;
  value.op = found->op;
  if (call.failed) return true;
  const bool fits = call.types.size() == found->operands;
  const auto type = !fits                  ? std::nullopt
                    : found->operands == 1 ? operator_type(found->op, call.types[0])
                                           : operator_type(found->op, call.types[0], call.types[1]);
  if (!type) {
    error(value.place,
          fmt::format(
              "Ill-typed arguments supplied to function '{}', which is the operator {} of {}; found {}.",
              value.name, to_text(found->op), found->operands == 1 ? "one value" : "two values",
              to_text(call.types)));
    return true;
  }
  value.type = *type;
  value.kind = found->operands == 1 ? Expression::Kind::prefix : Expression::Kind::binary;
  return true;
}

Level Checker::check_call(Expression& value) {
  value.type = unknown_type();
  const std::string name = normalised_name(value.name);
  warn_old_name(value);
  if (takes_function(name)) return check_higher(value);
  const bool in_shape = std::exchange(in_shape_, asks_shape(name) && value.parts.size() == 1);
  const Call call = check_arguments(value.parts);
  in_shape_ = in_shape;
  if (check_operator_call(value, call)) return call.level;
  if ((functions_of(name).empty() || find(value.name)) && !is_builtin(name)) {
    unknown_function(value);
    return call.level;
  }
  check_call_place(value);
  if (call.failed) return call.level;
  const Choice choice = choose(name, call);
  if (!choice.found) {
    error(value.place, choice.problem);
    return call.level;
  }
  value.function = choice.function;
  value.type = choice.result;
  if (choice.function) check_data_arguments(value, *choice.function, call, 0);
  if (!choice.function && (name == "to_int" || name == "hmm_hidden_state_prob") &&
      call.level == Level::parameter)
    error(value.place, fmt::format("The arguments of '{}' must be data; these depend on parameters.", name));
  return call.level;
}

}  // namespace adit::stan
