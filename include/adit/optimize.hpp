// The highest point of a model's log density and what follows from it, log densities at points, and what a
// model computes of draws that were made earlier.
//
//   Optimum mode = optimize(model, {.jacobian = true});
//   Laplace approximation = laplace_draws(model, mode, {.draws = 1000});
//
// Everything here is computed in f64; a device without it leaves it to the CPU.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <adit/draws.hpp>
#include <adit/model.hpp>

#pragma GCC visibility push(default)
namespace adit {

// Constrained values by variable, in row-major order.
using NamedValues = std::map<std::string, std::vector<double>>;

enum class OptimizeAlgorithm : uint8_t { lbfgs, bfgs, newton };

struct OptimizeStep {
  int64_t iteration = 0, evaluations = 0;
  double log_density = 0, change = 0;  // change: length of the step to here
  double gradient = 0, alpha = 0;      // length of the gradient; what the direction was scaled by
};

struct OptimizeOptions {
  OptimizeAlgorithm algorithm = OptimizeAlgorithm::lbfgs;
  // false: the maximum of the density on the constrained scale (the posterior mode, or maximum likelihood
  // where priors are flat). true: of the density that is sampled, with the Jacobians of constraints.
  bool jacobian = false;
  int64_t iterations = 2000;  // at most
  // The search ends where one of these holds; the relative ones count in units of 2^-52.
  double tol_obj = 1e-12, tol_rel_obj = 1e4, tol_grad = 1e-8, tol_rel_grad = 1e7, tol_param = 1e-8;
  double init_alpha = 1e-3;  // of the first step
  int64_t history_size = 5;  // steps that L-BFGS remembers
  uint64_t seed = 1;         // of the start, and of random numbers in generated quantities
  double init_radius = 2;    // 0: the start is zero
  NamedValues init{};        // what is left out is random
  std::string device{};      // "": the best
  bool trace = false;        // keep every point
  std::function<void(const OptimizeStep&)> on_step{};
  std::function<bool()> should_stop{};
};

struct Optimum {
  std::string model, device;
  std::vector<double> point, gradient;  // unconstrained
  double log_density = 0;               // without Jacobians unless `jacobian`
  bool jacobian = false;
  bool converged = false;
  bool unbounded = false;  // the log density was seen to grow without end
  std::string why;         // the search ended, in words
  int64_t iterations = 0, evaluations = 0;
  uint64_t seed = 1;
  // One draw each: parameters, what is deterministic, generated quantities.
  std::vector<DrawsVariable> variables;
  std::vector<OptimizeStep> steps;  // where a trace was asked for, with the start
  std::vector<double> trace;        // [steps, size()]
  double seconds = 0;
};

// Throws where the model has no parameter, or no start has a finite log density. A search that finds no
// maximum throws nothing: see `converged` and `why`.
Optimum optimize(const Model& model, const OptimizeOptions& options = {});

// Where a search with these options starts.
std::vector<double> start_point(const Model& model, const OptimizeOptions& options = {});

struct LaplaceOptions {
  int64_t draws = 1000;
  uint64_t seed = 1;
  bool jacobian = true;  // as the mode was found
  std::string device{};
};
struct Laplace {
  Draws draws;                  // one chain; draws.stats.lp has the log densities of the model
  std::vector<double> log_q;    // of the approximation, less those of its own constant
  std::vector<double> hessian;  // of the negative log density at the mode, row-major
};
// Draws of the normal distribution with the mode and the curvature of the log density there. Throws where the
// density is not curved downwards in every direction.
Laplace laplace_draws(const Model& model, const Optimum& mode, const LaplaceOptions& options = {});
// A point as a mode, for those that were found elsewhere.
Optimum optimum_at(const Model& model, const std::vector<double>& point, bool jacobian,
                   const std::string& device = {});

struct LogDensities {
  std::vector<double> values;     // one a point
  std::vector<double> gradients;  // [points, size()]
};
// points: [count, size()], unconstrained.
LogDensities log_densities(const Model& model, const std::vector<double>& points, bool jacobian = true,
                           const std::string& device = {});

// Every variable's values at `count` points, one point after the other, to points [count, size()]. Throws
// where one is missing or lies outside of its constraint.
std::vector<double> unconstrain(const Model& model, const NamedValues& values, int64_t count = 1,
                                const std::string& device = {});
// What the numbers of a point are called, counted from 1: "mu", "theta.1", ... where a variable has as many
// as its value has elements, by their places in it.
std::vector<std::string> unconstrained_names(const Model& model);
// The other way: parameters, what is deterministic, generated quantities. `chains` of equally many points
// number the random numbers of generated quantities, as those of a run are.
std::vector<DrawsVariable> constrain(const Model& model, const std::vector<double>& points,
                                     int64_t chains = 1, uint64_t seed = 1, const std::string& device = {});

// Draws of the model's parameters (others among them are left out), with what the model computes of them.
Draws generate_quantities(const Model& model, const Draws& fitted, uint64_t seed = 1,
                          const std::string& device = {});

}  // namespace adit
#pragma GCC visibility pop
