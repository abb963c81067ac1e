#include "sample/precision_watch.hpp"

#include <algorithm>
#include <cmath>

#include <adit/ops.hpp>

#include "sample/collect.hpp"

namespace adit::sampling {

namespace {

constexpr size_t at_once = 4;  // what a density is made of may be large

// Log densities in f64 at points [n, size].
std::vector<double> exact_at(const stats::ModelState& model, const std::vector<double>& points,
                             const std::shared_ptr<Device>& device) {
  const Tensor total = total_of(model);
  const auto size = static_cast<size_t>(model.size), all = points.size() / size;
  std::vector<double> values;
  for (size_t first = 0; first < all; first += at_once) {
    const size_t count = std::min(at_once, all - first);
    const auto begin = points.begin() + static_cast<int64_t>(first * size);
    const std::vector<double> some(begin, begin + static_cast<int64_t>(count * size));
    const auto part = values_at(model, {total}, some, static_cast<int64_t>(count), device)[0];
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

double energy_error(const stats::ModelState& model, const Seen& seen, const std::shared_ptr<Device>& device) {
  const std::vector<double> exact = exact_at(model, seen.points, device);
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double error = seen.lps[i] - exact[i];
    if (!std::isfinite(error)) continue;
    lowest = std::min(lowest, error);
    highest = std::max(highest, error);
  }
  return std::max(0.0, highest - lowest);
}

// Slopes in f64 along one direction at each point, a step to one side or the other in every number: the
// square of a gradient's error along it is the square of its length on the average. So log densities are
// enough, and no gradient in f64 is compiled.
double gradient_error(const stats::ModelState& model, const Seen& seen,
                      const std::shared_ptr<Device>& device) {
  constexpr double part = 3e-4;         // of a step
  constexpr double ulps = 4 * 0x1p-52;  // by which log densities in f64 are off, each the sum of several
  const auto size = static_cast<size_t>(model.size), count = seen.gradients.size() / size;
  const size_t first = seen.points.size() - seen.gradients.size();
  uint64_t bits = 1;
  const auto next_sign = [&] {
    bits = bits * 6364136223846793005U + 1442695040888963407U;
    return bits >> 63 ? 1.0 : -1.0;
  };
  std::vector<double> points, slopes, lengths;
  for (size_t point = 0; point < count; ++point) {
    std::vector<double> ahead, behind;
    double slope = 0, length = 0;
    for (size_t i = point * size; i < (point + 1) * size; ++i) {
      const double move = next_sign() * seen.steps[i];
      ahead.push_back(seen.points[first + i] + part * move);
      behind.push_back(seen.points[first + i] - part * move);
      slope += seen.gradients[i] * move;
      length += std::pow(seen.gradients[i] * seen.steps[i], 2);
    }
    points.insert(points.end(), ahead.begin(), ahead.end());
    points.insert(points.end(), behind.begin(), behind.end());
    slopes.push_back(slope);
    lengths.push_back(length);
  }
  const std::vector<double> values = exact_at(model, points, device);
  double longest = 0, errors = 0, known = 0;
  for (size_t point = 0; point < count; ++point) {
    const double exact = (values[2 * point] - values[2 * point + 1]) / (2 * part);
    if (!std::isfinite(exact) || !std::isfinite(lengths[point])) continue;
    longest = std::max(longest, lengths[point]);
    // What is left of two large numbers that are nearly equal says nothing about gradients.
    const double rounding = ulps * std::max(std::abs(values[2 * point]), std::abs(values[2 * point + 1]));
    errors += std::pow(std::max(0.0, std::abs(slopes[point] - exact) - rounding / (2 * part)), 2);
    ++known;
  }
  return longest > 0 ? std::sqrt(errors / known / longest) : 0;
}

double position_error(const Seen& seen) {
  constexpr double half_ulp = 0x1p-24;
  const size_t first = seen.points.size() - seen.steps.size();
  double largest = 0;
  for (size_t i = 0; i < seen.steps.size(); ++i)
    if (seen.steps[i] > 0)
      largest = std::max(largest, std::abs(seen.points[first + i]) * half_ulp / seen.steps[i]);
  return largest;
}

}  // namespace

Tensor total_of(const stats::ModelState& model) {
  Tensor total;
  for (const auto& term : model.terms) total = total ? add(total, term.total) : term.total;
  return total;
}

void prepare_precision_errors(const stats::ModelState& model) {
  prepare_values(model, {total_of(model)}, at_once, Device::open("cpu"));
}

PrecisionErrors precision_errors(const stats::ModelState& model, const Seen& seen) {
  const auto device = Device::open("cpu");
  PrecisionErrors errors;
  if (model.size == 0) return errors;
  errors.energy = energy_error(model, seen, device);
  if (!seen.gradients.empty()) errors.gradient = gradient_error(model, seen, device);
  errors.position = position_error(seen);
  return errors;
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
