#include "sample/predictive.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include <adit/random.hpp>

#include "graph/node.hpp"
#include "sample/collect.hpp"
#include "sample/failure.hpp"
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

// What stands for the points' numbers in a graph, given them.
using MakeInput = std::function<stats::PointInput(const Tensor& numbers)>;

// What draws hold of the model already, by the placeholder that stands for it; no values: not yet.
struct Drawn {
  Tensor placeholder;
  const std::vector<double>* values = nullptr;
};

stats::PointInput input_of(const Drawn& drawn, int64_t first, int64_t block,
                           const std::shared_ptr<Device>& device) {
  Shape shape = drawn.placeholder.shape();
  const auto size = static_cast<int64_t>(element_count(shape));
  shape.insert(0, block);
  if (!drawn.values) return {drawn.placeholder, blank(DType::f64, shape, device), true};
  const std::span part(drawn.values->data() + first * size, static_cast<size_t>(block * size));
  return {drawn.placeholder, tensor(part, shape, device), true};
}

// Graphs that are computed at many points, a block of them at a time.
struct Work {
  const ModelState& model;
  const Tensors& graphs;
  MakeInput input;
  std::vector<Drawn> drawn{};

  int64_t block(int64_t count) const {
    int64_t width = model.size + 1;
    for (const Drawn& one : drawn) width += one.placeholder.size();
    for (const Tensor& graph : graphs) width += graph.size();
    return block_of_points(count, width, count);
  }
  // Of points u, which may be empty; the block begins with the draw `first`.
  Tensors results(const Tensor& u, const Tensor& numbers, int64_t first,
                  const std::shared_ptr<Device>& on) const {
    std::vector<stats::PointInput> inputs{input(numbers)};
    for (const Drawn& one : drawn) inputs.push_back(input_of(one, first, numbers.dim(0), on));
    return stats::at_points(model, graphs, u, inputs, numbers.dim(0));
  }
};

// Values of graphs at points: one list of numbers a graph, point after point.
std::vector<std::vector<double>> values_in_blocks(const Work& work, const std::vector<double>& points,
                                                  const std::vector<uint64_t>& numbers,
                                                  const std::shared_ptr<Device>& device) {
  std::vector<std::vector<double>> values(work.graphs.size());
  const auto count = std::ssize(numbers), size = work.model.size, block = work.block(count);
  for (size_t i = 0; i < values.size(); ++i)
    values[i].reserve(static_cast<size_t>(count * work.graphs[i].size()));
  const auto on = device_of_f64(device);
  for (int64_t next = 0; next < count; next += block) {
    const int64_t first = std::min(next, count - block);
    const std::span which(numbers.data() + first, static_cast<size_t>(block));
    Tensor u;
    if (!points.empty())
      u = tensor(std::span(points.data() + first * size, static_cast<size_t>(block * size)), {block, size},
                 on);
    const Tensors results = work.results(u, tensor(which, {block}, on), first, on);
    eval(results);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto found = as_type(results[i], DType::f64).to_vector<double>();
      const int64_t known = (next - first) * work.graphs[i].size();
      values[i].insert(values[i].end(), found.begin() + known, found.end());
    }
  }
  return values;
}

// Compiles what values_in_blocks() runs at so many points.
void prepare_blocks(const Work& work, int64_t count, const std::shared_ptr<Device>& device) {
  if (count == 0 || work.graphs.empty()) return;
  const auto on = device_of_f64(device);
  const int64_t block = work.block(count);
  prepare(
      work.results(blank(DType::f64, {block, work.model.size}, on), blank(DType::u64, {block}, on), 0, on));
}

}  // namespace

std::vector<std::vector<double>> RandomPoints::values(const ModelState& model, const Tensors& graphs,
                                                      const std::vector<double>& points,
                                                      const std::vector<uint64_t>& numbers,
                                                      const std::shared_ptr<Device>& device) const {
  const auto input = [&](const Tensor& which) { return stats::PointInput{number_, which, true}; };
  return values_in_blocks({model, graphs, input}, points, numbers, device);
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
// `variables`: none before there are draws.
std::vector<Drawn> take_from_draws(const ModelState& model, const std::vector<DrawsVariable>* variables,
                                   size_t points, Tensors& graphs) {
  std::vector<Drawn> drawn;
  Tensors from, to;
  const auto is_drawn = [&](const auto& deterministic, const std::vector<double>*& values) {
    if (!variables) return true;
    const auto found = std::find_if(variables->begin(), variables->end(), [&](const auto& variable) {
      return variable.name == deterministic.name;
    });
    if (found == variables->end()) return false;
    values = &found->values;
    return values->size() == points * static_cast<size_t>(deterministic.value.size());
  };
  for (const auto& deterministic : model.deterministics) {
    const Tensor& value = deterministic.value;
    if (value.dtype() != DType::f64 || graph::node_of(value).operands.empty()) continue;
    const std::vector<double>* values = nullptr;
    if (!is_drawn(deterministic, values)) continue;
    drawn.push_back({graph::placeholder(DType::f64, value.shape()), values});
    from.push_back(value);
    to.push_back(drawn.back().placeholder);
  }
  graphs = graph::substitute(graphs, from, to);
  return drawn;
}

// Of checks that do not hold the first one's number, from 1 on; 0 where all do.
Tensor first_broken(const std::vector<stats::ModelTerm>& checks) {
  const auto count = std::ssize(checks);
  Tensors broken;
  for (const stats::ModelTerm& check : checks)
    broken.push_back(reshape(as_type(check.total != 0.0, DType::f64), {1}));
  const Tensor from_last = as_type(iota({count}, DType::i64) * -1 + count, DType::f64);
  const Tensor all = count == 1 ? broken[0] : concatenate(broken, 0);
  const Tensor most = reduce_max(all * from_last, {0});
  return select(most == 0.0, most, most * -1.0 + static_cast<double>(count + 1));
}

// Generated values; behind them which check does not hold, where there are any.
Tensors generated_graphs(const ModelState& model) {
  Tensors graphs;
  for (const stats::ModelGenerated& one : model.generated) graphs.push_back(one.value);
  if (!model.checks.empty()) graphs.push_back(first_broken(model.checks));
  return graphs;
}

MakeInput key_of_points(const ModelState& model, uint64_t seed) {
  const Tensor key = random::fold_in(random::key(seed), hash64("generated quantities"));
  return [&model, key](const Tensor& number) {
    return stats::PointInput{model.generated_key, random::fold_in(key, number), true};
  };
}

// Ends the run at the first draw that a check does not allow.
void expect_checks(const ModelState& model, const std::vector<double>& which,
                   const std::vector<double>& points, const std::vector<uint64_t>& numbers, uint64_t seed,
                   const std::shared_ptr<Device>& device) {
  const auto found = std::find_if(which.begin(), which.end(), [](double check) { return check != 0; });
  if (found == which.end()) return;
  const auto draw = static_cast<size_t>(found - which.begin()), size = static_cast<size_t>(model.size);
  const stats::ModelTerm& check = model.checks.at(static_cast<size_t>(*found) - 1);
  const auto at = points.begin() + static_cast<int64_t>(points.empty() ? 0 : draw * size);
  const std::vector<double> point(at, at + static_cast<int64_t>(points.empty() ? 0 : size));
  const Tensors graphs = word_graphs(check);
  const auto values =
      values_in_blocks({model, graphs, key_of_points(model, seed)}, point, {numbers[draw]}, device);
  throw Error(ErrorKind::bad_argument,
              fmt::format("{}{} (in draw {} of chain {})", check.name, statement_words(check, values),
                          (numbers[draw] & 0xffffffff) + 1, (numbers[draw] >> 32) + 1));
}

void add_generated_at(const ModelState& model, const std::vector<double>& points,
                      const std::vector<uint64_t>& numbers, uint64_t seed,
                      const std::shared_ptr<Device>& device, std::vector<DrawsVariable>& variables) {
  if ((model.generated.empty() && model.checks.empty()) || numbers.empty()) return;
  Tensors graphs = generated_graphs(model);
  std::vector<Drawn> drawn = take_from_draws(model, &variables, numbers.size(), graphs);
  auto values = values_in_blocks({model, graphs, key_of_points(model, seed), std::move(drawn)}, points,
                                 numbers, device);
  if (!model.checks.empty()) expect_checks(model, values.back(), points, numbers, seed, device);
  for (size_t i = 0; i < model.generated.size(); ++i) {
    const stats::ModelGenerated& one = model.generated[i];
    variables.push_back({one.name, one.shape, std::vector<std::string>(static_cast<size_t>(one.shape.size())),
                         std::move(values[i])});
  }
}

}  // namespace

void prepare_generated(const ModelState& model, int64_t draws, uint64_t seed,
                       const std::shared_ptr<Device>& device) {
  if ((model.generated.empty() && model.checks.empty()) || draws == 0) return;
  Tensors graphs = generated_graphs(model);
  std::vector<Drawn> drawn = take_from_draws(model, nullptr, 0, graphs);
  prepare_blocks({model, graphs, key_of_points(model, seed), std::move(drawn)}, draws, device);
}

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
