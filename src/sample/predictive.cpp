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

// Values of graphs at points: one list of numbers a graph, point after point.
std::vector<std::vector<double>> values_in_blocks(const ModelState& model, const Tensors& graphs,
                                                  const std::vector<double>& points,
                                                  const std::vector<uint64_t>& numbers,
                                                  const std::shared_ptr<Device>& device,
                                                  const MakeInput& input) {
  std::vector<std::vector<double>> values(graphs.size());
  const auto count = std::ssize(numbers);
  int64_t width = model.size + 1;
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
    const Tensors results = stats::at_points(model, graphs, u, {input(which, on)}, block);
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

void add_generated_at(const ModelState& model, const std::vector<double>& points,
                      const std::vector<uint64_t>& numbers, uint64_t seed,
                      const std::shared_ptr<Device>& device, std::vector<DrawsVariable>& variables) {
  if (model.generated.empty() || numbers.empty()) return;
  Tensors graphs;
  for (const stats::ModelGenerated& one : model.generated) graphs.push_back(one.value);
  const Tensor key = random::fold_in(random::key(seed), hash64("generated quantities"));
  auto values =
      values_in_blocks(model, graphs, points, numbers, device,
                       [&](std::span<const uint64_t> which, const std::shared_ptr<Device>& on) {
                         const Tensor number = tensor(which, {std::ssize(which)}, on);
                         return stats::PointInput{model.generated_key, random::fold_in(key, number), true};
                       });
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
