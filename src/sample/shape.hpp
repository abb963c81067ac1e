// How a model lies on a device: precision, a lane or a team for a chain, and how many of them work together.
#pragma once

#include "nuts/kernel.hpp"
#include "sample/forced.hpp"

namespace adit::sampling {

struct Choice {
  DType type = DType::f64;
  Wide wide = Wide::nothing;
  bool by_team = false, on_cpu = false;
  bool outside = false;  // the density is computed between dispatches: by the engine of tensors,
  bool spreads = false;  // or by teams that its rows are spread over
  uint32_t lanes = 0;    // of a team, or of chains together; 0: left to the plan
  int64_t together = 1;  // chains of a CPU's team
};
const char* name_of(DType type, Wide wide);  // of a precision, as options call it
// Throws where the device does not have what the caller asks for.
NumberTypes numbers_of(const stats::ModelState& model, const SampleOptions& options, const Device& device);
// Whether chains in f32 may have a log density in f64.
bool has_mixed(const Device& device);
// A chain gets a lane where its work is small; a long loop over observations is shared by a team, of a GPU's
// lanes or of the lanes of a CPU's vectors, or by the device. `chains` in all, of all data sets.
Choice choose(const stats::ModelState& model, const SampleOptions& options, int64_t chains,
              const Device& device);

// Of a GPU.
TeamShape team_shape(uint32_t lanes, const Limits& limits);

// `type`: of a chain's numbers.
int64_t numbers_of_sums(const Schedule& schedule, DType type, uint32_t lanes, const Limits& limits);

struct KernelPlan {
  Schedule schedule;
  KernelOptions shape;
};
// `chains` in all, of all data sets.
KernelPlan plan_kernel(const Density& density, const SampleOptions& options, int64_t chains, int64_t sets,
                       const Choice& choice, const Device& device, const Forced& forced = {});
// Teams of a dispatch of all chains.
uint64_t teams_of(const KernelOptions& shape, int64_t chains);

}  // namespace adit::sampling
