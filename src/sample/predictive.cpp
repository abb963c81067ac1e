#include "sample/predictive.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include <adit/random.hpp>

#include "graph/node.hpp"
#include "sample/collect.hpp"
#include "support/hash.hpp"

namespace adit::sampling {

using stats::ModelObservation;
using stats::ModelState;

namespace {

// Draws of chain c have the numbers c * 2^32, c * 2^32 + 1, ...: more chains or more draws change none.
std::vector<uint64_t> numbers_of(int64_t first_chain, int64_t chains, size_t count) {
  std::vector<uint64_t> numbers;
  const uint64_t each = count / static_cast<uint64_t>(chains);
  for (int64_t c = first_chain; c < first_chain + chains; ++c)
    for (uint64_t i = 0; i < each; ++i) numbers.push_back((static_cast<uint64_t>(c) << 32) | i);
  return numbers;
}

// These graphs are of f64; a device without it leaves them to the CPU.
std::shared_ptr<Device> device_of_f64(const std::shared_ptr<Device>& device) {
  return device->limits().float64 ? device : Device::open("cpu");
}

}  // namespace

// --- Points ------------------------------------------------------------------------------------------------

RandomPoints::RandomPoints(uint64_t seed) : seed_(seed), number_(graph::placeholder(DType::u64, {})) {}

Tensor RandomPoints::key(const std::string& name) const {
  return random::fold_in(random::fold_in(random::key(seed_), hash64(name)), number_);
}

namespace {

using MakeInput =
    std::function<stats::PointInput(std::span<const uint64_t> numbers, const std::shared_ptr<Device>&)>;

// What draws hold of the model already, by the placeholder that stands for it.
struct Drawn {
  Tensor placeholder;
  const std::vector<double>* values = nullptr;
};

stats::PointInput input_of(const Drawn& drawn, int64_t first, int64_t block,
                           const std::shared_ptr<Device>& device) {
  Shape shape = drawn.placeholder.shape();
  const auto size = static_cast<int64_t>(element_count(shape));
  shape.insert(0, block);
  const std::span part(drawn.values->data() + first * size, static_cast<size_t>(block * size));
  return {drawn.placeholder, tensor(part, shape, device), true};
}

// Values of graphs at points: one list of numbers a graph, point after point.
std::vector<std::vector<double>> values_in_blocks(const ModelState& model, const Tensors& graphs,
                                                  const std::vector<double>& points,
                                                  const std::vector<uint64_t>& numbers,
                                                  const std::shared_ptr<Device>& device,
                                                  const MakeInput& input,
                                                  const std::vector<Drawn>& drawn = {}) {
  std::vector<std::vector<double>> values(graphs.size());
  const auto count = std::ssize(numbers);
  int64_t width = model.size + 1;
  for (const Drawn& one : drawn) width += one.placeholder.size();
  for (size_t i = 0; i < graphs.size(); ++i) {
    width += graphs[i].size();
    values[i].reserve(static_cast<size_t>(count * graphs[i].size()));
  }
  // Blocks of one size, so that their kernels are compiled once; the last one begins earlier for it.
  const int64_t most = std::max<int64_t>(1, numbers_at_once / width), blocks = (count + most - 1) / most;
  const int64_t block = blocks ? (count + blocks - 1) / blocks : 0;
  const auto on = device_of_f64(device);
  for (int64_t next = 0; next < count; next += block) {
    const int64_t first = std::min(next, count - block);
    const std::span which(numbers.data() + first, static_cast<size_t>(block));
    Tensor u;
    if (!points.empty())
      u = tensor(std::span(points.data() + first * model.size, static_cast<size_t>(block * model.size)),
                 {block, model.size}, on);
    std::vector<stats::PointInput> inputs{input(which, on)};
    for (const Drawn& one : drawn) inputs.push_back(input_of(one, first, block, on));
    const Tensors results = stats::at_points(model, graphs, u, inputs, block);
    eval(results);
    for (size_t i = 0; i < graphs.size(); ++i) {
      const auto found = as_type(results[i], DType::f64).to_vector<double>();
      const int64_t known = (next - first) * graphs[i].size();
      values[i].insert(values[i].end(), found.begin() + known, found.end());
    }
  }
  return values;
}

}  // namespace

std::vector<std::vector<double>> RandomPoints::values(const ModelState& model, const Tensors& graphs,
                                                      const std::vector<double>& points,
                                                      const std::vector<uint64_t>& numbers,
                                                      const std::shared_ptr<Device>& device) const {
  return values_in_blocks(model, graphs, points, numbers, device,
                          [&](std::span<const uint64_t> which, const std::shared_ptr<Device>& on) {
                            return stats::PointInput{number_, tensor(which, {std::ssize(which)}, on), true};
                          });
}

// --- Observed variables ------------------------------------------------------------------------------------

std::map<std::string, std::vector<std::string>> coordinates_of(const ModelState& model) {
  std::map<std::string, std::vector<std::string>> all;
  for (const auto& [name, plate] : model.plates) {
    auto& labels = all[name] = plate.coordinates;
    for (auto i = std::ssize(labels); i < plate.size; ++i) labels.push_back(std::to_string(i));
  }
  return all;
}

void check_predictive(const ModelState& model, const SampleOptions& options) {
  if (!options.log_likelihood && !options.posterior_predictive) return;
  const char* option = options.log_likelihood ? "log_likelihood" : "posterior_predictive";
  if (model.observations.empty())
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[sample] {}: expected a model with observations, got none in {}", option, model.name));
  if (!options.posterior_predictive) return;
  for (const ModelObservation& observation : model.observations)
    if (!observation.likelihood.draw)
      throw Error(ErrorKind::unsupported,
                  fmt::format("[sample] posterior_predictive: expected a likelihood of {} that can be drawn "
                              "from, got {}, which has no draw",
                              observation.name, observation.likelihood.name));
}

void add_predictive(const ModelState& model, const std::vector<double>& points, int64_t first_chain,
                    const SampleOptions& options, const std::shared_ptr<Device>& device, Draws& draws) {
  if (!options.log_likelihood && !options.posterior_predictive) return;
  const std::vector<uint64_t> numbers =
      numbers_of(first_chain, draws.chains, points.size() / static_cast<size_t>(model.size));
  const RandomPoints random(options.seed);
  const auto fill = [&](const Tensors& graphs, std::vector<DrawsVariable>& to) {
    auto values = random.values(model, graphs, points, numbers, device);
    for (size_t i = 0; i < graphs.size(); ++i) {
      const ModelObservation& of = model.observations[i];
      const auto axes = of.dims.begin() + graphs[i].rank();  // without those of the event
      to.push_back({of.name, graphs[i].shape(), {of.dims.begin(), axes}, std::move(values[i])});
    }
  };
  Tensors pointwise, drawn;
  for (const ModelObservation& of : model.observations) {
    if (options.log_likelihood) pointwise.push_back(model.terms[of.term].pointwise);
    if (options.posterior_predictive)
      drawn.push_back(of.likelihood.draw(random.key("posterior " + of.name), of.shape));
  }
  fill(pointwise, draws.log_likelihood);
  fill(drawn, draws.posterior_predictive);
}

// --- Generated quantities ----------------------------------------------------------------------------------

namespace {

// Deterministic values that draws hold need not be computed again: placeholders stand for them in `graphs`. A
// program that solves differential equations, say, has them in transformed parameters.
std::vector<Drawn> take_from_draws(const ModelState& model, const std::vector<DrawsVariable>& variables,
                                   size_t points, Tensors& graphs) {
  std::vector<Drawn> drawn;
  Tensors from, to;
  for (const auto& deterministic : model.deterministics) {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& variable) {
      return variable.name == deterministic.name;
    });
    const Tensor& value = deterministic.value;
    if (value.dtype() != DType::f64 || graph::node_of(value).operands.empty()) continue;
    if (found == variables.end() || found->values.size() != points * static_cast<size_t>(value.size()))
      continue;
    drawn.push_back({graph::placeholder(DType::f64, value.shape()), &found->values});
    from.push_back(value);
    to.push_back(drawn.back().placeholder);
  }
  graphs = graph::substitute(graphs, from, to);
  return drawn;
}

void add_generated_at(const ModelState& model, const std::vector<double>& points,
                      const std::vector<uint64_t>& numbers, uint64_t seed,
                      const std::shared_ptr<Device>& device, std::vector<DrawsVariable>& variables) {
  if (model.generated.empty() || numbers.empty()) return;
  Tensors graphs;
  for (const stats::ModelGenerated& one : model.generated) graphs.push_back(one.value);
  const std::vector<Drawn> drawn = take_from_draws(model, variables, numbers.size(), graphs);
  const Tensor key = random::fold_in(random::key(seed), hash64("generated quantities"));
  auto values = values_in_blocks(
      model, graphs, points, numbers, device,
      [&](std::span<const uint64_t> which, const std::shared_ptr<Device>& on) {
        const Tensor number = tensor(which, {std::ssize(which)}, on);
        return stats::PointInput{model.generated_key, random::fold_in(key, number), true};
      },
      drawn);
  for (size_t i = 0; i < graphs.size(); ++i) {
    const stats::ModelGenerated& one = model.generated[i];
    variables.push_back({one.name, one.shape, std::vector<std::string>(static_cast<size_t>(one.shape.size())),
                         std::move(values[i])});
  }
}

}  // namespace

void add_generated(const ModelState& model, const std::vector<double>& points, int64_t first_chain,
                   int64_t chains, uint64_t seed, const std::shared_ptr<Device>& device,
                   std::vector<DrawsVariable>& variables) {
  if (points.empty()) return;
  const std::vector<uint64_t> numbers =
      numbers_of(first_chain, chains, points.size() / static_cast<size_t>(model.size));
  add_generated_at(model, points, numbers, seed, device, variables);
}

void add_generated_of_nothing(const ModelState& model, int64_t first_chain, int64_t chains, int64_t draws,
                              uint64_t seed, const std::shared_ptr<Device>& device,
                              std::vector<DrawsVariable>& variables) {
  add_generated_at(model, {}, numbers_of(first_chain, chains, static_cast<size_t>(chains * draws)), seed,
                   device, variables);
}

}  // namespace adit::sampling
