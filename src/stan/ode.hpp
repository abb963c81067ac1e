// Ordinary differential equations inside of a graph.
#pragma once

#include <functional>

#include <adit/ops.hpp>

namespace adit::stan {

// What is asked for is an upper bound: where states fall far below the absolute tolerance a density that
// takes their logarithm would be rough, and a sampler's steps with it (Stan holds the sensitivities to the
// tolerances too).
constexpr double most_relative = 1e-8, most_absolute = 1e-10;

struct OdeOptions {
  double relative = 1e-6, absolute = 1e-6;
  bool is_stiff = false;
};

// States at `times` [T], [T, n], of dy/dt = f(t, y) from y [n] at t0. Times must not fall. The steps are as
// long as the estimated error allows; the derivative is that of the steps that were made.
Tensor integrate(const std::function<Tensor(const Tensor& t, const Tensor& y)>& f, const Tensor& y,
                 const Tensor& t0, const Tensor& times, const OdeOptions& options);

}  // namespace adit::stan
