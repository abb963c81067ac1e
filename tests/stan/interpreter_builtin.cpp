#include "interpreter_builtin.hpp"

namespace adit::stan::reference {

size_t common_size(const Values& arguments) {
  size_t size = 1;
  bool is_set = false;
  for (const Value& value : arguments) {
    if (value.is_scalar()) continue;
    const size_t count = flat(value).size();
    expect(!is_set || count == size, "sizes of the arguments of a density differ");
    size = count;
    is_set = true;
  }
  return size;
}

namespace {

enum class Part : uint8_t { density, log_cdf, log_ccdf, cdf };

// The sum over all elements; cdf: the product.
Value builtin_univariate(const Univariate& density, Part part, const Values& arguments) {
  expect(static_cast<int>(arguments.size()) == density.parameters + 1,
         "a density has another number of arguments");
  const size_t rows = common_size(arguments);
  std::vector<Numbers> columns;
  for (const Value& value : arguments) columns.push_back(flat(value));
  Number sum = 0;
  Numbers row(arguments.size());
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < columns.size(); ++k)
      row[k] = columns[k].size() == 1 ? columns[k][0] : columns[k][i];
    sum += part == Part::density    ? density.log_density(row.data())
           : part == Part::log_ccdf ? log_ccdf(density, row.data())
                                    : log_cdf(density, row.data());
  }
  return real(part == Part::cdf ? exp(sum) : sum);
}

bool builtin_density(const std::string& name, const Values& arguments, Value& result) {
  static const std::pair<const char*, Part> endings[] = {{"_lpdf", Part::density},
                                                         {"_lpmf", Part::density},
                                                         {"_lcdf", Part::log_cdf},
                                                         {"_lccdf", Part::log_ccdf},
                                                         {"_cdf", Part::cdf}};
  for (const auto& [ending, part] : endings) {
    if (!name.ends_with(ending)) continue;
    const std::string stem = name.substr(0, name.size() - std::string(ending).size());
    if (const Univariate* density = univariate(stem)) {
      result = builtin_univariate(*density, part, arguments);
      return true;
    }
    if (part != Part::density) return false;
    for (const BuiltinTable* table : {&multivariate_densities(), &regression_densities()})
      if (const auto at = table->find(stem); at != table->end()) {
        result = at->second(arguments);
        return true;
      }
  }
  return false;
}

}  // namespace

Value call_builtin(const std::string& name, const Values& arguments) {
  Value result;
  if (call_elementwise(name, arguments, result)) return result;
  for (const BuiltinTable* table : {&container_functions(), &reshaping_functions(), &matrix_functions(),
                                    &covariance_functions(), &decomposition_functions()})
    if (const auto at = table->find(name); at != table->end()) return at->second(arguments);
  if (builtin_density(name, arguments, result)) return result;
  throw Failure("the interpreter has no function " + name);
}

}  // namespace adit::stan::reference
