#include "sample/shape.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace adit::sampling {

namespace {

bool is_gpu(const Device& device) { return device.info().kind != DeviceKind::cpu; }

// Chains of a workgroup: few while there are more processors than chains, since lanes that part wait for each
// other; a whole subgroup when there are many.
uint32_t lanes_for(int64_t chains, const Device& device) {
  constexpr int64_t processors = 512;
  uint32_t lanes = 1;
  while (lanes < device.limits().subgroup_size && static_cast<int64_t>(lanes) * processors < chains)
    lanes *= 2;
  return lanes;
}

uint32_t team_lanes(const Schedule& schedule, int64_t size, const Device& device) {
  int64_t longest = size;
  for (const Pass& pass : schedule.passes) longest = std::max(longest, pass.count);
  uint32_t lanes = 32;
  while (lanes < 128 && lanes * 4 <= longest) lanes *= 2;
  return std::min(lanes, device.limits().max_lanes);
}

}  // namespace

// A chain gets a lane where its work is small; on a CPU always, since chains fill the vectors there without
// any sum over lanes. On a GPU a long loop over observations is shared by a team.
Choice choose(const stats::ModelState& model, const SampleOptions& options, const Device& device) {
  Choice choice;
  const bool gpu = is_gpu(device);
  if (options.precision == Precision::automatic)
    choice.type = gpu ? DType::f32 : DType::f64;
  else
    choice.type = options.precision == Precision::f32 ? DType::f32 : DType::f64;
  if (choice.type == DType::f64 && !device.limits().float64)
    throw Error(
        ErrorKind::unsupported,
        fmt::format("[sample] precision: expected f32 on {}, which has no f64, got f64", device.info().id));
  switch (options.placement) {
    case Placement::lane: choice.by_team = false; break;
    case Placement::team: choice.by_team = true; break;
    case Placement::automatic: {
      const Schedule schedule = make_schedule(make_density(model, choice.type), false);
      choice.by_team = gpu && (schedule.work > 256 || model.size > KernelOptions().written_out);
    }
  }
  return choice;
}

KernelOptions kernel_shape(const Schedule& schedule, int64_t size, int64_t chains, int64_t sets,
                           const Choice& choice, const Device& device) {
  KernelOptions shape;
  shape.by_team = choice.by_team;
  shape.lanes = choice.by_team ? team_lanes(schedule, size, device) : lanes_for(chains, device);
  if (!is_gpu(device) && !choice.by_team) {
    shape.lanes = 64;
    shape.private_state = true;  // lies as vectors there
    shape.written_out = 2;
  }
  shape.shared_bytes = std::min<uint32_t>(device.limits().shared_bytes * 3 / 4, 32 * 1024);
  shape.sets = sets;
  return shape;
}

}  // namespace adit::sampling
