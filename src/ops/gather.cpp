#include "ops/gather.hpp"

#include <algorithm>

#include <adit/kernel/builder.hpp>

#include "ops/scatter_places.hpp"

namespace adit::ops {

using namespace kernel;

std::optional<GatherTuning> choose_phases(const GatherPlan& plan, const Limits& limits) {
  constexpr uint64_t part = uint64_t{1} << 20;  // elements of the table: 4 MiB
  constexpr uint64_t most_phases = 8, fewest_indices = uint64_t{1} << 20;
  if (!limits.lanes_by_hand || plan.table <= 2 * part || plan.table > most_phases * part) return std::nullopt;
  if (plan.count < fewest_indices || plan.count >= uint64_t{1} << 31) return std::nullopt;
  if (size_of(plan.index_type) < 4) return std::nullopt;
  GatherTuning t;
  t.lanes = std::min(t.lanes, limits.max_lanes);
  t.phases = static_cast<uint32_t>((plan.table + part - 1) / part);
  // Phases help teams that run at the same time: some 500 of them do on a large GPU, and fewer leave it idle.
  while (t.each > 4 && plan.count < uint64_t{512} * t.lanes * t.each) t.each /= 2;
  return t;
}

PhasedGather phased_gather(const GatherPlan& plan, const GatherTuning& tuning) {
  const auto [lanes, each, phases] = tuning;
  const auto last = static_cast<uint32_t>(plan.count - 1);
  const auto part = static_cast<uint32_t>((plan.table + phases - 1) / phases);
  const bool exact = plan.count % (uint64_t{lanes} * each) == 0;
  Builder k("phased_gather", Team::many(lanes));
  const Array output = k.buffer("output", Type::u32, Access::write);
  const Array table = k.buffer("table", Type::u32, Access::read);
  const Array indices = k.buffer("indices", plan.index_type, Access::read);
  const Value first = k.team() * (lanes * each) + k.lane();
  std::vector<Value> numbers, places;
  std::vector<Variable> found;
  for (uint32_t j = 0; j < each; ++j) {
    numbers.push_back(first + j * lanes);
    // Who is past the end reads the last index again, and stores nothing.
    const Value at = exact ? numbers[j] : min(numbers[j], last);
    places.push_back(clamped(indices[at], plan.table, Type::u32));
  }
  for (uint32_t j = 0; j < each; ++j) found.push_back(k.variable(Type::u32, 0));
  for (uint32_t phase = 0; phase < phases; ++phase) {
    if (phase > 0) k.barrier();  // keeps the lanes of a team in one phase
    for (uint32_t j = 0; j < each; ++j)
      k.if_(places[j] - phase * part < part, [&] { found[j] = table[places[j]].get(); });
  }
  for (uint32_t j = 0; j < each; ++j) {
    const auto store = [&] { output[numbers[j]] = found[j].get(); };
    if (exact)
      store();
    else
      k.if_(numbers[j] <= last, store);
  }
  return {k.finish(), (plan.count + uint64_t{lanes} * each - 1) / (uint64_t{lanes} * each)};
}

}  // namespace adit::ops
