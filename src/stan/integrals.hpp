// Integrals of one variable inside of a graph.
#pragma once

#include <functional>

#include <adit/ops.hpp>

namespace adit::stan {

struct IntegralOptions {
  double relative = 0x1p-26, absolute = 0;  // of the integral of the absolute value, and of the error itself
  int refinements = 15;
};

// Of each lane its own where bounds lead with an axis of lanes.
struct Interval {
  Tensor from, to;                             // where they are finite
  bool ends_low = true, ends_high = true;      // whether they are
  bool moves_low = false, moves_high = false;  // whether they have derivatives
};

// f at x, and how far x is from the nearer bound: from - x or to - x, NaN where the other end is infinite.
using Integrand = std::function<Tensor(const Tensor& x, const Tensor& to_bound)>;

// By Takahasi and Mori's rules at half the distance from time to time, until two of them agree. What does not
// reach the tolerances is no number. Derivatives are those of f and, at the bounds, its values.
Tensor integral_of(const Integrand& f, const Interval& interval, const IntegralOptions& options);

}  // namespace adit::stan
