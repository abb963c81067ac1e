// Dormand and Prince's pair of orders 5 and 4 (1980), whose last stage is the next step's first one.
#include <algorithm>

#include "stan/ode_steps.hpp"

namespace adit::stan {

Tensor beside_states(const Tensor& of_lane, const Tensor& states) {
  return states.rank() > 1 ? expand_dims(of_lane, 1) : of_lane;
}

Tensor error_of(const Tensor& error, const Tensor& y, const Tensor& next, const OdeOptions& options,
                const Tolerances& most) {
  const Tensor allowed = maximum(abs(y), abs(next)) * std::min(options.relative, most.relative) +
                         std::min(options.absolute, most.absolute);
  return reduce_max(abs(stop_gradient(error)) / stop_gradient(allowed), {-1});
}

// A stage waits for the slope before it; that comes last in its point, as one multiplication and addition.
Attempt explicit_step(const Derivative& f, const Tensor& t, const Tensor& y, const Tensor& k1,
                      const Tensor& h, const OdeOptions& options) {
  const Tensor step = beside_states(h, y);
  const auto point = [&](const Tensor& sum, double last, const Tensor& slope) {
    return (y + step * sum) + (step * last) * slope;
  };
  const Tensor k2 = f(t + h * 0.2, y + (step * 0.2) * k1);
  const Tensor k3 = f(t + h * 0.3, point(k1 * (3.0 / 40), 9.0 / 40, k2));
  const Tensor k4 = f(t + h * 0.8, point(k1 * (44.0 / 45) + k2 * (-56.0 / 15), 32.0 / 9, k3));
  const Tensor k5 =
      f(t + h * (8.0 / 9),
        point(k1 * (19372.0 / 6561) + k2 * (-25360.0 / 2187) + k3 * (64448.0 / 6561), -212.0 / 729, k4));
  const Tensor last =
      point(k1 * (9017.0 / 3168) + k2 * (-355.0 / 33) + k3 * (46732.0 / 5247) + k4 * (49.0 / 176),
            -5103.0 / 18656, k5);
  const Tensor k6 = f(t + h, last);
  const Tensor next = point(
      k1 * (35.0 / 384) + k3 * (500.0 / 1113) + k4 * (125.0 / 192) + k5 * (-2187.0 / 6784), 11.0 / 84, k6);
  const Tensor k7 = f(t + h, next);
  const Tensor error = step * (k1 * (71.0 / 57600) + k3 * (-71.0 / 16695) + k4 * (71.0 / 1920) +
                               k5 * (-17253.0 / 339200) + k6 * (22.0 / 525) + k7 * (-1.0 / 40));
  Tensor speed;
  if (options.may_be_stiff)  // by two points of the same time
    speed = stop_gradient(h * reduce_max(abs(k7 - k6), {-1}) / reduce_max(abs(next - last), {-1}));
  return {next, k7, error_of(error, y, next, options, of_explicit_steps), speed};
}

}  // namespace adit::stan
