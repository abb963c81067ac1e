#include "sample/rows_density.hpp"

#include <algorithm>

#include "density/writer.hpp"
#include "kernel/loose.hpp"
#include "sample/compile_beside.hpp"
#include "sample/shape.hpp"
#include "sample/shape_limits.hpp"

namespace adit::sampling {

using kernel::Access;

namespace {

struct Program {
  kernel::Program program;
  Segments segments;
  int64_t shares = 0;  // numbers that a team leaves
};

// Both kernels: the rows of a chain by one of its teams, or the rest of a chain.
// Buffers: points [chains, size], shares [chains, shares, teams]; of the rest also values and gradients; then
// chains_a_set, reals, places, and how much of these a data set takes.
Program make_program(const Density& density, const Schedule& schedule, int64_t teams, bool has_sets,
                     bool is_rest, uint32_t lanes, bool fuses) {
  const Type real = density.type == DType::f64 ? Type::f64 : Type::f32;
  Builder k(is_rest ? "rest_of_density" : "rows_of_density", kernel::Team::many(lanes));
  k.set_rounds_exactly(schedule.on_cpu);
  const kernel::Loose loose(k, fuses);
  Chain chain(k, true, real, 0, false);
  DensityWriter writer(chain, density, schedule);
  const Array points = k.buffer("points", real, Access::read);
  RowShare share;
  share.shares = k.buffer("shares", real, is_rest ? Access::read : Access::write);
  share.teams = teams;
  Array values, gradients;
  if (is_rest) {
    values = k.buffer("values", compute_type(density.value.dtype()), Access::write);
    gradients = k.buffer("gradients", real, Access::read_write);
  }
  const Value chains_a_set = k.scalar("chains_a_set", Type::u32);
  const Value number = is_rest ? k.team() : k.team() / teams;
  if (!is_rest) share.team = k.team() % teams;
  writer.declare(has_sets ? number / chains_a_set : Value());
  share.base = number * (writer.shares_of_a_team() * teams);
  Vector scratch;
  if (schedule.scratch > 0)
    scratch = Vector(k.shared(real, static_cast<uint32_t>(schedule.scratch)), chain.index(0));
  const Vector q(points, number * density.size);
  if (is_rest) {
    const Value value = writer.write_rest(q, Vector(gradients, number * density.size), scratch, share);
    k.once([&] { values[number] = value; });
  } else {
    writer.write_share(q, scratch, share);
  }
  Program made;
  made.shares = writer.shares_of_a_team();
  made.segments = writer.segments();
  made.program = k.finish();
  return made;
}

// Every subgroup leaves its sums in shared memory: where they are small, a team has fewer lanes.
uint32_t lanes_for_rows(const Limits& limits) {
  constexpr uint32_t most_subgroups = 16;
  return std::min({rows_lanes, limits.max_lanes, most_subgroups * std::max(1U, limits.subgroup_size)});
}

}  // namespace

std::optional<Schedule> rows_schedule(const Density& density, const Limits& limits) {
  if (!fits_a_kernel(density)) return std::nullopt;
  const uint32_t lanes = lanes_for_rows(limits);
  TeamShape team = team_shape(lanes, limits);
  team.spreads = team.all_near = true;
  team.short_result = 4;
  try {
    Schedule schedule = make_schedule(density, true, false, team);
    const int64_t numbers = schedule.scratch + numbers_of_sums(schedule, density.type, lanes, limits);
    const int64_t bytes = numbers * static_cast<int64_t>(size_of(density.type));
    if (schedule.spread_pass < 0 || bytes + spare_shared_bytes > limits.shared_bytes) return std::nullopt;
    return schedule;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return std::nullopt;
  }
}

int64_t teams_for_rows(const Schedule& schedule, int64_t chains, const Limits& limits) {
  const int64_t rows = schedule.passes[static_cast<size_t>(schedule.spread_pass)].count;
  const int64_t busy = int64_t{rows_teams} * limits.multiprocessors / std::max<int64_t>(1, chains);
  return std::clamp<int64_t>(busy, 1, std::max<int64_t>(1, rows / (2 * lanes_for_rows(limits))));
}

RowsDensity::RowsDensity(const stats::ModelState& model, const Density& density, const Schedule& schedule,
                         const std::vector<DataSet>& sets, int64_t chains_a_set, int64_t teams,
                         std::shared_ptr<Device> device)
    : device_(std::move(device)),
      chains_(chains_a_set * static_cast<int64_t>(sets.size())),
      chains_a_set_(chains_a_set),
      teams_(teams),
      has_sets_(sets.size() > 1) {
  const Limits& limits = device_->limits();
  const auto program = [&](bool is_rest) {
    return make_program(density, schedule, teams, has_sets_, is_rest, lanes_for_rows(limits),
                        limits.fused_fma);
  };
  const Program rows = program(false), rest = program(true);
  auto compiled_rows = compile_beside(device_, rows.program);
  auto compiled_rest = compile_beside(device_, rest.program);
  rows_.data = bind_data(model, density, rows.segments, sets, *device_);
  rest_.data = bind_data(model, density, rest.segments, sets, *device_);
  rows_.kernel = compiled_rows.get();
  rest_.kernel = compiled_rest.get();
  const int64_t shares = rest.shares;
  const auto room = [&](int64_t count) {
    return device_->allocate(std::max<uint64_t>(16, static_cast<uint64_t>(count) * size_of(density.type)));
  };
  const auto values = static_cast<int64_t>(size_of(density.value.dtype()) / size_of(density.type));
  points_ = room(chains_ * density.size);
  shares_ = room(chains_ * shares * teams_);
  values_ = room(chains_ * values);
  gradients_ = room(chains_ * density.size);
  // Read before a kernel wrote: points that are numbers.
  const std::vector<std::byte> zero(points_.bytes());
  device_->write(points_, zero.data(), zero.size());
  evaluate();
}

std::vector<Argument> RowsDensity::arguments(const Part& part, std::initializer_list<Buffer> buffers) const {
  std::vector<Argument> list(buffers.begin(), buffers.end());
  list.emplace_back(static_cast<uint32_t>(chains_a_set_));
  list.emplace_back(part.data.reals);
  list.emplace_back(part.data.places);
  if (has_sets_) {
    list.emplace_back(part.data.set_reals);
    list.emplace_back(part.data.set_places);
  }
  return list;
}

void RowsDensity::evaluate() {
  device_->run(*rows_.kernel, static_cast<uint64_t>(chains_ * teams_), arguments(rows_, {points_, shares_}));
  device_->run(*rest_.kernel, static_cast<uint64_t>(chains_),
               arguments(rest_, {points_, shares_, values_, gradients_}));
}

}  // namespace adit::sampling
