#include <algorithm>
#include <fmt/format.h>

#include "stan/check.hpp"
#include "stan/checker.hpp"
#include "stan/signature.hpp"

namespace adit::stan {

namespace {

std::vector<Type> argument_types(const Function& function) {
  std::vector<Type> types;
  for (const Argument& argument : function.arguments) types.push_back(argument.type);
  return types;
}

bool is_probability_name(const std::string& name) {
  for (const char* suffix : {"_lpdf", "_lpmf", "_lcdf", "_lccdf", "_cdf"})
    if (name.ends_with(suffix)) return true;
  return false;
}

// Functions that take functions have forms that no list of arguments tells, those that are not there too.
bool is_kept_name(const std::string& name) {
  return takes_function(name) || name == "dae" || name == "dae_tol" || name.starts_with("laplace_marginal") ||
         name.starts_with("laplace_latent");
}

bool leaves_loop(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::break_loop: return true;
    case Statement::Kind::choice: {
      const Statement* one = &statement;
      for (; one && one->kind == Statement::Kind::choice; one = one->otherwise.get())
        if (one->body && leaves_loop(*one->body)) return true;
      return one && leaves_loop(*one);
    }
    case Statement::Kind::block:
    case Statement::Kind::profile:
      return std::any_of(statement.statements.begin(), statement.statements.end(),
                         [](const StatementPtr& inner) { return leaves_loop(*inner); }) ||
             (statement.body && leaves_loop(*statement.body));
    default: return false;
  }
}

bool is_endless(const Statement& loop) {
  const Expression* value = loop.value.get();
  while (value && value->kind == Expression::Kind::group) value = value->parts[0].get();
  return value && value->kind == Expression::Kind::integer && value->integer != 0 && loop.body &&
         !leaves_loop(*loop.body);
}

}  // namespace

std::string signature_text(const Function& function) {
  std::string text;
  for (const Argument& argument : function.arguments)
    text +=
        (text.empty() ? "" : ", ") + std::string(argument.is_data ? "data " : "") + to_text(argument.type);
  return "(" + text + ") => " + to_text(function.result);
}

bool always_returns(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::give:
    case Statement::Kind::reject:
    case Statement::Kind::fatal_error: return true;
    case Statement::Kind::block:
    case Statement::Kind::profile:
      return std::any_of(statement.statements.begin(), statement.statements.end(),
                         [](const StatementPtr& inner) { return always_returns(*inner); }) ||
             (statement.body && always_returns(*statement.body));
    case Statement::Kind::while_loop:
      if (is_endless(statement)) return true;
      [[fallthrough]];
    case Statement::Kind::for_range:
    case Statement::Kind::for_each:
      return statement.body && !leaves_loop(*statement.body) && always_returns(*statement.body);
    case Statement::Kind::choice: {
      const Statement* one = &statement;
      for (; one && one->kind == Statement::Kind::choice; one = one->otherwise.get())
        if (!one->body || !always_returns(*one->body)) return false;
      return one && always_returns(*one);
    }
    default: return false;
  }
}

const std::vector<Function*>& Checker::functions_of(const std::string& name) const {
  static const std::vector<Function*> none;
  const auto found = functions_.find(name);
  return found == functions_.end() ? none : found->second;
}

void Checker::check_function_name(const Function& function) {
  const std::string& name = function.name;
  const auto complain = [&](std::string text) { error(function.name_place, std::move(text)); };
  if (name.ends_with("_lupdf") || name.ends_with("_lupmf"))
    complain(fmt::format("'{}' may not be defined: write the normalised '{}', which serves for both.", name,
                         normalised_name(name)));
  if (is_kept_name(name)) complain(fmt::format("The built-in function '{}' may not be overloaded.", name));
  if (!is_probability_name(name)) return;
  if (!function.result.is(Base::real))
    complain(fmt::format("The function '{}' must return real, as its suffix says; found {}.", name,
                         to_text(function.result)));
  const bool is_mass = name.ends_with("_lpmf"), is_density = name.ends_with("_lpdf");
  if (!is_mass && !is_density) return;
  const char* wanted = is_mass ? "int or an array of int" : "real or a container of reals";
  if (function.arguments.empty())
    complain(fmt::format("The function '{}' needs a first argument of type {}.", name, wanted));
  else if (function.arguments[0].type.base != Base::tuple &&
           function.arguments[0].type.is_integer() != is_mass)
    complain(fmt::format("The first argument of '{}' must be {}; found {}.", name, wanted,
                         to_text(function.arguments[0].type)));
}

// Of two with the same types one may announce what the other defines.
void Checker::check_repeated(Function& function, Function*& other) {
  if (!(other->result == function.result))
    error(function.name_place, fmt::format("The function '{}' differs from {} by its result alone.",
                                           function.name, signature_text(*other)));
  else if (other->body || !function.body)
    error(function.name_place, fmt::format("The function '{}' has already been {} for {}.", function.name,
                                           other->body ? "defined" : "declared", signature_text(*other)));
  else if (signature_text(*other) != signature_text(function))
    error(function.name_place, fmt::format("The function '{}' was declared as {}; found {}.", function.name,
                                           signature_text(*other), signature_text(function)));
  if (function.body && !other->body) other = &function;
}

void Checker::declare_function(Function& function) {
  check_function_name(function);
  const std::vector<Type> types = argument_types(function);
  std::vector<Function*>& known = functions_[function.name];
  const auto [place, is_new] = function_places_.emplace(function.name + to_text(types), known.size());
  if (!is_new) return check_repeated(function, known[place->second]);
  const Resolved builtin = is_builtin(function.name) ? resolve(function.name, types) : Resolved{};
  if (builtin.found && builtin.promotions == 0)
    error(function.name_place,
          fmt::format("The function '{}' is already built in for {}.", function.name, to_text(types)));
  known.push_back(&function);
}

void Checker::declare_functions() {
  for (const auto& function : program_.functions) declare_function(*function);
  for (const Function* function : undefined_functions(program_))
    if (allow_undefined_)
      warn(function->name_place,
           fmt::format("The function '{}' is declared but not defined: the program cannot be run.",
                       function->name));
    else
      error(function->name_place,
            fmt::format("The function '{}' is declared but not defined.", function->name));
}

std::vector<const Function*> undefined_functions(const Program& program) {
  std::unordered_map<std::string, const Function*> open;  // by name and types
  for (const auto& function : program.functions) {
    const std::string key = function->name + to_text(argument_types(*function));
    if (function->body)
      open[key] = nullptr;
    else
      open.emplace(key, function.get());
  }
  std::vector<const Function*> found;
  for (const auto& function : program.functions)
    if (open[function->name + to_text(argument_types(*function))] == function.get())
      found.push_back(function.get());
  return found;
}

void Checker::check_function(Function& function) {
  function_ = &function;
  next_slot_ = 0;
  loops_ = 0;
  open_scope();
  for (Argument& argument : function.arguments) {
    Variable variable;
    variable.name = argument.name;
    variable.type = argument.type;
    variable.place = argument.place;
    variable.level = argument.is_data || argument.type.is_integer() ? Level::data : Level::parameter;
    variable.is_fixed = variable.is_written = true;
    if (argument.type.base == Base::complex) error(argument.place, "Complex numbers are not supported.");
    if (is_too_wide(argument.type)) {
      error(argument.place, fmt::format("A tuple may have {} members at most.", most_members));
      variable.type = unknown_type();
    }
    if (is_void(argument.type)) error(argument.place, "An argument may not be void.");
    argument.slot = declare(std::move(variable))->slot;
  }
  if (function.result.base == Base::complex) error(function.place, "Complex numbers are not supported.");
  check_statement(*function.body);
  if (!is_void(function.result) && !always_returns(*function.body))
    error(function.name_place,
          fmt::format("The function '{}' must return {} on every path, but may end without it.",
                      function.name, to_text(function.result)));
  close_scope();
  function.slots = next_slot_;
  function_ = nullptr;
}

}  // namespace adit::stan
