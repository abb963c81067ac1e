// From the rows of a run to draws: positions become the model's variables.
#pragma once

#include <adit/draws.hpp>

#include "stats/model_state.hpp"

namespace adit::sampling {

// rows: [chain][draw][stats + size]. `lp_constant` is added to the log densities.
void collect_draws(const stats::ModelState& model, const std::vector<double>& rows, double lp_constant,
                   const std::shared_ptr<Device>& device, std::vector<DrawsVariable>& variables,
                   SampleStats& stats);
std::vector<ObservedVariable> observed_of(const stats::ModelState& model);
// Values of graphs at many points u [n, size]: one list of numbers a graph, point after point.
std::vector<std::vector<double>> values_at(const stats::ModelState& model, const Tensors& graphs,
                                           const std::vector<double>& points, int64_t count,
                                           const std::shared_ptr<Device>& device);

}  // namespace adit::sampling
