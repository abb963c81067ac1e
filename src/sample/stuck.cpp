#include "sample/stuck.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace adit::sampling {

namespace {

std::vector<int64_t> best_first(std::span<const double> masses) {
  std::vector<int64_t> order(masses.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto mass = [&](int64_t chain) {
    const double value = masses[static_cast<size_t>(chain)];
    return std::isnan(value) ? -HUGE_VAL : value;
  };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return mass(a) > mass(b); });
  return order;
}

// Those below the widest gap, above which at least `fewest` lie.
std::vector<int64_t> below_gap(std::span<const double> masses, int64_t size, size_t fewest) {
  if (masses.size() < 2) return {};
  const std::vector<int64_t> order = best_first(masses);
  const auto mass = [&](size_t place) {
    const double value = masses[static_cast<size_t>(order[place])];
    return std::isnan(value) ? -HUGE_VAL : value;
  };
  size_t well = masses.size();  // so many
  double widest = 0;
  for (size_t k = fewest; k < masses.size(); ++k)
    if (const double gap = mass(k - 1) - mass(k); gap > widest) widest = gap, well = k;
  // Those that are well lie close together beside it; the best one alone may be anywhere above the others.
  const double range = well > 2 ? mass(1) - mass(well - 1) : 0;
  if (!(widest > least_gap(size) && widest > 2 * range)) return {};
  std::vector<int64_t> stuck(order.begin() + static_cast<int64_t>(well), order.end());
  std::ranges::sort(stuck);
  return stuck;
}

}  // namespace

// Log densities of a normal posterior scatter by sqrt(size / 2), those of a funnel by several times that.
// This is beyond both, and what lies so far below has no weight.
double least_gap(int64_t size) { return 50 + 25 * std::sqrt(static_cast<double>(size) / 2); }

std::vector<int64_t> stuck_chains(std::span<const double> masses, int64_t size) {
  return below_gap(masses, size, (masses.size() + 1) / 2);
}

std::vector<int64_t> chains_far_below(std::span<const double> masses, int64_t size) {
  return below_gap(masses, size, 1);
}

std::vector<int64_t> sources_for(std::span<const int64_t> stuck, std::span<const double> masses) {
  std::vector<int64_t> free = best_first(masses), sources;
  std::erase_if(free, [&](int64_t chain) { return std::ranges::binary_search(stuck, chain); });
  for (size_t i = 0; i < stuck.size() && !free.empty(); ++i) sources.push_back(free[i % free.size()]);
  return sources;
}

}  // namespace adit::sampling
