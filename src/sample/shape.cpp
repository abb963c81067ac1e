#include "sample/shape.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace adit::sampling {

namespace {

constexpr int64_t light_work = 256;  // elements of a gradient that count less than the tree around it

constexpr int64_t most_array_bytes = 512 * 1024;

constexpr int64_t heavy_work =
    1024;  // from which a CPU's vectors are better filled with observations than with chains

bool is_gpu(const Device& device) { return device.info().kind != DeviceKind::cpu; }

// Chains of a workgroup: one while the device has a processor for each, since lanes that part wait for each
// other; up to a whole subgroup when there are many.
uint32_t lanes_for(int64_t chains, const Device& device) {
  constexpr int64_t processors = 1024;
  uint32_t lanes = 1;
  if (chains <= processors) return lanes;
  while (lanes < device.limits().subgroup_size && lanes * processors / 2 < chains) lanes *= 2;
  return lanes;
}

// Lanes of a team: as many as the longest loop can use while the chains leave processors idle, fewer when
// they do not, since sums over lanes cost more the more lanes there are.
uint32_t team_lanes(const Schedule& schedule, int64_t size, int64_t chains, const Device& device) {
  constexpr int64_t invocations = 32768;  // that keep a large GPU busy
  int64_t longest = size;
  for (const Pass& pass : schedule.passes) longest = std::max(longest, pass.count);
  uint32_t lanes = 32;
  while (lanes < 256 && lanes * 2 <= longest && lanes * 2 * chains <= invocations) lanes *= 2;
  return std::min(lanes, device.limits().max_lanes);
}

// What shared memory of a workgroup may hold, so that several still fit on a processor.
bool fits(const Layout& layout, DType type, uint32_t chains, bool whole, const Device& device) {
  const int64_t numbers = whole ? layout.count : (layout.hot_end - layout.other) | 1;
  return numbers * chains * size_of(type) + 1024 <= device.limits().shared_bytes;
}

bool adds_at_places(const Schedule& schedule) {
  for (const Pass& pass : schedule.passes)
    for (const Item& item : pass.items)
      if (item.kind == ItemKind::scatter) return true;
  return false;
}

}  // namespace

// A chain gets a lane where its work is small. A long loop over observations is shared by a team: of a GPU's
// lanes, or of the lanes of a CPU's vectors, unless it adds up at places, which those do one by one.
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
    case Placement::automatic: {
      const Schedule schedule = make_schedule(make_density(model, choice.type), false, choice.on_cpu);
      const bool is_long = schedule.work > light_work || model.size > KernelOptions().written_out;
      choice.by_team = gpu ? is_long : schedule.work > heavy_work && !adds_at_places(schedule);
    }
  }
  return choice;
}

KernelOptions kernel_shape(const Schedule& schedule, const SampleOptions& options, int64_t size,
                           int64_t chains, int64_t sets, const Choice& choice, const Device& device) {
  KernelOptions shape;
  shape.by_team = choice.by_team;
  shape.fuses = device.limits().fused_fma;
  shape.sets = sets;
  const Layout layout = make_layout(size, options.metric, options.max_depth, schedule.scratch);
  if (choice.by_team) {
    shape.lanes = team_lanes(schedule, size, chains, device);
    // Shared memory holds the state while enough teams still fit on a processor, or else what every leaf
    // touches; lanes then share out their loops by hand. A dense metric, which lanes read across, stays with
    // the rest. What is too large even so stays in the buffer, and more lanes hide the waiting.
    const auto bytes_of = [&](int64_t numbers) { return numbers * size_of(choice.type); };
    const int64_t part = layout.other - layout.current + schedule.scratch;
    if (fits(layout, choice.type, 1, true, device) && (chains <= 512 || bytes_of(layout.count) <= 8192))
      shape.home = Home::shared;
    else if (is_gpu(device) && !layout.dense() && bytes_of(part) <= 12288)
      shape.home = Home::split;
    shape.by_hand = shape.home != Home::buffer && is_gpu(device) && device.limits().lanes_by_hand;
    if (shape.home == Home::split && !shape.by_hand) shape.home = Home::buffer;
    if (shape.home == Home::buffer && shape.lanes < 64)
      shape.lanes = std::min(64u, device.limits().max_lanes);
  } else if (!is_gpu(device)) {
    // Chains fill the lanes of vectors, but no more than leave work for every thread. Where the tree is most
    // of the work, lanes wait for each other at every branch: that pays with many chains only.
    const int64_t threads = std::max(1u, std::thread::hardware_concurrency());
    const bool is_light = schedule.work <= light_work;
    const uint32_t most = is_light ? 8 : 64;
    shape.lanes = 1;
    while (shape.lanes < most && shape.lanes * threads < (is_light ? chains / 4 : chains)) shape.lanes *= 2;
    if (is_light && shape.lanes < most) shape.lanes = 1;
    shape.written_out = 2;
    shape.in_vectors = shape.lanes > 1;
    // Arrays lie on the stack of the thread.
    const int64_t bytes = layout.count * size_of(choice.type) * shape.lanes;
    shape.home = bytes <= most_array_bytes ? Home::array : Home::buffer;
  } else {
    shape.lanes = lanes_for(chains, device);
    // What every leaf touches lies in shared memory where a workgroup has few chains. Arrays of the lanes lie
    // interleaved, which suits whole subgroups.
    const bool shares = shape.lanes <= 4 && device.limits().lanes_by_hand &&
                        fits(layout, choice.type, shape.lanes, false, device);
    const bool small_enough = layout.count * size_of(choice.type) <= most_array_bytes / 64;
    shape.home = shares ? Home::shared : small_enough ? Home::array : Home::buffer;
  }
  return shape;
}

uint64_t teams_of(const KernelOptions& shape, int64_t chains) {
  const bool by_hand = !shape.by_team && shape.home == Home::shared;
  return static_cast<uint64_t>(by_hand ? (chains + shape.lanes - 1) / shape.lanes : chains);
}

}  // namespace adit::sampling
