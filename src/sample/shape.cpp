#include "sample/shape.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <mutex>

#include "graph/graph_lock.hpp"
#include "lower/code_length.hpp"
#include "sample/candidates.hpp"
#include "sample/loop_memory.hpp"
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

// Slots of the stack that fit into half the shared memory of a workgroup, beside what else its chains keep
// there; so that four workgroups still fit on a processor. Negative: not even that fits.
int64_t slots_that_fit(const Layout& layout, DType type, uint32_t chains, const Device& device) {
  const int64_t bytes = chains * size_of(type);
  const bool registers = layout.proposal_fits_registers(size_of(type));
  const int64_t room = static_cast<int64_t>(device.limits().shared_bytes) / shared_part / bytes - 1 -
                       (layout.stack - (registers ? layout.other : layout.proposal));
  return room < 0 ? -1 : std::min(layout.slots(), room / layout.slot);
}

// A kernel of pairs has the density three times.
Choice best_choice(const stats::ModelState& model, const SampleOptions& options, NumberTypes numbers,
                   int64_t chains, const Device& device) {
  const std::vector<Candidate> all = candidates(model, numbers, chains, device);
  return all[0].choice.together > 1 && is_short(all[0], options) ? all[1].choice : all[0].choice;
}

}  // namespace

TeamShape team_shape(uint32_t lanes, const Limits& limits) {
  TeamShape team;
  if (limits.lanes_by_hand) team.lanes = lanes;
  if (limits.lanes_by_hand && limits.subgroup_shuffle && limits.fixed_subgroups &&
      lanes % limits.subgroup_size == 0)
    team.subgroup = limits.subgroup_size;
  return team;
}

// Numbers of shared memory in which a team's subgroups hand round the totals of a pass, in two turns.
int64_t numbers_of_sums(const Schedule& schedule, DType type, uint32_t lanes, const Limits& limits) {
  int64_t most = 0;
  for (const Pass& pass : schedule.passes) {
    int64_t totals = 0;
    for (const Item& item : pass.items)
      if (item.kind == ItemKind::totals)
        totals += 2 * element_count(item.node->shape) * (item.node->type == type ? 1 : 2);
    most = std::max(most, totals);
  }
  return 2 * most * std::max<int64_t>(1, lanes / std::max(1u, limits.subgroup_size));
}

const char* name_of(DType type, Wide wide) {
  return type == DType::f64 ? "f64" : wide == Wide::value ? "mixed" : "f32";
}

// Halves of f64 in memory of f32 take 64 bits to put together.
bool has_mixed(const Device& device) { return device.limits().float64 && device.limits().int64; }

NumberTypes numbers_of(const stats::ModelState& model, const SampleOptions& options, const Device& device) {
  // On an H200 a row's addition in f64 made a logistic regression four times as slow (20,000 rows of 64
  // numbers, spread over teams: 360,000 leapfrogs a second, 88,000 with it); on a CPU it costs a hundredth.
  const NumberTypes single(DType::f32, is_gpu(device) ? Wide::nothing : Wide::totals);
  switch (options.precision) {
    case Precision::automatic:
      return is_gpu(device) && !(model.wants_double && device.limits().float64) ? single
                                                                                : NumberTypes(DType::f64);
    case Precision::f32: return single;
    case Precision::mixed:
      if (has_mixed(device)) return {DType::f32, Wide::value};
      break;
    case Precision::f64:
      if (device.limits().float64) return DType::f64;
      break;
  }
  const bool has_double = device.limits().float64;
  throw Error(ErrorKind::unsupported,
              fmt::format("[sample] precision: expected {} on {}, which has no {}, got {}",
                          has_double ? "f32 or f64" : "f32", device.info().id,
                          has_double ? "integers of 64 bits" : "f64",
                          options.precision == Precision::f64 ? "f64" : "mixed"));
}

namespace {

// About how long the code of the value is.
double length_of(const stats::ModelState& model) {
  Tensors totals;
  for (const auto& term : model.terms) totals.push_back(term.total);
  double length = 0;
  const std::lock_guard lock(graph::graph_lock());
  for (const Tensor& x : graph::reachable(totals, true))
    length += static_cast<double>(std::min(x.size(), small)) + lower::code_length(graph::node_of(x));
  return length;
}

// Whether a kernel of the sampler may hold the density. Of a short one that is told without making it: a
// gradient has some operations for each of the value's.
bool fits_a_kernel(const stats::ModelState& model, NumberTypes numbers, int64_t chains,
                   const Device& device) {
  constexpr double of_a_gradient = 8;
  return length_of(model) * of_a_gradient <= most_kernel_operations ||
         fits_a_kernel(density_for(model, numbers, chains, device));
}

}  // namespace

Choice choose(const stats::ModelState& model, const SampleOptions& options, int64_t chains,
              const Device& device) {
  const NumberTypes numbers = numbers_of(model, options, device);
  Choice choice{.type = numbers.type, .wide = numbers.wide, .on_cpu = !is_gpu(device)};
  switch (options.placement) {
    case Placement::lane: break;
    case Placement::team: choice.by_team = true; break;
    case Placement::device:
      choice = outside_choice(model, numbers.type, choice.on_cpu);
      choice.wide = numbers.wide;
      break;
    case Placement::automatic: return best_choice(model, options, numbers, chains, device);
  }
  if (!choice.outside && !fits_a_kernel(model, numbers, chains, device)) {
    choice = outside_choice(model, numbers.type, choice.on_cpu);
    choice.wide = numbers.wide;
  }
  return choice;
}

namespace {

// Numbers of shared memory that a team may take, so that as many teams share a multiprocessor's as are
// there at a time.
int64_t room_of_team(uint32_t lanes, int64_t chains, DType type, const Device& device) {
  const Limits& limits = device.limits();
  const int64_t subgroups = std::max<int64_t>(1, lanes / std::max(1u, limits.subgroup_size));
  // All of them, where there are few: some that had to wait for the others would take as long again.
  const int64_t all = (chains + limits.multiprocessors - 1) / std::max(1u, limits.multiprocessors);
  const int64_t together = std::clamp<int64_t>(resident_subgroups / subgroups, 1, std::max<int64_t>(1, all));
  const int64_t bytes = std::min<int64_t>(limits.shared_bytes, limits.multiprocessor_shared_bytes / together);
  return std::max<int64_t>(0, bytes - spare_shared_bytes) / static_cast<int64_t>(size_of(type));
}

// What every leaf touches, beside the density's scratch.
int64_t hot_numbers(const Layout& layout) {
  return layout.proposal - std::min(layout.inverse_metric, layout.current);
}

// Whether a team is better off with twice its lanes.
bool grows(int64_t lanes, int64_t elements, int64_t chains, const Device& device) {
  const int64_t places = busy_lanes * device.limits().processors, wanted = 2 * lanes * chains;
  if (2 * wanted <= places) return lanes * lane_elements <= elements;
  return wanted <= places && 2 * lanes <= crowded_lanes && lanes * crowded_lane_elements <= elements;
}

// Lanes of a team: as many as the longest loop can use while there is room for them on the processors, fewer
// when there is not, since sums over lanes cost more the more lanes there are. What loops do from step to
// step all lanes do alike: where that takes longer than what 32 of them share, more are no help (GARCH of
// 1,000 days on an H200: 2.7 million leapfrogs/s with 64 lanes, 6.4 with 32).
uint32_t team_lanes(const Schedule& schedule, const Layout& layout, int64_t chains, DType type,
                    const Device& device) {
  int64_t longest = layout.size;
  for (const Pass& pass : schedule.passes) longest = std::max(longest, pass.count);
  const int64_t a_pass = schedule.work / std::max<int64_t>(1, std::ssize(schedule.passes));
  uint32_t lanes = 32;
  if (32 * schedule.serial < schedule.work - schedule.serial)
    while (lanes < 256 && grows(lanes, a_pass, chains, device)) lanes *= 2;
  // More lanes are fewer teams on a multiprocessor, with more memory each.
  const int64_t wanted = hot_numbers(layout) + schedule.scratch;
  const auto fits = [&](uint32_t many) { return wanted <= room_of_team(many, chains, type, device); };
  const bool most_fits = 2 * wanted <= 3 * room_of_team(lanes, chains, type, device);
  if (!most_fits && fits(256) && 2 * schedule.serial < schedule.work)
    while (lanes < 256 && lanes * 2 <= longest && !fits(lanes)) lanes *= 2;
  return std::min(lanes, device.limits().max_lanes);
}

// Shared memory holds the state while as many teams fit on a processor as there are, or else what every leaf
// touches and as much of the scratch as there is room for; lanes then share out their loops by hand. A dense
// metric, which lanes read across, stays with the rest. What is too large even so stays in the buffer.
KernelPlan plan_team(KernelOptions shape, const Density& density, const SampleOptions& options,
                     int64_t chains, const Device& device, const Forced& forced) {
  Schedule schedule = make_schedule(density, true, false);
  const Limits& limits = device.limits();
  const auto layout_of = [&](const Schedule& of) {
    return make_layout(density.size, options.metric, options.max_depth, of.scratch, of.near);
  };
  const Layout first = layout_of(schedule);
  shape.lanes = forced.lanes ? forced.lanes : team_lanes(schedule, first, chains, density.type, device);
  TeamShape team = team_shape(shape.lanes, limits);
  team.short_result = 4;
  schedule = make_schedule(density, true, false, team);
  const Layout whole = layout_of(schedule);
  const int64_t hot = hot_numbers(whole);
  const int64_t room = room_of_team(shape.lanes, chains, density.type, device) -
                       numbers_of_sums(schedule, density.type, shape.lanes, limits);
  if (whole.count <= room)
    shape.home = Home::shared;
  else if (limits.lanes_by_hand && !whole.dense() && hot <= room)
    shape.home = Home::split;
  if (forced.home) shape.home = *forced.home;
  if (shape.home == Home::split) {
    team.near = std::max<int64_t>(0, room - hot);
    schedule = make_schedule(density, true, false, team);
  }
  schedule.team.all_near = shape.home == Home::shared;
  shape.by_hand = shape.home != Home::buffer && limits.lanes_by_hand;
  return {std::move(schedule), shape};
}

// A chain by all lanes of a CPU's vectors.
void shape_cpu_team(KernelOptions& shape, const Layout& layout, DType type, const Device& device,
                    const Forced& forced) {
  shape.lanes = forced.lanes ? forced.lanes : std::min(32u, device.limits().max_lanes);
  if (shape.together > 1) return;  // they take turns with what a thread has
  const int64_t bytes = layout.count * static_cast<int64_t>(size_of(type));
  if (bytes + spare_shared_bytes <= device.limits().shared_bytes) shape.home = Home::shared;
  if (forced.home) shape.home = *forced.home;
}

// A team that is not full goes on with chains that are done, so that there must be some.
void check_together(int64_t together, int64_t chains, int64_t sets) {
  if (chains % together == 0 && sets == 1) return;
  throw Error(
      ErrorKind::bad_argument,
      fmt::format("[sample] layout: expected a multiple of {} chains of one data set for teams of {}, "
                  "got {} of {}",
                  together, together, chains, sets));
}

// Lanes of a CPU's vectors that chains fill, but no more than leave work for every thread.
uint32_t vector_lanes(int64_t chains, DType type, const Device& device) {
  const int64_t threads = std::max(1u, device.limits().processors);
  const uint32_t width = std::max<uint32_t>(1, device.limits().subgroup_size / (type == DType::f64 ? 2 : 1));
  return chains > 2 * threads ? width : 1;
}

void shape_vectors(KernelOptions& shape, const Layout& layout, int64_t chains, DType type,
                   const Device& device, const Forced& forced) {
  shape.lanes = forced.lanes ? forced.lanes : vector_lanes(chains, type, device);
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

KernelPlan plan_kernel(const Density& density, const SampleOptions& options, int64_t chains, int64_t sets,
                       const Choice& choice, const Device& device, const Forced& wished) {
  Forced forced = wished;
  if (!forced.lanes) forced.lanes = choice.lanes;
  KernelOptions shape;
  shape.by_team = choice.by_team;
  shape.outside = choice.outside;
  shape.fuses = device.limits().fused_fma;
  shape.sets = sets;
  if (choice.outside) {  // a dispatch is one round: what it does not touch stays where it is
    shape.lanes = is_gpu(device) ? std::min(32u, device.limits().max_lanes) : 1;
    if (forced.lanes) shape.lanes = forced.lanes;
    shape.written_out = 2;
    return {Schedule(), shape};
  }
  if (choice.by_team) shape.together = forced.together ? forced.together : sets > 1 ? 1 : choice.together;
  if (shape.together > 1) check_together(shape.together, chains, sets);
  if (choice.by_team && is_gpu(device)) return plan_team(shape, density, options, chains, device, forced);
  TeamShape team;
  if (choice.by_team) team.short_result = 4;  // loops compile sooner than numbers one by one
  Schedule schedule = make_schedule(density, choice.by_team, choice.on_cpu, team);
  const Layout layout = make_layout(density.size, options.metric, options.max_depth, schedule.scratch);
  if (choice.by_team)
    shape_cpu_team(shape, layout, choice.type, device, forced);
  else if (is_gpu(device))
    shape_lanes(shape, layout, chains, options.adapt, choice.type, device, forced);
  else
    shape_vectors(shape, layout, chains, choice.type, device, forced);
  shape.in_step = !choice.by_team && shape.lanes > 1;
  return {std::move(schedule), shape};
}

uint64_t teams_of(const KernelOptions& shape, int64_t chains) {
  const bool by_hand = !shape.by_team && shape.home == Home::shared;
  return static_cast<uint64_t>(by_hand ? (chains + shape.lanes - 1) / shape.lanes : chains / shape.together);
}

}  // namespace adit::sampling
