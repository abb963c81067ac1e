#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "stan/checker.hpp"

namespace adit::stan {

namespace {

const Type higher_real = scalar_type(Base::real), higher_vector = scalar_type(Base::vector),
           higher_int = scalar_type(Base::integer);
const Type higher_reals = array_of(scalar_type(Base::real)),
           higher_ints = array_of(scalar_type(Base::integer));

// A built-in that takes a function: its own arguments behind the function's name, which of them must be data,
// what the function takes (before what is forwarded) and gives, and what the call gives.
struct Higher {
  std::vector<Type> arguments;
  std::vector<size_t> data_only;  // counted from 1, as the function itself is 0
  std::vector<Type> taken;
  Type given, result;
  bool forwards = false;  // more arguments go to the function
  size_t optional = 0;    // how many of the last arguments may be left out, all or none
};

Higher old_ode(bool tolerances) {
  Higher higher{{higher_reals, higher_real, higher_reals, higher_reals, higher_reals, higher_ints},
                {5, 6},
                {higher_real, higher_reals, higher_reals, higher_reals, higher_ints},
                higher_reals,
                array_of(higher_real, 2)};
  if (!tolerances) return higher;
  for (size_t i = 7; i < 10; ++i) {
    higher.arguments.push_back(higher_real);
    higher.data_only.push_back(i);
  }
  higher.optional = 3;
  return higher;
}

// Controls behind the first arguments must be data.
Higher with_controls(Higher higher, const std::vector<Type>& controls) {
  for (const Type& control : controls) {
    higher.arguments.push_back(control);
    higher.data_only.push_back(higher.arguments.size());
  }
  return higher;
}

Higher new_ode(const std::vector<Type>& controls) {
  return with_controls({{higher_vector, higher_real, higher_reals},
                        {},
                        {higher_real, higher_vector},
                        higher_vector,
                        array_of(higher_vector),
                        true},
                       controls);
}

void add_integrals(std::unordered_map<std::string, Higher>& all) {
  all["integrate_1d"] = {{higher_real, higher_real, higher_reals, higher_reals, higher_ints, higher_real},
                         {4, 5, 6},
                         {higher_real, higher_real, higher_reals, higher_reals, higher_ints},
                         higher_real,
                         higher_real,
                         false,
                         1};
  const Higher open{
      {higher_real, higher_real}, {}, {higher_real, higher_real}, higher_real, higher_real, true};
  for (const char* name : {"integrate_1d_double_exponential", "integrate_1d_gauss_kronrod"}) {
    all[name] = open;
    all[std::string(name) + "_tol"] = with_controls(open, {higher_real, higher_real, higher_int});
  }
}

void add_roots(std::unordered_map<std::string, Higher>& all) {
  for (const char* name : {"algebra_solver", "algebra_solver_newton"}) {
    all[name] = with_controls({{higher_vector, higher_vector, higher_reals, higher_ints},
                               {3, 4},
                               {higher_vector, higher_vector, higher_reals, higher_ints},
                               higher_vector,
                               higher_vector},
                              {higher_real, higher_real, higher_real});
    all[name].optional = 3;
  }
  const Higher open{{higher_vector}, {}, {higher_vector}, higher_vector, higher_vector, true};
  for (const char* name : {"solve_newton", "solve_powell"}) {
    all[name] = open;
    all[std::string(name) + "_tol"] = with_controls(open, {higher_real, higher_real, higher_int});
  }
}

std::unordered_map<std::string, Higher> make_higher() {
  std::unordered_map<std::string, Higher> all;
  add_integrals(all);
  add_roots(all);
  all["integrate_ode"] = old_ode(false);
  for (const char* name : {"integrate_ode_rk45", "integrate_ode_bdf", "integrate_ode_adams"})
    all[name] = old_ode(true);
  const std::vector<Type> tolerances{higher_real, higher_real, higher_int};
  for (const char* name : {"ode_rk45", "ode_ckrk", "ode_bdf", "ode_adams"}) {
    all[name] = new_ode({});
    all[std::string(name) + "_tol"] = new_ode(tolerances);
  }
  all["ode_adjoint_tol_ctl"] =
      new_ode({higher_real, higher_vector, higher_real, higher_vector, higher_real, higher_real, higher_int,
               higher_int, higher_int, higher_int, higher_int});
  all["map_rect"] = {{higher_vector, array_of(higher_vector), array_of(higher_reals), array_of(higher_ints)},
                     {3, 4},
                     {higher_vector, higher_vector, higher_reals, higher_ints},
                     higher_vector,
                     higher_vector};
  // The array and what the function takes of it depend on the call.
  all["reduce_sum"] =
      all["reduce_sum_static"] = {{unknown_type(), higher_int}, {}, {}, higher_real, higher_real, true};
  return all;
}

const std::unordered_map<std::string, Higher>& higher_table() {
  static const std::unordered_map<std::string, Higher> table = make_higher();
  return table;
}

std::string wanted_text(const std::vector<Type>& types, const Type& result) {
  return to_text(types) + " => " + to_text(result);
}

}  // namespace

bool takes_function(const std::string& name) { return higher_table().contains(name); }

bool Checker::check_fixed_arguments(const Expression& value, const Call& call,
                                    const std::vector<Type>& wanted, const std::vector<size_t>& data_only) {
  bool fits = true;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (is_unknown(wanted[i]) || is_assignable(wanted[i], call.types[i + 1])) continue;
    fits = false;
    error(value.parts[i + 1]->place, fmt::format("Argument {} of '{}' must be {}; found {}.", i + 2,
                                                 value.name, to_text(wanted[i]), to_text(call.types[i + 1])));
  }
  for (const size_t i : data_only)
    if (i < call.levels.size() && i <= wanted.size() && call.levels[i] == Level::parameter)
      error(value.parts[i]->place,
            fmt::format("Argument {} of '{}' must be data; this depends on parameters.", i + 1, value.name));
  return fits;
}

// The function of the program that takes `wanted`, of which the last `forwarded` are the call's own last
// arguments.
const Function* Checker::passed_function(const Expression& value, const std::vector<Type>& wanted,
                                         const Type& result, const Call& call, size_t forwarded) {
  const Expression& passed = *value.parts[0];
  const auto& functions = functions_of(normalised_name(passed.name));
  if (functions.empty()) {
    error(passed.place,
          fmt::format("'{}' is no function of the program, which '{}' takes as its first argument.",
                      passed.name, value.name));
    return nullptr;
  }
  Call inner;
  inner.types = wanted;
  const Choice choice = choose(normalised_name(passed.name), inner);
  if (!choice.function || !(choice.function->result == result)) {
    error(passed.place,
          fmt::format("The function '{}' does not fit '{}': expected {}; found {}.", passed.name, value.name,
                      wanted_text(wanted, result), signature_text(*functions[0])));
    return nullptr;
  }
  const std::vector<Argument>& arguments = choice.function->arguments;
  const size_t first = wanted.size() - forwarded;
  for (size_t i = 0; i < forwarded; ++i) {
    const size_t place = call.levels.size() - forwarded + i;
    if (arguments[first + i].is_data && call.levels[place] == Level::parameter)
      error(value.parts[place]->place,
            fmt::format("Argument {} of '{}' must be data; this depends on parameters.", first + i + 1,
                        passed.name));
  }
  check_unnormalised(passed.name, passed.place);
  for (const char* suffix : {"_lp", "_rng", "_jacobian"})
    if (passed.name.ends_with(suffix))
      error(passed.place,
            fmt::format("A function with the suffix {} may not be passed to '{}'.", suffix, value.name));
  return choice.function;
}

Level Checker::check_higher(Expression& value) {
  const Higher& higher = higher_table().at(value.name);
  value.type = higher.result;
  const bool is_named = !value.parts.empty() && value.parts[0]->kind == Expression::Kind::variable;
  if (!is_named) {
    for (ExpressionPtr& part : value.parts) check_expression(*part);
    error(
        value.place,
        fmt::format("The first argument of '{}' must be the name of a function of the program.", value.name));
    return Level::parameter;
  }
  Call call;
  call.types.push_back(unknown_type());
  call.levels.push_back(Level::data);
  for (size_t i = 1; i < value.parts.size(); ++i) {
    call.levels.push_back(check_expression(*value.parts[i]));
    call.types.push_back(value.parts[i]->type);
    call.level = std::max(call.level, call.levels.back());
    call.failed |= is_unknown(call.types.back()) || is_void(call.types.back());
  }
  if (call.failed) return call.level;
  std::vector<Type> wanted = higher.arguments;
  const size_t given = call.types.size() - 1;
  if (higher.optional > 0 && given + higher.optional == wanted.size()) wanted.resize(given);
  if (given < wanted.size() || (given > wanted.size() && !higher.forwards)) {
    error(value.place, fmt::format("'{}' takes {}{} arguments behind the function's name; found {}.",
                                   value.name, higher.forwards ? "at least " : "", wanted.size(), given));
    return call.level;
  }
  if (!check_fixed_arguments(value, call, wanted, higher.data_only)) return call.level;
  std::vector<Type> taken = higher.taken;
  if (taken.empty()) {  // reduce_sum: a part of the array and where it begins and ends
    if (call.types[1].array == 0) {
      error(value.parts[1]->place, fmt::format("Argument 2 of '{}' must be an array; found {}.", value.name,
                                               to_text(call.types[1])));
      return call.level;
    }
    taken = {call.types[1], higher_int, higher_int};
  }
  const size_t forwarded = given - wanted.size();
  taken.insert(taken.end(), call.types.end() - static_cast<std::ptrdiff_t>(forwarded), call.types.end());
  value.parts[0]->function = passed_function(value, taken, higher.given, call, forwarded);
  return call.level;
}

}  // namespace adit::stan
