// The search for a lower point along a line (strong Wolfe conditions; Nocedal and Wright, chapter 3).
#pragma once

#include <functional>

#include "optimize/log_density.hpp"

namespace adit::optimizing {

// What is minimised: the negative log density.
using Objective = std::function<Evaluated(std::vector<double>)>;

enum class LineEnd : uint8_t { found, no_progress, unbounded };
struct LineResult {
  LineEnd end = LineEnd::no_progress;
  double alpha = 0;
  Evaluated at;
};
LineResult search_line(const Objective& objective, const Evaluated& from,
                       const std::vector<double>& direction, double alpha);

double dot_of(const std::vector<double>& a, const std::vector<double>& b);
double length_of(const std::vector<double>& a);

}  // namespace adit::optimizing
