// Runs of the sampler's kernel for tests: every row that it saved, and what its chains adapted to.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <adit/sample.hpp>

#include "sample/run.hpp"

namespace adit::test {

// Opened once a process.
inline std::shared_ptr<Device> shared_device(const std::string& id) {
  static std::map<std::string, std::shared_ptr<Device>> open;
  auto& slot = open[id];
  if (!slot) slot = Device::open(id);
  return slot;
}

// One saved draw, as the kernel writes it.
struct Row {
  double lp, accept_stat, step, depth, leapfrogs, divergent, energy;
  const double* q;
};

struct Outcome {
  int64_t chains = 0, count = 0, size = 0;  // of all data sets; rows a chain
  std::vector<double> values;
  std::vector<std::vector<double>> inverse_metrics;  // at the end, a chain
  std::vector<double> steps;
  double constant = 0;  // that log densities in rows lack
  uint64_t divergences = 0, warmup_divergences = 0;

  Row row(int64_t chain, int64_t at) const {
    const double* v = values.data() + (chain * count + at) * (sampling::stats_count + size);
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v + sampling::stats_count};
  }
  // One unconstrained number of all rows from `first` on, chain after chain.
  std::vector<double> column(int64_t element, int64_t first = 0) const {
    std::vector<double> result;
    result.reserve(static_cast<size_t>(chains * (count - first)));
    for (int64_t c = 0; c < chains; ++c)
      for (int64_t r = first; r < count; ++r) result.push_back(row(c, r).q[element]);
    return result;
  }
};

// `stops`: iterations at which the run pauses on the way to its end.
inline Outcome run_model(const Model& model, SampleOptions options, const std::string& device = "cpu",
                         const std::vector<sampling::DataSet>& sets = {{}},
                         const std::vector<int64_t>& stops = {}, const sampling::Forced& forced = {}) {
  using namespace sampling;
  options.device = device;
  const auto on = shared_device(device);
  Run run(stats::state_of(model), options,
          choose(stats::state_of(model), options, options.chains * std::ssize(sets), *on), sets, on, forced);
  for (const int64_t stop : stops) run.advance(stop);
  run.advance(options.warmup + options.draws * options.thin);
  Outcome outcome;
  outcome.chains = run.chains();
  outcome.count = run.saved();
  outcome.size = model.size();
  if (outcome.count > run.ring()) throw std::runtime_error("the run keeps fewer rows than it made");
  outcome.values = run.rows(0, outcome.count);
  const Layout& layout = run.kernel().layout;
  for (int64_t c = 0; c < run.chains(); ++c) {
    outcome.steps.push_back(run.state_of(c, real_step, 1)[0]);
    const int64_t numbers = layout.dense() ? layout.size * layout.size : layout.size;
    outcome.inverse_metrics.push_back(run.state_of(c, layout.inverse_metric, numbers));
  }
  outcome.constant = run.constant();
  outcome.divergences = run.divergences();
  outcome.warmup_divergences = run.warmup_divergences();
  return outcome;
}

}  // namespace adit::test
