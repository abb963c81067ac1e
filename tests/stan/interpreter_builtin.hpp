// Built-in functions and densities of the plain interpreter, by their mathematics.
#pragma once

#include "interpreter_value.hpp"

namespace adit::stan::reference {

Value call_builtin(const std::string& name, const Values& arguments);

using Builtin = Value (*)(const Values& arguments);
using BuiltinTable = std::unordered_map<std::string, Builtin>;
const BuiltinTable& container_functions();
const BuiltinTable& reshaping_functions();
const BuiltinTable& matrix_functions();
const BuiltinTable& decomposition_functions();
const BuiltinTable& covariance_functions();
const BuiltinTable& multivariate_densities();
const BuiltinTable& regression_densities();
bool call_elementwise(const std::string& name, const Values& arguments, Value& result);

// A density of numbers: x[0] is the variable and its parameters follow.
struct Univariate {
  int parameters = 0;
  bool is_discrete = false;
  Number (*log_density)(const Number* x) = nullptr;
  Number (*log_cdf)(const Number* x) = nullptr;  // none of a discrete one: it is a sum
  Number (*log_ccdf)(const Number* x) = nullptr;
};
const Univariate* univariate(const std::string& name);  // without suffix
void add_continuous(std::unordered_map<std::string, Univariate>& table);
void add_more_continuous(std::unordered_map<std::string, Univariate>& table);
void add_discrete(std::unordered_map<std::string, Univariate>& table);
Number log_cdf(const Univariate& density, const Number* x);
Number log_ccdf(const Univariate& density, const Number* x);
// log P(low <= X <= high), discrete or not; none: open.
Number log_between(const Univariate& density, const Number* low, const Number* high,
                   const Number* parameters);
// Rows of a vectorised call: element i of each argument.
size_t common_size(const Values& arguments);

}  // namespace adit::stan::reference
