#include "sample/collect.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "nuts/layout.hpp"

namespace adit::sampling {

int64_t block_of_points(int64_t count, int64_t width, int64_t most) {
  if (count == 0) return 0;
  const int64_t at_once = std::clamp<int64_t>(numbers_at_once / width, 1, most);
  const int64_t blocks = (count + at_once - 1) / at_once;
  return (count + blocks - 1) / blocks;
}

Tensor blank(DType type, const Shape& shape, const std::shared_ptr<Device>& device) {
  const uint64_t bytes = static_cast<uint64_t>(element_count(shape)) * size_of(type);
  return from_buffer(type, shape, device->allocate(bytes), device);
}

namespace {

int64_t width_of(const stats::ModelState& model, const Tensors& graphs) {
  int64_t width = model.size;
  for (const Tensor& graph : graphs) width += graph.size();
  return width;
}

// What is not in the points already: variables that are transformed, and what is computed of them.
Tensors transformed(const stats::ModelState& model) {
  Tensors graphs;
  for (const auto& variable : model.variables)
    if (!variable.constraint.is_identity) graphs.push_back(variable.value);
  for (const auto& deterministic : model.deterministics) graphs.push_back(deterministic.value);
  return graphs;
}

}  // namespace

std::vector<std::vector<double>> values_at(const stats::ModelState& model, const Tensors& graphs,
                                           const std::vector<double>& points, int64_t count,
                                           const std::shared_ptr<Device>& device) {
  std::vector<std::vector<double>> values(graphs.size());
  for (size_t i = 0; i < graphs.size(); ++i) values[i].reserve(static_cast<size_t>(count * graphs[i].size()));
  const int64_t block = block_of_points(count, width_of(model, graphs));
  for (int64_t next = 0; next < count; next += block) {
    const int64_t first = std::min(next, count - block);
    const std::span part(points.data() + first * model.size, static_cast<size_t>(block * model.size));
    const Tensors results = stats::at_points(model, graphs, tensor(part, {block, model.size}, device));
    eval(results);
    for (size_t i = 0; i < graphs.size(); ++i) {
      const auto numbers = as_type(results[i], DType::f64).to_vector<double>();
      const int64_t known = (next - first) * graphs[i].size();
      values[i].insert(values[i].end(), numbers.begin() + known, numbers.end());
    }
  }
  return values;
}

void prepare_values(const stats::ModelState& model, const Tensors& graphs, int64_t count,
                    const std::shared_ptr<Device>& device) {
  if (count == 0 || graphs.empty()) return;
  const int64_t block = block_of_points(count, width_of(model, graphs));
  prepare(stats::at_points(model, graphs, blank(DType::f64, {block, model.size}, device)));
}

void prepare_collection(const stats::ModelState& model, int64_t draws,
                        const std::shared_ptr<Device>& device) {
  prepare_values(model, transformed(model), draws, device);
}

std::vector<double> collect_draws(const stats::ModelState& model, std::vector<double> rows,
                                  int64_t stats_a_row, double lp_constant,
                                  const std::shared_ptr<Device>& device,
                                  std::vector<DrawsVariable>& variables, SampleStats& stats) {
  const auto size = static_cast<size_t>(model.size), width = size + static_cast<size_t>(stats_a_row);
  const size_t count = rows.size() / width;
  std::vector<double>* const columns[] = {&stats.lp,         &stats.accept_stat, &stats.step_size,
                                          &stats.tree_depth, &stats.n_leapfrog,  &stats.divergent,
                                          &stats.energy};
  for (size_t s = 0; s < std::size(columns); ++s) {
    columns[s]->resize(count);
    for (size_t r = 0; r < count; ++r) (*columns[s])[r] = rows[r * width + s];
  }
  for (size_t r = 0; r < count; ++r) {
    const double origin = lp_constant + (stats_a_row > stats_count ? rows[r * width + stats_count] : 0);
    stats.lp[r] += origin;
    stats.energy[r] -= origin;
  }
  // The points close up in place of the rows, which may be most of the memory.
  std::vector<double> points = std::move(rows);
  for (size_t r = 0; r < count; ++r)
    std::copy_n(points.begin() + static_cast<int64_t>(r * width) + stats_a_row, size,
                points.begin() + static_cast<int64_t>(r * size));
  points.resize(count * size);

  const Tensors graphs = transformed(model);
  std::vector<DrawsVariable*> targets;
  variables.reserve(model.variables.size() + model.deterministics.size());
  for (const auto& variable : model.variables) {
    DrawsVariable& to =
        variables.emplace_back(DrawsVariable{variable.name, variable.shape, variable.dims, {}});
    if (!variable.constraint.is_identity) {
      targets.push_back(&to);
      continue;
    }
    to.values.resize(count * static_cast<size_t>(variable.size));
    for (size_t r = 0; r < count; ++r)
      std::copy_n(points.begin() + static_cast<int64_t>(r * size) + variable.offset, variable.size,
                  to.values.begin() + static_cast<int64_t>(r) * variable.size);
  }
  for (const auto& deterministic : model.deterministics)
    targets.push_back(&variables.emplace_back(
        DrawsVariable{deterministic.name, deterministic.shape, deterministic.dims, {}}));
  if (graphs.empty()) return points;
  auto values = values_at(model, graphs, points, static_cast<int64_t>(count), device);
  for (size_t i = 0; i < targets.size(); ++i) targets[i]->values = std::move(values[i]);
  return points;
}

std::string place_words(const stats::ModelState& model, const std::vector<double>& point) {
  constexpr size_t most_variables = 6;
  constexpr int64_t most_elements = 3;
  const size_t told = std::min(most_variables, model.variables.size());
  Tensors graphs;
  for (size_t i = 0; i < told; ++i) graphs.push_back(model.variables[i].value);
  const Tensors values = stats::at_point(model, graphs, tensor(point));
  std::string words;
  for (size_t i = 0; i < told; ++i) {
    const auto numbers = as_type(values[i], DType::f64).to_vector<double>();
    const auto& variable = model.variables[i];
    for (int64_t e = 0; e < std::min(most_elements, std::ssize(numbers)); ++e)
      words += fmt::format("{}{} = {:.4g}", words.empty() ? "" : ", ",
                           element_name(variable.name, variable.shape, e), numbers[static_cast<size_t>(e)]);
    if (std::ssize(numbers) > most_elements) words += ", ...";
  }
  return told < model.variables.size() ? words + ", ..." : words;
}

std::vector<ObservedVariable> observed_of(const stats::ModelState& model) {
  Tensors graphs;
  for (const auto& observation : model.observations) graphs.push_back(observation.value);
  const Tensors values = stats::at_point(model, graphs, {});
  std::vector<ObservedVariable> observed;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& from = model.observations[i];
    observed.push_back(
        {from.name, from.shape, from.dims, as_type(values[i], DType::f64).to_vector<double>()});
  }
  return observed;
}

}  // namespace adit::sampling
