// What follows from draws of a model's variables: draws of the observed variables, and how likely each
// observation was.
#pragma once

#include <adit/sample.hpp>

#include "stats/model_state.hpp"

namespace adit::sampling {

// Before a run: throws where what the options ask for cannot be had.
void check_predictive(const stats::ModelState& model, const SampleOptions& options);
// After a run: fills the log likelihood and the posterior predictive draws where the options ask for them.
// points: [chain][draw][size], as collect_draws gives them; their chains are `first_chain` and on.
void add_predictive(const stats::ModelState& model, const std::vector<double>& points, int64_t first_chain,
                    const SampleOptions& options, const std::shared_ptr<Device>& device, Draws& draws);

// After a run: what the model computes of its draws alone, behind the other variables.
void add_generated(const stats::ModelState& model, const std::vector<double>& points, int64_t first_chain,
                   int64_t chains, uint64_t seed, const std::shared_ptr<Device>& device,
                   std::vector<DrawsVariable>& variables);

// Compiles what that needs for so many draws of all chains.
void prepare_generated(const stats::ModelState& model, int64_t draws, uint64_t seed,
                       const std::shared_ptr<Device>& device);

// The same where points are none because the model has no parameters: `draws` of each chain.
void add_generated_of_nothing(const stats::ModelState& model, int64_t first_chain, int64_t chains,
                              int64_t draws, uint64_t seed, const std::shared_ptr<Device>& device,
                              std::vector<DrawsVariable>& variables);

// --- Shared with draws of the prior ------------------------------------------------------------------------
std::map<std::string, std::vector<std::string>> coordinates_of(const stats::ModelState& model);

// Graphs whose random numbers differ from point to point.
class RandomPoints {
 public:
  explicit RandomPoints(uint64_t seed);
  // A key that depends on the seed, the name and the point's number.
  Tensor key(const std::string& name) const;
  // Values of graphs at points: one list of numbers a graph, point after point. `numbers`: those of the
  // points; `points` [count, size] may be empty where no graph needs them.
  std::vector<std::vector<double>> values(const stats::ModelState& model, const Tensors& graphs,
                                          const std::vector<double>& points,
                                          const std::vector<uint64_t>& numbers,
                                          const std::shared_ptr<Device>& device) const;

 private:
  uint64_t seed_;
  Tensor number_;  // a placeholder
};

}  // namespace adit::sampling
