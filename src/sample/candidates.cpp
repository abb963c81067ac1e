#include "sample/candidates.hpp"

#include <algorithm>
#include <bit>

#include "sample/loop_memory.hpp"
#include "sample/placement.hpp"
#include "sample/rows_density.hpp"
#include "sample/shape_limits.hpp"

namespace adit::sampling {

namespace {

// The schedule of a chain in a lane of a CPU or on a team of a GPU; none where kernels lack an operation, or
// would be too long.
std::optional<Schedule> known_schedule(const Density& density, bool on_cpu) {
  if (!fits_a_kernel(density)) return std::nullopt;
  try {
    return make_schedule(density, !on_cpu, on_cpu);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return std::nullopt;
  }
}

Demand demand_of(const Density& density, const Schedule& schedule, int64_t chains) {
  Demand demand{.chains = chains,
                .size = density.size,
                .work = schedule.work,
                .serial = schedule.serial,
                .steps = schedule.steps,
                .products = shared_products(density),
                .written = written_operations(density)};
  for (const Pass& pass : schedule.passes) demand.passes.push_back({pass.count, pass.cost});
  demand.factors = work_by_blocks(schedule);
  return demand;
}

void sort_by_cost(std::vector<Candidate>& all, size_t first) {
  std::stable_sort(all.begin() + static_cast<int64_t>(first), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.microseconds < b.microseconds; });
}

// Whether most of what a team reads are matrices of the data, line by line.
bool is_for_pairs(const Density& density, const Demand& demand) {
  if (2 * demand.products < demand.work) return false;
  const Schedule schedule = make_schedule(density, true, true, TeamShape{.short_result = 4});
  return 2 * numbers_in_lines(schedule) >= demand.products;
}

// Chains one by one, in vectors as wide as leave work for every thread, each by all lanes of a vector, and
// pairs of them: enough for all threads, and none left over.
std::vector<Candidate> on_cpu(const stats::ModelState& model, const Density& density, const Demand& demand,
                              DType type, const Device& device) {
  const Limits& limits = device.limits();
  const Speeds speeds = speeds_of(device);
  const int64_t threads = std::max(1u, limits.processors);
  const auto width = std::max<uint32_t>(1, limits.subgroup_size / (type == DType::f64 ? 2 : 1));
  const auto shared_out = static_cast<uint64_t>((demand.chains + threads - 1) / threads);
  const Choice one{.type = type, .on_cpu = true, .lanes = 1};
  Choice vector = one, team{.type = type, .by_team = true, .on_cpu = true};
  vector.lanes = static_cast<uint32_t>(std::min<uint64_t>(width, std::bit_ceil(shared_out)));
  std::vector<Candidate> all{{one, lane_microseconds(demand, 1, width, limits, speeds)},
                             {team, vectors_microseconds(demand, width, limits, speeds)}};
  if (vector.lanes > 1)
    all.push_back({vector, lane_microseconds(demand, vector.lanes, width, limits, speeds)});
  if (demand.chains % 2 == 0 && demand.chains >= 2 * threads && is_for_pairs(density, demand)) {
    Choice pairs = team;
    pairs.together = 2;
    all.push_back({pairs, pairs_microseconds(demand, width, limits, speeds)});
  }
  all.push_back({outside_choice(model, type, true), host_microseconds(demand, limits, speeds)});
  sort_by_cost(all, 0);
  return all;
}

// Whether a chain's work is too small for a team, or goes on from step to step while lanes are scarce.
bool belongs_in_lanes(const stats::ModelState& model, const Demand& demand, const Limits& limits) {
  // Chains that would be alone in their subgroups are better off with all of its lanes.
  const bool crowded = demand.chains > 4 * static_cast<int64_t>(limits.processors);
  const bool is_loop = 2 * demand.serial > demand.work;
  const bool is_light =
      demand.work <= light_work && demand.written <= (crowded ? long_operations : light_operations);
  return (is_light || (is_loop && crowded)) && model.size <= KernelOptions().written_out;
}

std::vector<Candidate> on_gpu(const stats::ModelState& model, const Density& density, const Demand& demand,
                              const Device& device) {
  const Limits& limits = device.limits();
  const Speeds speeds = speeds_of(device);
  const Choice lane{.type = density.type}, team{.type = density.type, .by_team = true};
  Choice engine = outside_choice(model, density.type, false), rows = engine;
  rows.spreads = true;
  std::vector<Candidate> all{{team, team_microseconds(demand, limits, speeds)}};
  if (rows_schedule(density, limits)) all.push_back({rows, rows_microseconds(demand, limits, speeds)});
  all.push_back({engine, device_microseconds(demand, speeds)});
  sort_by_cost(all, 0);
  const Candidate in_lanes{lane, gpu_lane_microseconds(demand, limits, speeds)};
  if (belongs_in_lanes(model, demand, limits))
    all.insert(all.begin(), in_lanes);
  else
    all.push_back(in_lanes);
  sort_by_cost(all, 1);
  return all;
}

}  // namespace

Choice outside_choice(const stats::ModelState& model, DType type, bool on_cpu) {
  return {.type = type,
          .by_team = !on_cpu && model.size > KernelOptions().written_out,
          .on_cpu = on_cpu,
          .outside = true};
}

std::vector<Candidate> candidates(const stats::ModelState& model, NumberTypes numbers, int64_t chains,
                                  const Device& device) {
  const bool is_cpu = device.info().kind == DeviceKind::cpu;
  const Density density = density_for(model, numbers, chains, device);
  const std::optional<Schedule> schedule = known_schedule(density, is_cpu);
  std::vector<Candidate> all;
  if (!schedule) {
    all.push_back({outside_choice(model, numbers.type, is_cpu), 0});
  } else {
    const Demand demand = demand_of(density, *schedule, chains);
    all = is_cpu ? on_cpu(model, density, demand, numbers.type, device)
                 : on_gpu(model, density, demand, device);
  }
  for (Candidate& each : all) each.choice.wide = numbers.wide;
  return all;
}

bool is_short(const Candidate& best, const SampleOptions& options) {
  constexpr double shortest_run = 0.3;           // seconds
  constexpr double leapfrogs_a_transition = 15;  // a guess: a tree of four doublings
  const double leapfrogs =
      leapfrogs_a_transition * static_cast<double>(options.warmup + options.draws * options.thin);
  return std::max(best.microseconds, least_microseconds) * leapfrogs < shortest_run * 1e6;
}

}  // namespace adit::sampling
