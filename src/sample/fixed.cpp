// Draws without a sampler: parameters stay where their chain starts, and what is generated is drawn anew.
#include <chrono>
#include <fmt/format.h>

#include <adit/sample.hpp>

#include "sample/collect.hpp"
#include "sample/options.hpp"
#include "sample/predictive.hpp"

namespace adit {

using namespace sampling;
using stats::ModelState;

namespace {

void check_fixed(const SampleOptions& options) {
  for (const auto& [name, number] : {std::pair{"chains", options.chains}, std::pair{"draws", options.draws}})
    if (number < 1 || number >= int64_t{1} << 31)
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[sample_fixed] {}: expected 1 to 2^31 - 1, got {}", name, number));
}

// Values at a chain's start, as often as it has draws.
void add_fixed(const ModelState& model, const std::vector<std::vector<double>>& starts, int64_t draws,
               const std::shared_ptr<Device>& device, std::vector<DrawsVariable>& variables) {
  Tensors graphs;
  for (const auto& variable : model.variables) {
    graphs.push_back(variable.value);
    variables.push_back({variable.name, variable.shape, variable.dims, {}});
  }
  for (const auto& deterministic : model.deterministics) {
    graphs.push_back(deterministic.value);
    variables.push_back({deterministic.name, deterministic.shape, deterministic.dims, {}});
  }
  for (const std::vector<double>& start : starts) {
    const Tensor u = start.empty() ? Tensor() : tensor(start, {std::ssize(start)}, device);
    const Tensors values = stats::at_point(model, graphs, u);
    eval(values);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto numbers = as_type(values[i], DType::f64).to_vector<double>();
      for (int64_t draw = 0; draw < draws; ++draw)
        variables[i].values.insert(variables[i].values.end(), numbers.begin(), numbers.end());
    }
  }
}

}  // namespace

Draws sample_fixed(const Model& of, const SampleOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const ModelState& model = stats::state_of(of);
  check_fixed(options);
  const auto asked = Device::open(options.device);
  const auto device = asked->limits().float64 ? asked : Device::open("cpu");
  std::vector<std::vector<double>> starts;
  std::vector<double> points;
  for (int64_t c = 0; c < options.chains; ++c) {
    starts.push_back(model.size > 0 ? start_point(model, options, c) : std::vector<double>());
    for (int64_t draw = 0; draw < options.draws; ++draw)
      points.insert(points.end(), starts.back().begin(), starts.back().end());
  }
  Draws draws;
  draws.model = model.name;
  draws.chains = options.chains;
  draws.draws = options.draws;
  draws.thin = options.thin;
  draws.seed = options.seed;
  draws.device = device->info().id;
  draws.layout = "fixed";
  draws.inits = options.init.empty() ? fmt::format("{}", options.init_radius) : "values";
  add_fixed(model, starts, options.draws, device, draws.variables);
  if (model.size > 0)
    add_generated(model, points, options.first_chain, options.chains, options.seed, device, draws.variables);
  else
    add_generated_of_nothing(model, options.first_chain, options.chains, options.draws, options.seed, device,
                             draws.variables);
  draws.observed = observed_of(model);
  draws.coordinates = coordinates_of(model);
  draws.seconds.total = draws.seconds.sampling =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return draws;
}

}  // namespace adit
