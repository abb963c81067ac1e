// From time to time, with steps as long as the error allows.
#include <algorithm>
#include <cmath>

#include <adit/control.hpp>

#include "graph/bounded_loops.hpp"
#include "stan/ode_steps.hpp"

namespace adit::stan {

namespace {

Tensor number(double x) { return full({}, x, DType::f64); }

// An explicit step whose speed is above this one is as long as its stability allows (the pair's reaches to
// 3.3). After so many of them, those that were not counted at a quarter, steps are implicit ones.
constexpr double stable_speed = 2.5, most_stiff_steps = 8;

// What goes from step to step. `stiff` is there where steps may become implicit.
struct Course {
  Tensor t, y, slope, length;
  Tensor tries;  // that are left until the next time
  Tensor stiff;  // how many steps were as long as stability allows
};

Tensors list_of(const Course& c) {
  Tensors list{c.t, c.y, c.slope, c.length, c.tries};
  if (c.stiff) list.push_back(c.stiff);
  return list;
}

Course course_of(const Tensors& s) { return {s[0], s[1], s[2], s[3], s[4], s.size() > 5 ? s[5] : Tensor()}; }

class Solver {
 public:
  Solver(const Derivative& f, const OdeOptions& options, bool in_lanes)
      : f_(f), options_(options), in_lanes_(in_lanes) {}

  // To the time `end`: by explicit steps until they are stiff, and then by implicit ones.
  Tensors run(const Tensors& start, const Tensor& end) const {
    const Tensors by_explicit = loop(start, end, false);
    return options_.may_be_stiff ? loop(by_explicit, end, true) : by_explicit;
  }

 private:
  Tensors loop(const Tensors& start, const Tensor& end, bool is_implicit) const {
    const auto goes = [&, is_implicit](const Course& c) {
      return c.stiff && !is_implicit ? logical_and(c.t < end, c.stiff < most_stiff_steps) : c.t < end;
    };
    return while_loop(
        [&](const Tensors& s) { return in_lanes_ ? any(goes(course_of(s))) : goes(course_of(s)); },
        [&](const Tensors& s) {
          const Course course = course_of(s);
          return list_of(tried(course, end, in_lanes_ ? goes(course) : Tensor(), is_implicit));
        },
        start);
  }

  // One try; lanes that do not go wait for the others.
  Course tried(const Course& c, const Tensor& end, const Tensor& goes, bool is_implicit) const {
    const Tensor left = end - c.t, h = minimum(c.length, left);
    const Attempt step = (is_implicit ? implicit_step : explicit_step)(f_, c.t, c.y, c.slope, h, options_);
    // A step that leaves the numbers is made shorter; where that does not help, or there were too many, the
    // interval ends without numbers, and there is no density.
    const Tensor is_none = logical_not(step.error <= 1e300), is_late = c.tries < 1.0;
    const Tensor failed = logical_or(is_late, logical_and(is_none, h <= left * 1e-9));
    Tensor taken = logical_or(step.error <= 1.0, failed), stays = failed;
    if (goes) taken = logical_and(taken, goes), stays = logical_or(failed, logical_not(goes));
    const Tensor factor = select(is_none, number(0.05), factor_of(step.error, is_implicit));
    const Tensor longer = select(logical_and(taken, h < c.length), maximum(c.length, h * factor), h * factor);
    const Tensor reached = select(logical_or(failed, h >= left), end, c.t + h);
    const Tensor state = select(beside_states(failed, c.y), number(NAN), step.y);
    Course next{select(taken, reached, c.t),
                select(beside_states(taken, c.y), state, c.y),
                select(beside_states(taken, c.y), step.slope, c.slope),
                stop_gradient(select(stays, c.length, longer)),
                c.tries - 1.0,
                c.stiff};
    if (c.stiff && !is_implicit) next.stiff = counted(c.stiff, taken, step.speed);
    return next;
  }

  // How much longer the next try may be: the error to the power of one over its order, -1/4 or -1/5. The
  // latter by a line that is at most a twentieth below it where steps grow, and by the former where they
  // shrink: a step waits for this, and a power takes as long as some of its stages.
  static Tensor factor_of(const Tensor& error, bool is_implicit) {
    const Tensor power = 1.0 / sqrt(sqrt(maximum(error, number(1e-10))));
    const Tensor wanted = is_implicit ? power : minimum(power, power * 0.655 + 0.345);
    return clip(wanted * 0.9, number(0.2), number(5));
  }

  static Tensor counted(const Tensor& stiff, const Tensor& taken, const Tensor& speed) {
    const Tensor next = select(speed > stable_speed, stiff + 1.0, maximum(stiff - 0.25, number(0)));
    return stop_gradient(select(taken, next, stiff));
  }

  const Derivative& f_;
  const OdeOptions& options_;
  bool in_lanes_;
};

}  // namespace

double step_limit(const OdeOptions& options) {
  const double tighter = std::max(
      {1.0, options.relative / of_explicit_steps.relative, options.absolute / of_explicit_steps.absolute});
  const double order = options.may_be_stiff ? 4 : 5;
  return std::min(std::ceil(options.most_steps * std::pow(tighter, 1 / order)),
                  static_cast<double>(graph::most_rounds - 1));
}

Tensor integrate(const std::function<Tensor(const Tensor& t, const Tensor& y)>& f, const Tensor& y0,
                 const Tensor& t0, const Tensor& times, const OdeOptions& options) {
  const bool in_lanes = y0.rank() > 1;
  const Solver solver(f, options, in_lanes);
  const Tensor by_time = in_lanes ? transpose(times, {1, 0}) : times;
  const Tensor tries = broadcast_to(number(step_limit(options)), t0.shape());
  const auto interval = [&](const Tensors& carry, const Tensors& slices) {
    const Tensor end = slices[0];
    Tensors start = carry;
    start[4] = tries;
    const Tensors last = solver.run(start, end);
    return Step{last, {last[1]}};
  };
  const Tensor start = as_type(t0, DType::f64);
  const Tensor first = reshape(
      slice(by_time, Dims::filled(by_time.rank(), 0), in_lanes ? Shape{1, by_time.shape()[1]} : Shape{1}),
      t0.shape());
  Course initial{start, y0, f(start, y0), stop_gradient((first - t0) * 0.1), tries, {}};
  if (options.may_be_stiff) initial.stiff = broadcast_to(number(0), t0.shape());
  const Tensor states = scan(interval, list_of(initial), {by_time}, by_time.shape()[0]).outputs[0];
  return in_lanes ? transpose(states, {1, 0, 2}) : states;
}

}  // namespace adit::stan
