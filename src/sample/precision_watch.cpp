#include "sample/precision_watch.hpp"

#include <algorithm>
#include <cmath>

#include <adit/ops.hpp>

#include "sample/collect.hpp"

namespace adit::sampling {

namespace {

constexpr size_t at_once = 4;  // what a density is made of may be large

Tensor total_of(const stats::ModelState& model) {
  Tensor total;
  for (const auto& term : model.terms) total = total ? add(total, term.total) : term.total;
  return total;
}

}  // namespace

void prepare_energy_error(const stats::ModelState& model) {
  prepare_values(model, {total_of(model)}, at_once, Device::open("cpu"));
}

double energy_error(const stats::ModelState& model, const std::vector<double>& points,
                    const std::vector<double>& lps) {
  const Tensor total = total_of(model);
  const auto size = static_cast<size_t>(model.size);
  const auto device = Device::open("cpu");
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t first = 0; first < lps.size(); first += at_once) {
    const size_t count = std::min(at_once, lps.size() - first);
    const auto begin = points.begin() + static_cast<int64_t>(first * size);
    const std::vector<double> some(begin, begin + static_cast<int64_t>(count * size));
    const auto exact = values_at(model, {total}, some, static_cast<int64_t>(count), device)[0];
    for (size_t i = 0; i < count; ++i) {
      const double error = lps[first + i] - exact[i];
      if (!std::isfinite(error)) continue;
      lowest = std::min(lowest, error);
      highest = std::max(highest, error);
    }
  }
  return std::max(0.0, highest - lowest);
}

double allowed_energy_error(std::vector<double> lps) {
  constexpr double share = 1e-4;
  std::erase_if(lps, [](double lp) { return !std::isfinite(lp); });
  if (lps.empty()) return most_energy_error;
  std::sort(lps.begin(), lps.end());
  // From the best to the middle: one chain that is stuck does not excuse the others.
  return most_energy_error + share * (lps.back() - lps[lps.size() / 2]);
}

}  // namespace adit::sampling
