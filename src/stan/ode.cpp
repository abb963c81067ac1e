// Dormand and Prince's pair of orders 5 and 4 (1980), whose last stage is the next step's first one.
#include <algorithm>
#include <cmath>

#include <adit/control.hpp>
#include <adit/transform.hpp>

#include "stan/ode_steps.hpp"

namespace adit::stan {

namespace {

Tensor number(double x) { return full({}, x, DType::f64); }

// Steps here are held to tighter tolerances than those that were asked for; the limit was meant for those.
double steps_of(const OdeOptions& options) {
  const double tighter = std::max({1.0, options.relative / most_relative, options.absolute / most_absolute});
  return std::ceil(options.most_steps * std::pow(tighter, options.is_stiff ? 0.25 : 0.2));
}

}  // namespace

Tensor error_of(const Tensor& error, const Tensor& y, const Tensor& next, const OdeOptions& options) {
  const Tensor allowed = maximum(abs(y), abs(next)) * std::min(options.relative, most_relative) +
                         std::min(options.absolute, most_absolute);
  return reduce_max(abs(stop_gradient(error)) / stop_gradient(allowed), {-1});
}

Attempt explicit_step(const Derivative& f, const Tensor& t, const Tensor& y, const Tensor& k1,
                      const Tensor& h, const OdeOptions& options) {
  const Tensor step = y.rank() > 1 ? expand_dims(h, 1) : h;  // for each state of a lane
  const Tensor k2 = f(t + h * 0.2, y + step * (k1 * 0.2));
  const Tensor k3 = f(t + h * 0.3, y + step * (k1 * (3.0 / 40) + k2 * (9.0 / 40)));
  const Tensor k4 = f(t + h * 0.8, y + step * (k1 * (44.0 / 45) + k2 * (-56.0 / 15) + k3 * (32.0 / 9)));
  const Tensor k5 = f(t + h * (8.0 / 9), y + step * (k1 * (19372.0 / 6561) + k2 * (-25360.0 / 2187) +
                                                     k3 * (64448.0 / 6561) + k4 * (-212.0 / 729)));
  const Tensor k6 = f(t + h, y + step * (k1 * (9017.0 / 3168) + k2 * (-355.0 / 33) + k3 * (46732.0 / 5247) +
                                         k4 * (49.0 / 176) + k5 * (-5103.0 / 18656)));
  const Tensor next = y + step * (k1 * (35.0 / 384) + k3 * (500.0 / 1113) + k4 * (125.0 / 192) +
                                  k5 * (-2187.0 / 6784) + k6 * (11.0 / 84));
  const Tensor k7 = f(t + h, next);
  const Tensor error = step * (k1 * (71.0 / 57600) + k3 * (-71.0 / 16695) + k4 * (71.0 / 1920) +
                               k5 * (-17253.0 / 339200) + k6 * (22.0 / 525) + k7 * (-1.0 / 40));
  return {next, k7, error_of(error, y, next, options)};
}

Tensor integrate(const std::function<Tensor(const Tensor& t, const Tensor& y)>& f, const Tensor& y0,
                 const Tensor& t0, const Tensor& times, const OdeOptions& options) {
  const bool in_lanes = y0.rank() > 1;
  const Tensor by_time = in_lanes ? transpose(times, {1, 0}) : times;
  const int64_t count = by_time.shape()[0];
  const auto attempt = options.is_stiff ? implicit_step : explicit_step;
  const double exponent = options.is_stiff ? -0.25 : -0.2;  // one over the order of the error
  const auto of_states = [&](const Tensor& of_lane) { return in_lanes ? expand_dims(of_lane, 1) : of_lane; };
  const Tensor steps = broadcast_to(number(steps_of(options)), t0.shape());
  // From one time to the next; lanes that are there wait for the others.
  const auto interval = [&](const Tensors& carry, const Tensors& slices) {
    const Tensor end = slices[0];
    const Tensors last = while_loop(
        [&](const Tensors& s) { return in_lanes ? any(s[0] < end) : s[0] < end; },
        [&](const Tensors& s) -> Tensors {  // time, state, slope, length of a step, steps left
          const Tensor &t = s[0], &y = s[1], &slope = s[2], &length = s[3];
          const Tensor left = end - t, h = minimum(length, left);
          const Attempt step = attempt(f, t, y, slope, h, options);
          // What is no number ends the interval: the density is none then.
          const Tensor is_late = s[4] < 1.0;
          const Tensor failed = logical_or(logical_not(step.error <= 1e300), is_late);
          Tensor taken = logical_or(step.error <= 1.0, failed), changes = failed;
          if (in_lanes) taken = logical_and(taken, left > 0.0), changes = logical_or(failed, left <= 0.0);
          const Tensor factor =
              clip(pow(maximum(step.error, number(1e-10)), number(exponent)) * 0.9, number(0.2), number(5));
          const Tensor reached = select(logical_or(failed, h >= left), end, t + h);
          const Tensor longer =
              select(logical_and(taken, h < length), maximum(length, h * factor), h * factor);
          const Tensor next = select(of_states(is_late), number(NAN), step.y);
          return {select(taken, reached, t), select(of_states(taken), next, y),
                  select(of_states(taken), step.slope, slope), stop_gradient(select(changes, length, longer)),
                  s[4] - as_type(taken, DType::f64)};
        },
        {carry[0], carry[1], carry[2], carry[3], steps});
    return Step{{last[0], last[1], last[2], last[3]}, {last[1]}};
  };
  const Tensor start = as_type(t0, DType::f64);
  const Tensor first = reshape(
      slice(by_time, Dims::filled(by_time.rank(), 0), in_lanes ? Shape{1, by_time.shape()[1]} : Shape{1}),
      t0.shape());
  const Tensors initial{start, y0, f(start, y0), stop_gradient((first - t0) * 0.1)};
  const Tensor states = scan(interval, initial, {by_time}, count).outputs[0];
  return in_lanes ? transpose(states, {1, 0, 2}) : states;
}

}  // namespace adit::stan
