#include <adit/diagnostics.hpp>

#include "posterior/diagnostics/chains.hpp"

namespace adit {

// Betancourt (2016): how far energy moves from draw to draw, over how far it spreads:
// sum (E_i - E_{i-1})^2 / sum (E_i - mean)^2 of each chain by itself.
std::vector<double> e_bfmi(const Draws& draws) {
  std::vector<double> result;
  if (static_cast<int64_t>(draws.stats.energy.size()) != draws.chains * draws.draws) return result;
  for (int64_t chain = 0; chain < draws.chains; ++chain) {
    const double* energy = draws.stats.energy.data() + chain * draws.draws;
    const double mean = diagnostics::mean_of(energy, draws.draws);
    const double spread =
        diagnostics::variance_of(energy, draws.draws, mean) * static_cast<double>(draws.draws - 1);
    const double moves = diagnostics::sum_of(draws.draws - 1, [=](int64_t i) {
      return (energy[i + 1] - energy[i]) * (energy[i + 1] - energy[i]);
    });
    result.push_back(spread > 0 ? moves / spread : diagnostics::not_a_number);
  }
  return result;
}

}  // namespace adit
