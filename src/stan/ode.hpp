// Ordinary differential equations inside of a graph.
#pragma once

#include <functional>

#include <adit/ops.hpp>

namespace adit::stan {

// What is asked for is an upper bound: where states fall far below the absolute tolerance a density that
// takes their logarithm would be rough, and a sampler's steps with it (Stan holds the sensitivities to the
// tolerances too). With a relative one of 1e-6 a leapfrog takes half the time, but at an acceptance of 0.99
// steps of some chains (lotka_volterra) shrink without end: the roughness is seen there.
// Of implicit steps the estimate is that of one order less, and the state ten times as good as it says.
struct Tolerances {
  double relative = 1e-8, absolute = 1e-10;
};
constexpr Tolerances of_explicit_steps{}, of_implicit_steps{1e-7, 1e-9};

struct OdeOptions {
  double relative = 1e-6, absolute = 1e-6;
  bool may_be_stiff = false;  // implicit steps from where explicit ones are held short by what has died away
  double most_steps = 1e6;    // from one time to the next; what takes more has no numbers
};

// How many steps are made from one time to the next: in proportion to the tighter tolerances, as far as a
// density keeps the states of a loop.
double step_limit(const OdeOptions& options);

// States at `times` [T], [T, n], of dy/dt = f(t, y) from y [n] at t0; where all lead with an axis of lanes,
// of each lane's own. Times must not fall. The steps are as long as the estimated error allows; the
// derivative is that of the steps that were made. A state that is not reached within the limit is no number,
// nor are those after it.
Tensor integrate(const std::function<Tensor(const Tensor& t, const Tensor& y)>& f, const Tensor& y,
                 const Tensor& t0, const Tensor& times, const OdeOptions& options);

}  // namespace adit::stan
