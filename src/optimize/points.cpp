// Points and what a model has at them: log densities, constrained values, generated quantities.
#include <algorithm>
#include <fmt/format.h>

#include "optimize/log_density.hpp"
#include "optimize/unconstrain.hpp"
#include "sample/collect.hpp"
#include "sample/predictive.hpp"
#include "stats/by_columns.hpp"

namespace adit {

using namespace optimizing;
using stats::ModelState;

namespace {

void expect_points(const char* where, const ModelState& model, const std::vector<double>& points) {
  expect_parameters(where, model);
  if (points.size() % static_cast<size_t>(model.size) != 0 || points.empty())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[{}] points: expected rows of {} numbers, as {} has, got {} numbers", where,
                            model.size, model.name, points.size()));
}

// The parameters of the model among the variables of draws.
NamedValues parameters_among(const ModelState& model, const Draws& fitted) {
  NamedValues values;
  for (const stats::ModelVariable& variable : model.variables) {
    const DrawsVariable* found = nullptr;
    for (const auto* list : {&fitted.variables, &fitted.log_likelihood})
      for (const DrawsVariable& one : *list)
        if (!found && one.name == variable.name) found = &one;
    if (!found)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[generate] draws: expected the parameter {} of {}, got none in the draws",
                              variable.name, model.name));
    if (found->shape != variable.shape)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[generate] draws: expected {} of shape {}, got one of shape {}", variable.name,
                              to_string(variable.shape), to_string(found->shape)));
    values[variable.name] = found->values;
  }
  return values;
}

}  // namespace

LogDensities log_densities(const Model& of, const std::vector<double>& points, bool jacobian,
                           const std::string& device) {
  const ModelState& model = stats::state_of(of);
  expect_points("log_densities", model, points);
  const LogDensity density(model, jacobian, open_for_f64(device));
  LogDensities found;
  density.at_many(points, found.values, found.gradients);
  return found;
}

std::vector<double> unconstrain(const Model& of, const NamedValues& values, int64_t count,
                                const std::string& device) {
  const ModelState& model = stats::state_of(of);
  expect_parameters("unconstrain", model);
  if (count < 1)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[unconstrain] count: expected at least 1, got {}", count));
  expect_values(model, values, count, true, "[unconstrain] values");
  std::vector<double> points(static_cast<size_t>(count * model.size));
  Unconstraining how{.where = "[unconstrain] values"};
  if (count > 1) how.row_name = [](int64_t row) { return fmt::format("row {}", row + 1); };
  put_values(model, values, how, open_for_f64(device), points);
  return points;
}

std::vector<std::string> unconstrained_names(const Model& of) {
  std::vector<std::string> names;
  for (const stats::ModelVariable& variable : stats::state_of(of).variables) {
    Shape shape = variable.unconstrained.shape();
    const bool by_columns = stats::is_by_columns(variable.constraint);
    const int64_t columns = by_columns ? shape[shape.size() - 2] : 1, rows = by_columns ? shape.back() : 1;
    if (by_columns) std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
    for (int64_t i = 0; i < variable.size; ++i) {
      const int64_t matrix = i / (rows * columns), row = i % rows, column = i / rows % columns;
      std::string name = element_name("", shape, (matrix * rows + row) * columns + column);  // "[2,1]"
      for (char& c : name)
        if (c == '[' || c == ',') c = '.';
      if (name.ends_with(']')) name.pop_back();
      names.push_back(variable.name + name);
    }
  }
  return names;
}

std::vector<DrawsVariable> constrain(const Model& of, const std::vector<double>& points, int64_t chains,
                                     uint64_t seed, const std::string& device) {
  const ModelState& model = stats::state_of(of);
  expect_points("constrain", model, points);
  const int64_t count = std::ssize(points) / model.size;
  if (chains < 1 || count % chains != 0)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[constrain] chains: expected a divisor of the {} points, got {}", count, chains));
  const auto on = open_for_f64(device);
  Tensors graphs;
  std::vector<DrawsVariable> variables;
  for (const auto& variable : model.variables) {
    graphs.push_back(variable.value);
    variables.push_back({variable.name, variable.shape, variable.dims, {}});
  }
  for (const auto& deterministic : model.deterministics) {
    graphs.push_back(deterministic.value);
    variables.push_back({deterministic.name, deterministic.shape, deterministic.dims, {}});
  }
  auto values = sampling::values_at(model, graphs, points, count, on);
  for (size_t i = 0; i < variables.size(); ++i) variables[i].values = std::move(values[i]);
  sampling::add_generated(model, points, 0, chains, seed, on, variables);
  return variables;
}

Draws generate_quantities(const Model& of, const Draws& fitted, uint64_t seed, const std::string& device) {
  const ModelState& model = stats::state_of(of);
  expect_parameters("generate", model);
  const int64_t count = fitted.chains * fitted.draws;
  if (count < 1) throw Error(ErrorKind::bad_argument, "[generate] draws: expected some, got none");
  const NamedValues values = parameters_among(model, fitted);
  expect_values(model, values, count, true, "[generate] draws");
  std::vector<double> points(static_cast<size_t>(count * model.size));
  const Unconstraining how{
      .where = "[generate] draws", .may_touch_bounds = true, .row_name = [&](int64_t row) {
        return fmt::format("draw {} of chain {}", row % fitted.draws + 1, row / fitted.draws + 1);
      }};
  const auto on = open_for_f64(device);
  put_values(model, values, how, on, points);
  Draws draws = fitted;
  draws.model = model.name;
  draws.seed = seed;
  draws.device = on->info().id;
  draws.log_likelihood.clear();
  draws.posterior_predictive.clear();
  draws.warmup_draws = 0;
  draws.warmup_variables.clear();
  draws.warmup_stats = {};
  draws.observed = sampling::observed_of(model);
  draws.coordinates = sampling::coordinates_of(model);
  draws.variables = constrain(of, points, fitted.chains, seed, device);
  // Parameters are those that were read, digit for digit.
  for (DrawsVariable& variable : draws.variables)
    if (const auto found = values.find(variable.name); found != values.end()) variable.values = found->second;
  return draws;
}

}  // namespace adit
