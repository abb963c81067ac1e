#include "sample/outside.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>

#include <adit/ops.hpp>

#include "nuts/layout.hpp"
#include "nuts/random.hpp"
#include "sample/obstacles.hpp"
#include "stats/known.hpp"
#include "stats/model_checks.hpp"

namespace adit::sampling {

namespace {

using stats::ModelState;
using stats::ModelTerm;

constexpr int64_t most_chains = 4, most_of_a_chain = 4;  // that are looked at
constexpr int64_t most_numbers = 1 << 20;                // of the positions of one of them

bool may_leave(const ModelState& model, const NamedParameter& parameter) {
  return parameter.domain && !stats::is_surely_inside(parameter) &&
         !stats::needs_of(model, parameter.value).variable.empty();
}

bool may_leave(const ModelState& model) {
  for (const ModelTerm& term : model.terms)
    for (const NamedParameter& each : term.parameters)
      if (may_leave(model, each)) return true;
  return false;
}

// Some divergent rows of some chains: each chain has a metric, and so a kernel, of its own.
std::vector<int64_t> divergent_rows(const Draws& draws) {
  std::vector<int64_t> some;
  int64_t chains = 0;
  for (int64_t chain = 0; chain < draws.chains && chains < most_chains; ++chain) {
    std::vector<int64_t> found;
    for (int64_t row = chain * draws.draws; row < (chain + 1) * draws.draws; ++row)
      if (draws.stats.divergent[static_cast<size_t>(row)] != 0) found.push_back(row);
    const auto count = std::min<int64_t>(most_of_a_chain, std::ssize(found));
    for (int64_t i = 0; i < count; ++i)
      some.push_back(found[static_cast<size_t>(i * std::ssize(found) / count)]);
    chains += count > 0;
  }
  return some;
}

// A transition's trajectory, made again: from where it began, with its momentum, in both directions, as far
// as it went. With thinned draws the beginning is lost; the end stands for it.
class Walk {
 public:
  Walk(const ModelState& model, const std::vector<double>& points, const SampleOptions& options, DType type,
       const Draws& draws)
      : model_(model), own_(model.name), points_(points), options_(options), type_(type), draws_(draws) {
    stats::state_of(own_) = model;
  }

  // Where the log density is not a number any more, or nothing.
  std::optional<std::vector<double>> lost_at(int64_t row, int64_t first_chain) {
    const int64_t chain = row / draws_.draws, draw = row % draws_.draws, size = model_.size;
    const std::vector<double>& metric = draws_.inverse_metrics[static_cast<size_t>(chain)];
    const std::vector<double> start = point(options_.thin == 1 && draw > 0 ? row - 1 : row);
    const auto iteration = static_cast<uint32_t>(options_.warmup + draw * options_.thin);
    const std::vector<double> momentum = momentum_of(first_chain + chain, iteration, metric);
    std::vector<double> q, p;
    for (const double side : {1.0, -1.0})
      for (size_t i = 0; i < start.size(); ++i) {
        q.push_back(start[i]);
        p.push_back(side * momentum[i]);
      }
    const auto at = static_cast<size_t>(row);
    const int64_t steps = std::clamp<int64_t>(static_cast<int64_t>(draws_.stats.n_leapfrog[at]), 1,
                                              std::max<int64_t>(1, most_numbers / (2 * size)));
    const auto in_type = [&](const std::vector<double>& x) { return as_type(tensor(x, {2, size}), type_); };
    return first_lost(kernel(chain, metric)(in_type(q), in_type(p), draws_.stats.step_size[at], steps),
                      steps);
  }

 private:
  const LeapfrogKernel& kernel(int64_t chain, const std::vector<double>& metric) {
    if (!kernel_ || kernel_chain_ != chain)
      kernel_.emplace(own_,
                      LeapfrogOptions{.type = type_, .inverse_metric = metric, .device = options_.device});
    kernel_chain_ = chain;
    return *kernel_;
  }
  std::vector<double> point(int64_t row) const {
    const auto begin = points_.begin() + row * model_.size;
    return {begin, begin + model_.size};
  }
  // A dense metric's correlations are left out: any likely momentum will do.
  std::vector<double> momentum_of(int64_t chain, uint32_t iteration,
                                  const std::vector<double>& metric) const {
    const HostStream stream{options_.seed, static_cast<uint32_t>(chain), type_ == DType::f64};
    const auto size = static_cast<size_t>(model_.size);
    const size_t step = metric.size() == size ? 1 : size + 1;
    std::vector<double> momentum(size);
    for (size_t i = 0; i < size; ++i)
      momentum[i] = stream.normal(Purpose::momentum, iteration, 0, static_cast<uint32_t>(i)) /
                    std::sqrt(metric[i * step]);
    return momentum;
  }
  std::optional<std::vector<double>> first_lost(const LeapfrogChain& walked, int64_t steps) const {
    const auto densities = as_type(walked.log_densities, DType::f64).to_vector<double>();
    const auto positions = as_type(walked.positions, DType::f64).to_vector<double>();
    for (int64_t side = 0; side < 2; ++side)
      for (int64_t k = 0; k < steps; ++k) {
        const auto at = static_cast<size_t>(2 * k + side);
        if (std::isfinite(densities[at])) continue;
        const auto begin = positions.begin() + static_cast<int64_t>(at) * model_.size;
        const std::vector<double> point(begin, begin + model_.size);
        if (std::all_of(point.begin(), point.end(), [](double x) { return std::isfinite(x); })) return point;
        break;
      }
    return std::nullopt;
  }

  const ModelState& model_;
  Model own_;
  const std::vector<double>& points_;
  const SampleOptions& options_;
  DType type_;
  const Draws& draws_;
  std::optional<LeapfrogKernel> kernel_;
  int64_t kernel_chain_ = 0;
};

}  // namespace

std::string outside_words(const ModelState& model, const ModelTerm& term, const Tensor& u) {
  Tensors values;
  for (const NamedParameter& each : term.parameters) values.push_back(each.value);
  const Tensors now = stats::density_at_point(model, values, u);
  std::string list;
  for (size_t i = 0; i < now.size(); ++i) {
    const NamedParameter& each = term.parameters[i];
    const auto words = stats::outside_words(each, as_type(now[i], DType::f64).to_vector<double>());
    if (words)
      list += fmt::format("{}{} of {}: {}", list.empty() ? "" : "; ", each.name, term.distribution, *words);
  }
  return list;
}

// What is in the way comes first: a parameter that is no number may only follow from it.
std::string reason_words(const ModelState& model, const ModelTerm& term, const Tensor& u) {
  const std::string obstacle = obstacle_words(model, term, u);
  return obstacle.empty() && !term.parameters.empty() ? outside_words(model, term, u) : obstacle;
}

void note_outside(const ModelState& model, const std::vector<double>& points, int64_t first_chain,
                  const SampleOptions& options, DType type, Draws& draws) {
  const uint64_t divergences = draws.divergences();
  if (divergences == 0 || !(may_leave(model) || may_have_obstacles(model))) return;
  struct Found {
    int64_t count = 0;
    std::string words;
  };
  std::map<std::string, Found> found;  // by what was stated
  const std::vector<int64_t> looked_at = divergent_rows(draws);
  Walk walk(model, points, options, type, draws);
  for (const int64_t row : looked_at) {
    const auto point = walk.lost_at(row, first_chain);
    if (!point) continue;
    for (const ModelTerm& term : model.terms) {
      const std::string words = reason_words(model, term, tensor(*point));
      if (words.empty()) continue;
      Found& here = found[term.stated.empty() ? term.name : term.stated];
      if (here.count++ == 0) here.words = words;
    }
  }
  for (const auto& [stated, here] : found)
    draws.notes.push_back(fmt::format(
        "[{}] {}. So it was in {} of {} divergent transitions that were looked at, of {} in all: the model "
        "reaches where it has no density. Constrain the parameters that lead there.",
        stated, here.words, here.count, looked_at.size(), divergences));
}

}  // namespace adit::sampling
