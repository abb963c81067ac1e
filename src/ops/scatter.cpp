#include "ops/scatter.hpp"

#include <algorithm>

#include "ops/scatter_places.hpp"
#include "support/threads.hpp"

namespace adit::ops {

using namespace kernel;

ScatterTarget scatter_target(const Device& device) {
  ScatterTarget target;
  target.cpu = device.info().kind == DeviceKind::cpu;
  target.workers = std::clamp(thread_count(), 1u, 16u);
  target.int64_atomics = device.limits().int64_atomics && device.limits().int64;
  target.shared_bytes = device.limits().shared_bytes;
  target.max_lanes = device.limits().max_lanes;
  target.lanes_by_hand = device.limits().lanes_by_hand && device.limits().subgroup_arithmetic;
  target.int64 = device.limits().int64;
  return target;
}

ScatterMethod choose_method(const ScatterPlan& plan, const ScatterTarget& target) {
  if (target.cpu) return ScatterMethod::ranges;
  const Places places(plan);
  constexpr uint64_t few = 1024, most_looks = uint64_t{1} << 26;
  if (places.updates <= few && places.updates * places.updates * places.slice_size <= most_looks)
    return ScatterMethod::leader;
  if (plan.kind == ScatterKind::put) return ScatterMethod::claim;
  // Few places would make few teams of the last pass.
  constexpr uint64_t many = uint64_t{1} << 18;
  const bool is_large =
      places.updates * places.slice_size >= many && places.bases * places.slice_size >= many;
  return is_large && fits_buckets(places, target) ? ScatterMethod::buckets : ScatterMethod::atomics;
}

Scatter scatter(const ScatterPlan& plan, const ScatterTarget& target) {
  return scatter(plan, target, choose_method(plan, target));
}

Scatter scatter(const ScatterPlan& plan, const ScatterTarget& target, ScatterMethod method) {
  const Places places(plan);
  if (places.updates == 0 || places.bases == 0 || places.slice_size == 0) return {};
  switch (method) {
    case ScatterMethod::leader: return scatter_by_leader(places);
    case ScatterMethod::ranges: return scatter_by_ranges(places, target.workers);
    case ScatterMethod::claim:
      if (plan.kind == ScatterKind::put) return put_by_claim(places);
      break;
    case ScatterMethod::atomics:
      if (plan.kind == ScatterKind::add) return add_by_atomics(places, target.int64_atomics);
      break;
    case ScatterMethod::buckets:
      if (fits_buckets(places, target)) return add_by_buckets(places, target);
      break;
  }
  throw Error(ErrorKind::bad_argument, "[scatter] method: expected one that fits the kind and the type");
}

ScatterPass claim_pass(const Places& places, uint8_t claims_buffer) {
  Builder k("claim", Team::one());
  const Array indices = k.buffer("indices", places.index_type, Access::read);
  const Array claims = k.buffer("claims", Type::u32, Access::read_write);
  const Value update = k.team(places.number_type());
  claims.atomic_max(places.base_of(indices, update), convert(update, Type::u32) + 1);
  return {k.finish(), places.updates, {indices_buffer, claims_buffer}};
}

Scatter put_by_claim(const Places& places) {
  Scatter work;
  work.scratch = {{places.bases * 4}};
  work.passes.push_back(claim_pass(places, scratch_buffer(0)));
  Builder k("put_claimed", Team::one());
  const Array output = k.buffer("output", places.memory_type, Access::write);
  const Array indices = k.buffer("indices", places.index_type, Access::read);
  const Array updates = k.buffer("updates", places.memory_type, Access::read);
  const Array claims = k.buffer("claims", Type::u32, Access::read);
  const Places::Split own = places.split(k.team(places.number_type()));
  const Value update = own.row, element = own.element;
  const Value base = places.base_of(indices, update);
  k.if_(claims[base] == convert(update, Type::u32) + 1, [&] {
    output[places.base_offset(base) + places.slice_offset(element)] =
        updates[places.row_offset(update, element)];
  });
  work.passes.push_back({k.finish(),
                         places.updates * places.slice_size,
                         {output_buffer, indices_buffer, updates_buffer, scratch_buffer(0)}});
  return work;
}

void run_scatter(Device& device, const Scatter& work, const Buffer& output, const Buffer& indices,
                 const Buffer& updates) {
  std::vector<Buffer> buffers{output, indices, updates};
  for (const Scratch& scratch : work.scratch) {
    buffers.push_back(device.allocate(scratch.bytes));
    if (scratch.zeroed) device.fill(buffers.back(), 0);
  }
  for (const ScatterPass& pass : work.passes) {
    std::vector<Argument> arguments;
    for (const uint8_t number : pass.arguments) arguments.emplace_back(buffers[number]);
    device.run(*device.compile(pass.program), pass.teams, arguments);
  }
}

}  // namespace adit::ops
