#include "sample/shape.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "sample/shape_limits.hpp"

namespace adit::sampling {

namespace {

bool is_gpu(const Device& device) { return device.info().kind != DeviceKind::cpu; }

// Chains of a workgroup: as many as give each of the device's processors one. Chains that adapt by themselves
// differ, and the slowest of few takes the time: it is fastest alone.
uint32_t lanes_for(int64_t chains, Adapt adapt, const Device& device) {
  const auto processors = static_cast<int64_t>(device.limits().processors);
  uint32_t lanes = 1;
  if (adapt == Adapt::chain && chains <= 2 * processors) return lanes;
  while (lanes < device.limits().subgroup_size && lanes * processors < chains) lanes *= 2;
  return lanes;
}

// Lanes of a team: as many as the longest loop can use while the chains leave processors idle, fewer when
// they do not, since sums over lanes cost more the more lanes there are.
uint32_t team_lanes(const Schedule& schedule, int64_t size, int64_t chains, const Device& device) {
  const int64_t invocations = int64_t{64} * device.limits().processors;  // that keep it busy
  int64_t longest = size;
  for (const Pass& pass : schedule.passes) longest = std::max(longest, pass.count);
  uint32_t lanes = 32;
  while (lanes < 256 && lanes * 2 <= longest && lanes * 2 * chains <= invocations) lanes *= 2;
  return std::min(lanes, device.limits().max_lanes);
}

// Slots of the stack that fit into half the shared memory of a workgroup, beside what else its chains keep
// there; so that four workgroups still fit on a processor. Negative: not even that fits.
int64_t slots_that_fit(const Layout& layout, DType type, uint32_t chains, const Device& device) {
  const int64_t bytes = chains * size_of(type);
  const bool registers = layout.proposal_fits_registers(size_of(type));
  const int64_t room = static_cast<int64_t>(device.limits().shared_bytes) / shared_part / bytes - 1 -
                       (layout.stack - (registers ? layout.other : layout.proposal));
  return room < 0 ? -1 : std::min(layout.slots(), room / layout.slot);
}

// The tree around the density is small: lanes of a GPU share it where a position is long.
void choose_outside(Choice& choice, const stats::ModelState& model) {
  choice.outside = true;
  choice.by_team = !choice.on_cpu && model.size > KernelOptions().written_out;
}

// The schedule of a chain in a lane; none where kernels lack an operation.
std::optional<Schedule> known_schedule(const stats::ModelState& model, const Choice& choice) {
  try {
    return make_schedule(make_density(model, choice.type), false, choice.on_cpu);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return std::nullopt;
  }
}

void choose_by_work(Choice& choice, const stats::ModelState& model, const SampleOptions& options,
                    const Device& device) {
  const std::optional<Schedule> schedule = known_schedule(model, choice);
  const bool is_idle = options.chains * 2 <= static_cast<int64_t>(device.limits().processors);
  if (!schedule || (!choice.on_cpu && is_idle && schedule->work > device_work))
    return choose_outside(choice, model);
  // Loops that go on from step to step are no shorter on a team.
  const int64_t shared = schedule->work - schedule->serial;
  if (choice.on_cpu)
    choice.by_team = shared > heavy_work && shared > schedule->serial;
  else
    choice.by_team =
        (shared > light_work && shared > schedule->serial) || model.size > KernelOptions().written_out;
}

}  // namespace

// A chain gets a lane where its work is small. A long loop over observations is shared by a team: of a GPU's
// lanes, or of the lanes of a CPU's vectors.
Choice choose(const stats::ModelState& model, const SampleOptions& options, const Device& device) {
  Choice choice;
  const bool gpu = is_gpu(device);
  choice.on_cpu = !gpu;
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
    case Placement::device: choose_outside(choice, model); break;
    case Placement::automatic: choose_by_work(choice, model, options, device);
  }
  return choice;
}

namespace {

// Shared memory holds the state while enough teams still fit on a processor, or else what every leaf touches;
// lanes then share out their loops by hand. A dense metric, which lanes read across, stays with the rest.
// What is too large even so stays in the buffer, and more lanes hide the waiting.
void shape_team(KernelOptions& shape, const Layout& layout, const Schedule& schedule, int64_t chains,
                DType type, const Device& device, const Forced& forced) {
  shape.lanes = forced.lanes ? forced.lanes : team_lanes(schedule, layout.size, chains, device);
  const auto bytes_of = [&](int64_t numbers) { return numbers * size_of(type); };
  const int64_t part = layout.proposal - layout.current + schedule.scratch;
  const bool by_hand = is_gpu(device) && device.limits().lanes_by_hand;
  if (bytes_of(layout.count) + spare_shared_bytes <= device.limits().shared_bytes &&
      (chains <= few_teams || bytes_of(layout.count) <= small_state_bytes))
    shape.home = Home::shared;
  else if (by_hand && !layout.dense() && bytes_of(part) <= split_bytes)
    shape.home = Home::split;
  if (forced.home) shape.home = *forced.home;
  shape.by_hand = shape.home != Home::buffer && by_hand;
  if (shape.home == Home::buffer && shape.lanes < 64 && !forced.lanes)
    shape.lanes = std::min(64u, device.limits().max_lanes);
}

// Lanes of a CPU's vectors that chains fill, but no more than leave work for every thread.
uint32_t vector_lanes(const Schedule& schedule, int64_t chains, DType type, const Device& device) {
  const int64_t threads = std::max(1u, device.limits().processors);
  uint32_t lanes = 1;
  if (schedule.work > light_work) {
    while (lanes < 64 && lanes * threads < chains) lanes *= 2;
    return lanes;
  }
  const uint32_t width = std::max<uint32_t>(1, device.limits().subgroup_size / (type == DType::f64 ? 2 : 1));
  const auto turns = [&](int64_t many) { return (many + threads - 1) / threads; };
  return vector_round_tenths * turns((chains + width - 1) / width) < 10 * turns(chains) ? width : 1;
}

void shape_vectors(KernelOptions& shape, const Layout& layout, const Schedule& schedule, int64_t chains,
                   DType type, const Device& device, const Forced& forced) {
  shape.lanes = vector_lanes(schedule, chains, type, device);
  if (forced.lanes) shape.lanes = forced.lanes;
  shape.written_out = 2;
  shape.in_vectors = shape.lanes > 1;
  // Arrays lie on the stack of the thread.
  const int64_t bytes = layout.count * size_of(type) * shape.lanes;
  shape.home = bytes <= most_array_bytes ? Home::array : Home::buffer;
  if (forced.home) shape.home = *forced.home;
}

// Chains in lanes of a GPU. What a doubling touches lies in shared memory, with the subtrees that wait most
// often, or else in arrays.
void shape_lanes(KernelOptions& shape, const Layout& layout, int64_t chains, Adapt adapt, DType type,
                 const Device& device, const Forced& forced) {
  shape.lanes = forced.lanes ? forced.lanes : lanes_for(chains, adapt, device);
  const int64_t slots = forced.slots ? *forced.slots : slots_that_fit(layout, type, shape.lanes, device);
  const bool shares = device.limits().lanes_by_hand && slots >= std::min<int64_t>(2, layout.slots());
  const bool small_enough = layout.count * size_of(type) <= most_array_bytes / 64;
  shape.home = shares ? Home::shared : small_enough ? Home::array : Home::buffer;
  if (forced.home) shape.home = *forced.home;
  shape.slots = shape.home == Home::shared ? std::max<int64_t>(0, slots) : layout.slots();
}

}  // namespace

KernelOptions kernel_shape(const Schedule& schedule, const SampleOptions& options, int64_t size,
                           int64_t chains, int64_t sets, const Choice& choice, const Device& device,
                           const Forced& forced) {
  KernelOptions shape;
  shape.by_team = choice.by_team;
  shape.outside = choice.outside;
  shape.fuses = device.limits().fused_fma;
  shape.sets = sets;
  const Layout layout = make_layout(size, options.metric, options.max_depth, schedule.scratch);
  if (choice.outside) {  // a dispatch is one round: what it does not touch stays where it is
    shape.lanes = is_gpu(device) ? std::min(32u, device.limits().max_lanes) : 1;
    if (forced.lanes) shape.lanes = forced.lanes;
    shape.written_out = 2;
    return shape;
  }
  if (choice.by_team)
    shape_team(shape, layout, schedule, chains, choice.type, device, forced);
  else if (is_gpu(device))
    shape_lanes(shape, layout, chains, options.adapt, choice.type, device, forced);
  else
    shape_vectors(shape, layout, schedule, chains, choice.type, device, forced);
  shape.in_step = !choice.by_team && shape.lanes > 1;
  return shape;
}

uint64_t teams_of(const KernelOptions& shape, int64_t chains) {
  const bool by_hand = !shape.by_team && shape.home == Home::shared;
  return static_cast<uint64_t>(by_hand ? (chains + shape.lanes - 1) / shape.lanes : chains);
}

}  // namespace adit::sampling
