// Histograms and densities.
#include <algorithm>
#include <cmath>

#include "posterior/report/material.hpp"

namespace adit::report {

namespace {

// Weights of a normal kernel at -reach .. reach; they sum to 1.
std::vector<double> bell(double deviation, int64_t reach) {
  std::vector<double> weights;
  double total = 0;
  for (int64_t off = -reach; off <= reach; ++off) {
    const double z = static_cast<double>(off) / deviation;
    weights.push_back(std::exp(-0.5 * z * z));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

// Silverman's rule.
double smoothing_width(std::span<const double> sorted) {
  const auto size = static_cast<double>(sorted.size());
  double mean = 0, square = 0;
  for (const double value : sorted) mean += value / size;
  for (const double value : sorted) square += (value - mean) * (value - mean) / size;
  const double quartiles = (sorted_quantile(sorted, 0.75) - sorted_quantile(sorted, 0.25)) / 1.34;
  const double spread = quartiles > 0 ? std::min(quartiles, std::sqrt(square)) : std::sqrt(square);
  return 0.9 * spread * std::pow(size, -0.2);
}

}  // namespace

double sorted_quantile(std::span<const double> sorted, double p) {
  if (sorted.empty()) return std::nan("");
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  const double share = at - static_cast<double>(below);
  return sorted[below] * (1 - share) + sorted[above] * share;
}

Range display_range(std::span<const double> sorted) {
  if (sorted.empty()) return {0, 1};
  const Range all{sorted.front(), sorted.back()};
  const Range most{sorted_quantile(sorted, 0.005), sorted_quantile(sorted, 0.995)};
  if (!(most.width() > 0) || all.width() <= 1.8 * most.width()) return all;
  return {std::max(all.low, most.low - 0.3 * most.width()),
          std::min(all.high, most.high + 0.3 * most.width())};
}

bool is_discrete(std::span<const double> sorted) {
  if (sorted.empty() || sorted.back() - sorted.front() > 60) return false;
  return std::all_of(sorted.begin(), sorted.end(), [](double value) { return value == std::floor(value); });
}

Histogram histogram(std::span<const double> sorted, const Range& range, size_t bins) {
  Histogram out{range, std::vector<double>(bins, 0.0)};
  if (sorted.empty() || !(range.width() > 0)) return out;
  const double unit = 1 / (static_cast<double>(sorted.size()) * out.bin_width());
  for (const double value : sorted) {
    if (value < range.low || value > range.high) continue;
    const auto bin = static_cast<size_t>((value - range.low) / range.width() * static_cast<double>(bins));
    out.density[std::min(bin, bins - 1)] += unit;
  }
  return out;
}

Histogram histogram(std::span<const double> sorted) {
  if (is_discrete(sorted)) {
    const Range whole{sorted.front() - 0.5, sorted.back() + 0.5};
    return histogram(sorted, whole, static_cast<size_t>(std::llround(whole.width())));
  }
  const Range range = display_range(sorted);
  const double quartiles = sorted_quantile(sorted, 0.75) - sorted_quantile(sorted, 0.25);
  const double width = 2 * quartiles / std::cbrt(static_cast<double>(std::max<size_t>(1, sorted.size())));
  const double bins = width > 0 ? range.width() / width : 10;
  return histogram(sorted, range, static_cast<size_t>(std::clamp(std::ceil(bins), 5.0, 40.0)));
}

std::vector<double> smooth_density(std::span<const double> sorted, const Range& range, size_t points) {
  std::vector<double> out(points, 0.0);
  const auto inside = [&](double value) { return value >= range.low && value <= range.high; };
  std::vector<double> values;
  std::copy_if(sorted.begin(), sorted.end(), std::back_inserter(values), inside);
  if (values.size() < 2 || points < 2) return out;
  const double bandwidth = smoothing_width(values);
  if (!(bandwidth > 0)) return out;
  const double step = range.width() / static_cast<double>(points - 1);
  std::vector<double> bins(points, 0.0);
  for (const double value : values) bins[static_cast<size_t>(std::lround((value - range.low) / step))] += 1;
  // Mirrored at the ends, so that a density which ends at a bound does not sink there.
  const auto reach = static_cast<int64_t>(std::ceil(4 * bandwidth / step)) + 1;
  const auto last = static_cast<int64_t>(points) - 1;
  const auto kernel = bell(bandwidth / step, reach);
  for (int64_t from = 0; from <= last; ++from)
    for (int64_t off = -reach; off <= reach; ++off) {
      int64_t to = from + off;
      if (to < 0) to = -to - 1;
      if (to > last) to = 2 * last - to + 1;
      if (to >= 0 && to <= last)
        out[static_cast<size_t>(to)] +=
            bins[static_cast<size_t>(from)] * kernel[static_cast<size_t>(off + reach)];
    }
  for (double& value : out) value /= static_cast<double>(sorted.size()) * step;
  return out;
}

}  // namespace adit::report
