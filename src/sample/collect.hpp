// From the rows of a run to draws: positions become the model's variables.
#pragma once

#include <adit/draws.hpp>

#include "stats/model_state.hpp"

namespace adit::sampling {

// Numbers that are computed at once, which bounds what lies in memory beside the results.
inline constexpr int64_t numbers_at_once = int64_t{1} << 22;
inline constexpr int64_t points_at_once = 16384;  // at most

// So many points at a time, all blocks alike so that their kernels are compiled once: the last one begins
// earlier for it. `width`: numbers of a point with its results.
int64_t block_of_points(int64_t count, int64_t width, int64_t most = points_at_once);
// A tensor with memory and no values, which kernels are compiled for.
Tensor blank(DType type, const Shape& shape, const std::shared_ptr<Device>& device);

// rows: [chain][draw][stats_a_row + size]; behind the seven stats may stand what log densities are relative
// to. `lp_constant` is added to the log densities. Gives the points among the rows, unconstrained:
// [chain][draw][size].
std::vector<double> collect_draws(const stats::ModelState& model, std::vector<double> rows,
                                  int64_t stats_a_row, double lp_constant,
                                  const std::shared_ptr<Device>& device,
                                  std::vector<DrawsVariable>& variables, SampleStats& stats);
// "mu = 3.1, theta[1] = -0.4": the model's variables at a point, on their own scale, the first few of them.
std::string place_words(const stats::ModelState& model, const std::vector<double>& point);
// Compiles what that needs for so many draws.
void prepare_collection(const stats::ModelState& model, int64_t draws, const std::shared_ptr<Device>& device);
std::vector<ObservedVariable> observed_of(const stats::ModelState& model);
// Values of graphs at many points u [n, size]: one list of numbers a graph, point after point.
std::vector<std::vector<double>> values_at(const stats::ModelState& model, const Tensors& graphs,
                                           const std::vector<double>& points, int64_t count,
                                           const std::shared_ptr<Device>& device);
void prepare_values(const stats::ModelState& model, const Tensors& graphs, int64_t count,
                    const std::shared_ptr<Device>& device);

}  // namespace adit::sampling
