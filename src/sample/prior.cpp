// Draws of the prior, one variable after the other: each is drawn given those before it.
#include <fmt/format.h>
#include <numeric>

#include <adit/sample.hpp>

#include "graph/node.hpp"
#include "sample/collect.hpp"
#include "sample/predictive.hpp"

namespace adit {

using namespace sampling;
using stats::ModelState;

namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& argument, const std::string& message) {
  throw Error(kind, fmt::format("[sample_prior] {}: {}", argument, message));
}

void check(const ModelState& model, int64_t draws) {
  if (draws < 1 || draws >= int64_t{1} << 32)
    fail(ErrorKind::bad_argument, "draws", fmt::format("expected 1 to 2^32 - 1, got {}", draws));
  const auto expect_draw = [](const std::string& name, const Distribution& distribution) {
    if (distribution.name.empty())
      fail(ErrorKind::unsupported, name, "expected a prior that can be drawn from, got a flat one");
    if (!distribution.draw)
      fail(ErrorKind::unsupported, name,
           fmt::format("expected a distribution that can be drawn from, got {}, which has no draw",
                       distribution.name));
  };
  std::vector<bool> is_known(model.terms.size());
  for (const auto& observation : model.observations) is_known[observation.term] = true;
  for (const auto& variable : model.variables) {
    expect_draw(variable.name, variable.prior);
    for (size_t i = 0; i < model.terms.size(); ++i)
      if (model.terms[i].name == variable.name || model.terms[i].name == variable.name + " (jacobian)")
        is_known[i] = true;
  }
  for (const auto& observation : model.observations) expect_draw(observation.name, observation.likelihood);
  for (size_t i = 0; i < model.terms.size(); ++i)
    if (!is_known[i])
      fail(ErrorKind::unsupported, model.terms[i].name,
           "expected priors and observations alone, got a term of the log density, which has no draws");
}

// Graphs of the model with its variables replaced by their draws.
class Ancestors {
 public:
  explicit Ancestors(const RandomPoints& random) : random_(random) {}

  Tensor given(const Tensor& x) const { return graph::substitute(std::vector{x}, from_, to_)[0]; }

  Tensor draw(const std::string& name, const Distribution& distribution, const Shape& shape) const {
    return given(distribution.draw(random_.key("prior " + name), shape));
  }

  void add(const stats::ModelVariable& variable) {
    const Tensor drawn = draw(variable.name, variable.prior, variable.shape);
    // A view of the value may be a view of the numbers behind it: these get values too.
    Tensor free;
    if (graph::pointer_of(variable.value) != graph::pointer_of(variable.unconstrained)) {
      const Tensor x = graph::placeholder(DType::f64, variable.shape);
      free = given(variable.constraint.unconstrain(x));
      free = graph::substitute(std::vector{free}, std::vector{x}, std::vector{drawn})[0];
      replace(variable.unconstrained, reshape(free, variable.unconstrained.shape()));
    }
    replace(variable.value, drawn);
    values.push_back(drawn);
  }

  Tensors values;

 private:
  void replace(const Tensor& x, const Tensor& by) {
    from_.push_back(x);
    to_.push_back(by);
  }
  const RandomPoints& random_;
  std::vector<Tensor> from_, to_;
};

}  // namespace

Draws sample_prior(const Model& of, int64_t count, uint64_t seed, const std::string& device) {
  const ModelState& model = stats::state_of(of);
  check(model, count);
  const RandomPoints random(seed);
  Ancestors ancestors(random);
  Draws draws;
  std::vector<DrawsVariable*> targets;
  for (const auto& variable : model.variables) {
    ancestors.add(variable);
    draws.variables.push_back({variable.name, variable.shape, variable.dims, {}});
  }
  Tensors graphs = ancestors.values;
  for (const auto& deterministic : model.deterministics) {
    graphs.push_back(ancestors.given(deterministic.value));
    draws.variables.push_back({deterministic.name, deterministic.shape, deterministic.dims, {}});
  }
  for (const auto& observation : model.observations) {
    graphs.push_back(ancestors.draw(observation.name, observation.likelihood, observation.shape));
    draws.posterior_predictive.push_back({observation.name, observation.shape, observation.dims, {}});
  }
  for (auto* list : {&draws.variables, &draws.posterior_predictive})
    for (DrawsVariable& variable : *list) targets.push_back(&variable);

  const auto on = Device::open(device);
  std::vector<uint64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), uint64_t{0});
  auto values = random.values(model, graphs, {}, numbers, on);
  for (size_t i = 0; i < targets.size(); ++i) targets[i]->values = std::move(values[i]);
  draws.model = model.name;
  draws.chains = 1;
  draws.draws = count;
  draws.seed = seed;
  draws.device = on->info().id;
  draws.observed = observed_of(model);
  draws.coordinates = coordinates_of(model);
  return draws;
}

}  // namespace adit
