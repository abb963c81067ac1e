// Ordinary differential equations inside of a graph.
#pragma once

#include <functional>

#include <adit/ops.hpp>

namespace adit::stan {

// What is asked for is an upper bound: where states fall far below the absolute tolerance a density that
// takes their logarithm would be rough, and a sampler's steps with it (Stan holds the sensitivities to the
// tolerances too). With a relative one of 1e-6 a leapfrog takes half the time, but at an acceptance of 0.99
// steps of some chains (lotka_volterra) shrink without end: the roughness is seen there.
constexpr double most_relative = 1e-8, most_absolute = 1e-10;

struct OdeOptions {
  double relative = 1e-6, absolute = 1e-6;
  bool is_stiff = false;
  double most_steps = 1e6;  // from one time to the next; what takes more has no numbers
};

// States at `times` [T], [T, n], of dy/dt = f(t, y) from y [n] at t0; where all lead with an axis of lanes,
// of each lane's own (not where it is stiff). Times must not fall. The steps are as long as the estimated
// error allows; the derivative is that of the steps that were made. A state that is not reached in
// `most_steps` is no number, nor are those after it.
Tensor integrate(const std::function<Tensor(const Tensor& t, const Tensor& y)>& f, const Tensor& y,
                 const Tensor& t0, const Tensor& times, const OdeOptions& options);

}  // namespace adit::stan
