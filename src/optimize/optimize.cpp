// The search for the highest point.
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <random>

#include "optimize/direction.hpp"
#include "optimize/line_search.hpp"
#include "optimize/unconstrain.hpp"

namespace adit {

using namespace optimizing;
using stats::ModelState;

namespace {

constexpr int most_attempts = 100;
constexpr double epsilon = std::numeric_limits<double>::epsilon();
// Unconstrained numbers beyond these are at the edge of what their variable may be: exp(-100) is 4e-44. A
// search that could not go on is told from one that was there sooner: exp(-20) is 2e-9.
constexpr double edge = 100, edge_of_stuck = 20;

[[noreturn]] void fail_optimize(const char* option, const std::string& message) {
  throw Error(ErrorKind::bad_argument, fmt::format("[optimize] {}: {}", option, message));
}

void check_search(const ModelState& model, const OptimizeOptions& options) {
  expect_parameters("optimize", model);
  const auto at_least = [](const char* option, int64_t value, int64_t least) {
    if (value < least) fail_optimize(option, fmt::format("expected at least {}, got {}", least, value));
  };
  at_least("iterations", options.iterations, 1);
  at_least("history_size", options.history_size, 1);
  const auto number = [](const char* option, double value, bool may_be_zero) {
    if (!std::isfinite(value) || value < 0 || (value == 0 && !may_be_zero))
      fail_optimize(option, fmt::format("expected a number {}, got {}",
                                        may_be_zero ? "of at least 0" : "above 0", value));
  };
  number("tol_obj", options.tol_obj, true);
  number("tol_rel_obj", options.tol_rel_obj, true);
  number("tol_grad", options.tol_grad, true);
  number("tol_rel_grad", options.tol_rel_grad, true);
  number("tol_param", options.tol_param, true);
  number("init_alpha", options.init_alpha, false);
  number("init_radius", options.init_radius, true);
  expect_values(model, options.init, 1, false, "[optimize] init");
}

// The start that was given, with the rest at random until the log density is finite.
Evaluated start_of(const ModelState& model, const OptimizeOptions& options, const LogDensity& density,
                   const Objective& objective) {
  std::mt19937_64 random(options.seed);
  const bool complete = options.init.size() == model.variables.size() || options.init_radius == 0;
  const int attempts = complete ? 1 : most_attempts;
  Evaluated at;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    std::vector<double> point(static_cast<size_t>(model.size));
    for (double& x : point) x = (static_cast<double>(random() >> 11) * 0x1p-53 * 2 - 1) * options.init_radius;
    put_values(model, options.init, {.where = "[optimize] init"}, density.device(), point);
    at = objective(std::move(point));
    if (at.is_finite()) return at;
  }
  std::string odd = density.odd_terms(at.point);
  if (odd.empty()) odd = "its gradient is not";
  fail_optimize("init", fmt::format("expected a start with a finite log density, got none{}: {}",
                                    complete ? "" : fmt::format(" in {} attempts", attempts), odd));
}

// What runs away, in words; "": nothing does.
std::string at_the_edge(const ModelState& model, const std::vector<double>& point, double beyond) {
  for (const stats::ModelVariable& variable : model.variables) {
    // Of these every unconstrained number is a logarithm, or that of odds.
    const std::string& kind = variable.constraint.name;
    if (kind != "lower" && kind != "upper" && kind != "interval") continue;
    for (int64_t i = 0; i < variable.size; ++i)
      if (const double u = point[static_cast<size_t>(variable.offset + i)]; std::abs(u) > beyond)
        return fmt::format("{} runs to the edge of where it may lie ({:g} on the unconstrained scale)",
                           variable.name, u);
  }
  return "";
}

// The element that is furthest out.
std::string furthest(const ModelState& model, const std::vector<double>& point) {
  std::string name;
  double most = -1;
  for (const stats::ModelVariable& variable : model.variables)
    for (int64_t i = 0; i < variable.size; ++i)
      if (const double u = std::abs(point[static_cast<size_t>(variable.offset + i)]); u > most) {
        most = u;
        name = variable.name;
      }
  return name;
}

class Search {
 public:
  Search(const ModelState& model, const OptimizeOptions& options)
      : model_(model),
        options_(options),
        density_(model, options.jacobian, open_for_f64(options.device)),
        direction_(make_direction(options, density_)) {}

  const Evaluated& start() { return at_ = start_of(model_, options_, density_, objective_); }

  Optimum run() {
    start();
    note({0, evaluations_, -at_.value, 0, length_of(at_.gradient), 0});
    if (length_of(at_.gradient) < options_.tol_grad) {
      end(true, "the gradient is zero at the start");
    } else {
      next_ = direction_->from(at_);
      while (!ended_) step();
    }
    return finished();
  }

 private:
  void step() {
    if (iterations_ >= options_.iterations)
      return end(false, fmt::format("the most iterations were made ({})", options_.iterations));
    if (options_.should_stop && options_.should_stop()) return end(false, "it was stopped");
    std::vector<double> direction = next_;
    if (!(dot_of(direction, at_.gradient) < 0)) direction = downhill();
    LineResult line = search_line(objective_, at_, direction, first_alpha(direction));
    if (line.end == LineEnd::unbounded) return run_away(std::move(line.at));
    if (line.end == LineEnd::no_progress) return stuck();
    ++iterations_;
    is_fresh_ = false;
    take(std::move(line));
  }

  // Where nothing is known of the curvature a steep gradient must not lead away from all that is known.
  double first_alpha(const std::vector<double>& direction) const {
    if (!is_fresh_ || options_.algorithm == OptimizeAlgorithm::newton) return 1;
    double longest = 0;
    for (const double x : direction) longest = std::max(longest, std::abs(x));
    return std::min(options_.init_alpha, 1 / longest);
  }

  std::vector<double> downhill() {
    direction_->forget();
    is_fresh_ = true;
    std::vector<double> direction = at_.gradient;
    for (double& x : direction) x = -x;
    return direction;
  }

  void take(LineResult line) {
    std::vector<double> moved = line.at.point, change = line.at.gradient;
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] -= at_.point[i];
      change[i] -= at_.gradient[i];
    }
    const double before = at_.value;
    at_ = std::move(line.at);
    direction_->learn(moved, change);
    next_ = direction_->from(at_);
    note({iterations_, evaluations_, -at_.value, length_of(moved), length_of(at_.gradient), line.alpha});
    judge(before, length_of(moved));
  }

  void judge(double before, double moved) {
    const double change = std::abs(at_.value - before);
    const double size = std::max({std::abs(at_.value), std::abs(before), 1.0});
    if (length_of(at_.gradient) < options_.tol_grad) return end(true, "the gradient is below tol_grad");
    if (direction_->tells_distance() &&
        std::abs(dot_of(next_, at_.gradient)) / std::max(std::abs(at_.value), 1.0) <
            options_.tol_rel_grad * epsilon)
      return end(true, "the gradient is below tol_rel_grad");
    if (change < options_.tol_obj) return end(true, "the log density changed by less than tol_obj");
    if (change / size < options_.tol_rel_obj * epsilon)
      return end(true, "the log density changed by less than tol_rel_obj");
    if (moved < options_.tol_param) end(true, "the parameters changed by less than tol_param");
  }

  // No lower point along the line: once more along the gradient; then it is as low as f64 can tell, or not.
  void stuck() {
    if (direction_->forget()) {
      is_fresh_ = true;
      next_ = downhill();
      return;
    }
    const double promised = std::abs(dot_of(next_, at_.gradient)) / std::max(std::abs(at_.value), 1.0);
    const bool is_low =
        length_of(at_.gradient) < 1e-4 * std::sqrt(static_cast<double>(model_.size)) && promised < 1e-6;
    if (is_low) return end(true, "no higher point can be told in f64");
    is_stuck_ = true;
    end(false, "the line search found no higher point");
  }

  void run_away(Evaluated at) {
    at_ = std::move(at);
    unbounded_ = true;
    end(false, fmt::format("the log density grows without end as {} does: it has no maximum",
                           furthest(model_, at_.point)));
  }

  void end(bool converged, std::string why) {
    ended_ = true;
    const std::string runs = at_the_edge(model_, at_.point, is_stuck_ ? edge_of_stuck : edge);
    converged_ = converged && runs.empty();
    why_ = std::move(why);
    if (runs.empty() || unbounded_) return;
    unbounded_ = true;
    why_ = fmt::format("{}: the log density has no maximum there, or one beyond f64", runs);
  }

  void note(const OptimizeStep& now) {
    if (options_.on_step) options_.on_step(now);
    if (!options_.trace) return;
    steps_.push_back(now);
    trace_.insert(trace_.end(), at_.point.begin(), at_.point.end());
  }

  Optimum finished() {
    Optimum found;
    found.model = model_.name;
    found.device = density_.device()->info().id;
    found.point = at_.point;
    found.gradient = at_.gradient;
    for (double& x : found.gradient) x = -x;
    found.log_density = -at_.value;
    found.jacobian = options_.jacobian;
    found.converged = converged_;
    found.unbounded = unbounded_;
    found.why = why_;
    found.iterations = iterations_;
    found.evaluations = evaluations_;
    found.seed = options_.seed;
    found.steps = std::move(steps_);
    found.trace = std::move(trace_);
    return found;
  }

  const ModelState& model_;
  const OptimizeOptions& options_;
  LogDensity density_;
  std::unique_ptr<Direction> direction_;
  Objective objective_ = [this](std::vector<double> point) {
    ++evaluations_;
    Evaluated at = density_.at(std::move(point));
    at.value = -at.value;
    for (double& x : at.gradient) x = -x;
    return at;
  };
  Evaluated at_;
  std::vector<double> next_;  // the direction from there
  bool is_fresh_ = true;      // nothing is known of the curvature, and so of the length of a step
  bool ended_ = false, converged_ = false, unbounded_ = false, is_stuck_ = false;
  int64_t iterations_ = 0, evaluations_ = 0;
  std::string why_;
  std::vector<OptimizeStep> steps_;
  std::vector<double> trace_;
};

}  // namespace

Optimum optimize(const Model& of, const OptimizeOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const ModelState& model = stats::state_of(of);
  check_search(model, options);
  Optimum found = Search(model, options).run();
  found.variables = constrain(of, found.point, 1, options.seed, options.device);
  found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return found;
}

std::vector<double> start_point(const Model& of, const OptimizeOptions& options) {
  const ModelState& model = stats::state_of(of);
  check_search(model, options);
  return Search(model, options).start().point;
}

Optimum optimum_at(const Model& of, const std::vector<double>& point, bool jacobian,
                   const std::string& device) {
  const ModelState& model = stats::state_of(of);
  expect_parameters("optimum_at", model);
  if (std::ssize(point) != model.size)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[optimum_at] point: expected {} numbers, got {}", model.size, point.size()));
  const LogDensity density(model, jacobian, open_for_f64(device));
  const Evaluated at = density.at(point);
  if (!at.is_finite())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[optimum_at] point: expected a finite log density there, got: {}",
                            density.odd_terms(point)));
  Optimum found;
  found.model = model.name;
  found.device = density.device()->info().id;
  found.point = at.point;
  found.gradient = at.gradient;
  found.log_density = at.value;
  found.jacobian = jacobian;
  found.converged = true;
  found.why = "it was given";
  found.evaluations = 1;
  found.variables = constrain(of, point, 1, 1, device);
  return found;
}

}  // namespace adit
