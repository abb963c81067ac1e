#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

namespace adit {

uint64_t Draws::divergences() const {
  uint64_t count = 0;
  for (const double flag : stats.divergent) count += flag > 0;
  return count;
}

const DrawsVariable& Draws::variable(const std::string& name) const {
  std::string names;
  for (const DrawsVariable& candidate : variables) {
    if (candidate.name == name) return candidate;
    names += (names.empty() ? "" : ", ") + candidate.name;
  }
  throw Error(ErrorKind::not_found,
              "[draws] name: expected one of " + (names.empty() ? "none" : names) + ", got '" + name + "'");
}

std::vector<double> element_draws(const Draws& draws, const DrawsVariable& variable, int64_t element) {
  const int64_t size = variable.size(), count = draws.chains * draws.draws;
  if (element < 0 || element >= size)
    throw Error(ErrorKind::bad_argument, "[element_draws] element: expected 0 to " +
                                             std::to_string(size - 1) + " of " + variable.name + ", got " +
                                             std::to_string(element));
  if (static_cast<int64_t>(variable.values.size()) != count * size)
    throw Error(ErrorKind::bad_argument, "[element_draws] " + variable.name + ": expected " +
                                             std::to_string(count * size) + " values, got " +
                                             std::to_string(variable.values.size()));
  std::vector<double> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result[i] = variable.values[i * size + element];
  return result;
}

}  // namespace adit
