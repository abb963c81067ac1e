#include <algorithm>
#include <cmath>
#include <utility>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>

#include "posterior/diagnostics/chains.hpp"

namespace adit {

std::pair<double, double> highest_density_interval(std::span<const double> values, double share) {
  if (!(share > 0 && share <= 1))
    throw Error(
        ErrorKind::bad_argument,
        "[highest_density_interval] share: expected above 0, at most 1, got " + std::to_string(share));
  const auto is_nan = [](double v) { return std::isnan(v); };
  if (values.empty() || std::any_of(values.begin(), values.end(), is_nan))
    return {diagnostics::not_a_number, diagnostics::not_a_number};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto steps =
      std::min(static_cast<size_t>(share * static_cast<double>(sorted.size())), sorted.size() - 1);
  size_t best = 0;
  for (size_t first = 1; first + steps < sorted.size(); ++first)
    if (sorted[first + steps] - sorted[first] < sorted[best + steps] - sorted[best]) best = first;
  return {sorted[best], sorted[best + steps]};
}

}  // namespace adit
