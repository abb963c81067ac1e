// Draws in ascending order, with the places they came from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::diagnostics {

struct Ordered {
  std::vector<double> values;    // ascending
  std::vector<uint32_t> places;  // where each one stood
};

// NaN must not be among them.
Ordered order(std::span<const double> values);
// |x - centre| in ascending order: the two sides of the centre are merged, nothing is sorted again.
Ordered fold(const Ordered& sorted, double centre);
// Without the middle draws of chains of odd length, which splitting drops.
Ordered without_middles(const Ordered& sorted, int64_t length);
// The p quantile of values in ascending order (type 7).
double sorted_quantile(std::span<const double> sorted, double p);

}  // namespace adit::diagnostics
