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

}  // namespace adit::stan
