#include "ops/sort_radix.hpp"

#include <algorithm>
#include <bit>

#include "ops/sort_tiles.hpp"

namespace adit::ops {

using namespace kernel;

namespace radix {
namespace {

enum Tensors : uint8_t { x, values, places, keys_a, keys_b, order_a, order_b, counts, totals };

// 512 lanes of 16 elements were the fastest of eight shapes on an H200; 6144 and 10240 elements a team were
// slower, and so were half and twice as many.
Tiles tiles_for(const SortPlan& plan, const Limits& limits) {
  Tiles tiles;
  tiles.subgroup = limits.subgroup_size;
  tiles.subgroups = std::min(16U, limits.max_lanes / limits.subgroup_size);
  tiles.each = 16;
  const uint64_t key = size_of(SortKeys(plan.type, false, false).key()), tables = 3 * digits * 4;
  while (tiles.subgroups > 1 && tiles.subgroups * digits * 4 + tables > limits.shared_bytes)
    tiles.subgroups /= 2;
  const auto teams = [&] {
    return plan.outer * plan.inner * ((plan.length + tiles.size() - 1) / tiles.size());
  };
  while (tiles.each > 1 && tables + tiles.size() * key > limits.shared_bytes) tiles.each /= 2;
  while (tiles.each > 4 && teams() < 2 * limits.multiprocessors) tiles.each /= 2;
  tiles.tiles = (plan.length + tiles.size() - 1) / tiles.size();
  return tiles;
}

// Lanes of the pass that sums counts: at most so many shares of the tiles as there are tiles.
uint32_t lanes_of_starts(const Tiles& tiles, const Limits& limits) {
  const uint64_t shares = std::bit_ceil(std::min<uint64_t>(tiles.tiles, 64));
  return std::clamp<uint32_t>(static_cast<uint32_t>(shares) * digits_of_starts, 32,
                              std::bit_floor(limits.max_lanes));
}

}  // namespace
}  // namespace radix

bool can_sort_by_digits(const Limits& limits) {
  return limits.lanes_by_hand && limits.fixed_subgroups && limits.subgroup_arithmetic &&
         limits.subgroup_shuffle && limits.subgroup_vote && limits.subgroup_ballot &&
         limits.subgroup_size >= 4 && limits.subgroup_size <= 128;
}

Sort sort_by_digits(const SortPlan& plan, const Limits& limits) {
  using namespace radix;
  const Tiles tiles = tiles_for(plan, limits);
  const SortKeys keys(plan.type, plan.descending, plan.wants_places);
  const uint64_t rows = plan.outer * plan.inner, elements = rows * plan.length, teams = rows * tiles.tiles;
  const uint32_t passes = (keys.bits() + digit_bits - 1) / digit_bits;
  const uint64_t key_bytes = size_of(keys.key());
  Sort made;
  made.scratch = {passes > 1 ? elements * key_bytes : 4,
                  passes > 2 ? elements * key_bytes : 4,
                  plan.wants_places && passes > 1 ? elements * 4 : 4,
                  plan.wants_places && passes > 2 ? elements * 4 : 4,
                  teams * digits * 4,
                  rows * digits * 4};
  const auto add = [&](Program program) {
    made.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made.programs.size() - 1);
  };
  const uint32_t starts = add(starts_pass(tiles, lanes_of_starts(tiles, limits)));
  uint32_t count = 0, move = 0;
  for (uint32_t pass = 0; pass < passes; ++pass) {
    const Ends ends{pass == 0, pass + 1 == passes};
    const uint32_t shift = pass * digit_bits;
    const uint8_t from = ends.is_first ? x : pass % 2 == 1 ? keys_a : keys_b;
    const uint8_t order = pass % 2 == 1 ? order_a : order_b;
    if (pass <= 1) count = add(count_pass(plan, tiles, ends));
    made.passes.push_back({count, teams, {from, counts}, {shift}});
    made.passes.push_back({starts, rows * (digits / digits_of_starts), {counts, totals}});
    if (pass <= 1 || ends.is_last) move = add(move_pass(plan, tiles, ends));
    std::vector<uint8_t> buffers{from};
    if (plan.wants_places && !ends.is_first) buffers.push_back(order);
    buffers.insert(buffers.end(), {counts, totals});
    if (ends.is_last) {
      if (plan.wants_values) buffers.push_back(values);
      if (plan.wants_places) buffers.push_back(places);
      if (looks_up(plan)) buffers.push_back(x);
    } else {
      buffers.push_back(pass % 2 == 0 ? keys_a : keys_b);
      if (plan.wants_places) buffers.push_back(pass % 2 == 0 ? order_a : order_b);
    }
    made.passes.push_back({move, teams, buffers, {shift}});
  }
  return made;
}

}  // namespace adit::ops
