// One step of a solver of differential equations.
#pragma once

#include "stan/ode.hpp"

namespace adit::stan {

using Derivative = std::function<Tensor(const Tensor& t, const Tensor& y)>;

struct Attempt {
  Tensor y, slope;  // after the step
  Tensor error;     // the largest, in units of what is allowed
  Tensor speed;     // of an explicit step: its length in units of how fast slopes change with states
};

// What leads with an axis of lanes beside states [lanes, n]: one number for all of a lane's.
Tensor beside_states(const Tensor& of_lane, const Tensor& states);

// The largest error of a step from y to next, in units of what is allowed.
Tensor error_of(const Tensor& error, const Tensor& y, const Tensor& next, const OdeOptions& options,
                const Tolerances& most);

// Dormand and Prince's pair of orders 5 and 4.
Attempt explicit_step(const Derivative& f, const Tensor& t, const Tensor& y, const Tensor& slope,
                      const Tensor& h, const OdeOptions& options);
// Hairer and Wanner's RODAS, of orders 4 and 3: steps as long as the solution is smooth, however fast
// what has died away would.
Attempt implicit_step(const Derivative& f, const Tensor& t, const Tensor& y, const Tensor& slope,
                      const Tensor& h, const OdeOptions& options);

}  // namespace adit::stan
