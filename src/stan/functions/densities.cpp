#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "stan/functions/rows.hpp"

namespace adit::stan {

std::span<const UnivariateDensity> univariate_densities() {
  static const std::vector<UnivariateDensity> all = [] {
    std::vector<UnivariateDensity> joined;
    for (const auto part : {real_densities(), skew_densities(), positive_densities(), tail_densities(),
                            interval_densities(), trial_densities(), count_densities(), passage_densities()})
      joined.insert(joined.end(), part.begin(), part.end());
    return joined;
  }();
  return all;
}

const UnivariateDensity* univariate_named(const std::string& name, std::optional<size_t> parameters) {
  // In the order of their rows.
  static const std::multimap<std::string_view, const UnivariateDensity*> index = [] {
    std::multimap<std::string_view, const UnivariateDensity*> found;
    for (const UnivariateDensity& row : univariate_densities()) found.emplace(row.name, &row);
    return found;
  }();
  const auto [begin, end] = index.equal_range(name);
  const auto found = std::find_if(begin, end, [&](const auto& entry) {
    return !parameters || static_cast<size_t>(entry.second->parameters) == *parameters;
  });
  return found == end ? nullptr : found->second;
}

}  // namespace adit::stan
