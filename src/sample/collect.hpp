// From the rows of a run to draws: positions become the model's variables.
#pragma once

#include <adit/draws.hpp>

#include "stats/model_state.hpp"

namespace adit::sampling {

// Numbers that are computed at once, which bounds what lies in memory beside the results.
inline constexpr int64_t numbers_at_once = int64_t{1} << 22;
inline constexpr int64_t points_at_once = 16384;  // at most

// rows: [chain][draw][stats + size]. `lp_constant` is added to the log densities. Gives the points among the
// rows, unconstrained: [chain][draw][size].
std::vector<double> collect_draws(const stats::ModelState& model, std::vector<double> rows,
                                  double lp_constant, const std::shared_ptr<Device>& device,
                                  std::vector<DrawsVariable>& variables, SampleStats& stats);
std::vector<ObservedVariable> observed_of(const stats::ModelState& model);
// Values of graphs at many points u [n, size]: one list of numbers a graph, point after point.
std::vector<std::vector<double>> values_at(const stats::ModelState& model, const Tensors& graphs,
                                           const std::vector<double>& points, int64_t count,
                                           const std::shared_ptr<Device>& device);

}  // namespace adit::sampling
