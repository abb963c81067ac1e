#include "ops/sort_radix.hpp"

#include <algorithm>

#include <adit/kernel/builder.hpp>

#include "ops/cumulative.hpp"
#include "ops/sort_keys.hpp"

namespace adit::ops {

using namespace kernel;

namespace radix {
namespace {

constexpr uint32_t digit_bits = 8, digits = 1 << digit_bits;
constexpr uint32_t subgroups = 8;  // of a team: each has its own table of digits

enum Tensors : uint8_t { x, values, places, keys_a, keys_b, order_a, order_b, counts, starts, totals };

struct Tiles {
  uint32_t lanes = 256, subgroup = 32, each = 16;
  uint64_t tiles = 1;  // of a row
  uint32_t size() const { return lanes * each; }
};

// What a pass reads and writes: the first from x, the last to the results.
struct Ends {
  bool is_first = false, is_last = false;
};

class TilePass {
 protected:
  TilePass(const SortPlan& plan, const Tiles& tiles, Ends ends, const char* name)
      : plan_(plan),
        tiles_(tiles),
        ends_(ends),
        keys_(plan.type, plan.descending, plan.wants_places),
        k_(name, Team::many(tiles.lanes)) {}

  // After the buffers: parameters come in order.
  void find_tile() {
    shift_ = k_.scalar("shift", Type::u32);
    const Value team = k_.team(Type::u64);
    row_ = team / tiles_.tiles;
    tile_ = team % tiles_.tiles;
    first_ = convert(tile_ * uint64_t{tiles_.size()}, Type::u32);
    subgroup_ = k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    lane_ = subgroup_ * tiles_.subgroup + inside_;
  }
  Value word(uint64_t number) { return k_.constant(Type::u32, number); }
  uint32_t length() const { return static_cast<uint32_t>(plan_.length); }

  // Element number i of the row, from x or from the keys of the pass before.
  Value given_place(Value i) {
    const Value outer = row_ / plan_.inner, inner = row_ % plan_.inner;
    return (outer * plan_.length + convert(i, Type::u64)) * plan_.inner + inner;
  }
  Value packed_place(Value i) { return row_ * plan_.length + convert(i, Type::u64); }
  Value load_key(const Array& from, Value i) {
    const Value inside = i < length(), safe = select(inside, i, i.like(length() - 1));
    const Value key = ends_.is_first ? keys_.of(from[given_place(safe)]) : from[packed_place(safe)].get();
    return select(inside, key, key.like(~uint64_t{0}));
  }
  Value digit_of(Value key) { return convert(key >> convert(shift_, key.type()), Type::u32) & (digits - 1); }
  // Elements of a subgroup follow each other; a step is as many as it has lanes.
  Value element(uint32_t step) {
    return subgroup_ * (tiles_.each * tiles_.subgroup) + (inside_ + step * tiles_.subgroup);
  }
  Value table_place(Value digit) {
    return (row_ * uint64_t{digits} + convert(digit, Type::u64)) * tiles_.tiles + tile_;
  }
  Type key_memory() const { return ends_.is_first ? keys_.word() : keys_.key(); }

  const SortPlan& plan_;
  const Tiles& tiles_;
  Ends ends_;
  SortKeys keys_;
  Builder k_;
  Value shift_, row_, tile_, first_, subgroup_, inside_, lane_;
};

// How many elements of each digit a tile has.
class Count : protected TilePass {
 public:
  Count(const SortPlan& plan, const Tiles& tiles, Ends ends) : TilePass(plan, tiles, ends, "sort_count") {}
  Program build() {
    const Array from = k_.buffer("keys", key_memory(), Access::read),
                to = k_.buffer("counts", Type::u32, Access::write);
    find_tile();
    const Array table = k_.shared(Type::u32, subgroups * digits);
    for (uint32_t i = 0; i < subgroups * digits / tiles_.lanes; ++i) table[lane_ + i * tiles_.lanes] = 0;
    std::vector<Value> found;
    for (uint32_t step = 0; step < tiles_.each; ++step)
      found.push_back(load_key(from, first_ + element(step)));
    k_.barrier();
    for (uint32_t step = 0; step < tiles_.each; ++step)
      k_.if_(first_ + element(step) < length(),
             [&] { table.atomic_add(subgroup_ * digits + digit_of(found[step]), word(1)); });
    k_.barrier();
    for (uint32_t i = 0; i < digits / std::min(digits, tiles_.lanes); ++i) {
      const Value digit = lane_ + i * tiles_.lanes;
      k_.if_(digit < digits, [&] {
        Value sum = word(0);
        for (uint32_t s = 0; s < subgroups; ++s) sum = sum + table[digit + s * digits];
        to[table_place(digit)] = sum;
      });
    }
    return k_.finish();
  }
};

// Each tile's elements to where its share of their digit begins.
class Move : protected TilePass {
 public:
  Move(const SortPlan& plan, const Tiles& tiles, Ends ends) : TilePass(plan, tiles, ends, "sort_move") {}

  Program build() {
    declare();
    find_tile();
    tables_ = k_.shared(Type::u32, subgroups * digits);
    begins_ = k_.shared(Type::u32, digits);
    to_ = k_.shared(Type::u32, digits);
    partial_ = k_.shared(Type::u32, digits);
    exchange_ = k_.shared(keys_.key(), tiles_.size());
    for (uint32_t i = 0; i < subgroups * digits / tiles_.lanes; ++i) tables_[lane_ + i * tiles_.lanes] = 0;
    std::vector<Value> keys, order;
    for (uint32_t step = 0; step < tiles_.each; ++step) {
      const Value i = first_ + element(step);
      keys.push_back(load_key(from_, i));
      if (carries_order()) order.push_back(ends_.is_first ? i : load_order(i));
    }
    k_.barrier();
    std::vector<Value> ranks;
    for (const Value& key : keys) ranks.push_back(rank_in_subgroup(digit_of(key)));
    k_.barrier();
    sum_tables();
    std::vector<Value> at;
    for (uint32_t step = 0; step < tiles_.each; ++step) {
      const Value digit = digit_of(keys[step]);
      at.push_back(begins_[digit] + tables_[subgroup_ * digits + digit] + ranks[step]);
      exchange_[at[step]] = keys[step];
    }
    k_.barrier();
    store_sorted(at, order);
    return k_.finish();
  }

 private:
  bool carries_order() const { return plan_.wants_places; }

  void declare() {
    from_ = k_.buffer("keys", key_memory(), Access::read);
    if (carries_order() && !ends_.is_first) order_from_ = k_.buffer("order", Type::u32, Access::read);
    counts_ = k_.buffer("counts", Type::u32, Access::read);
    starts_ = k_.buffer("starts", Type::u32, Access::read);
    if (ends_.is_last) {
      if (plan_.wants_values) to_keys_ = k_.buffer("values", keys_.word(), Access::write);
      if (plan_.wants_places) to_order_ = k_.buffer("places", Type::i64, Access::write);
      if (gathers()) x_ = k_.buffer("x", keys_.word(), Access::read);
    } else {
      to_keys_ = k_.buffer("to_keys", keys_.key(), Access::write);
      if (carries_order()) to_order_ = k_.buffer("to_order", Type::u32, Access::write);
    }
  }
  // Keys that take -0 for 0 do not tell the element.
  bool gathers() const { return plan_.wants_values && plan_.wants_places && is_float(plan_.type); }
  Value load_order(Value i) {
    return order_from_[packed_place(select(i < length(), i, i.like(length() - 1)))];
  }

  // Which lanes of the subgroup have this digit, in words of 32 lanes.
  std::vector<Value> peers_of(Value digit) {
    const uint32_t words = (tiles_.subgroup + 31) / 32;
    std::vector<Value> peers;
    for (uint32_t w = 0; w < words; ++w) {
      const uint32_t lanes = std::min(32U, tiles_.subgroup - 32 * w);
      peers.push_back(word(lanes == 32 ? ~uint32_t{0} : (1U << lanes) - 1));
    }
    for (uint32_t b = 0; b < digit_bits; ++b) {
      const Value is_set = (digit >> b & 1) != 0;
      for (uint32_t w = 0; w < words; ++w) {
        const Value mine = words == 1 ? is_set : is_set && inside_ / 32 == w;
        const Value set =
            k_.subgroup_reduce(Reduction::bit_or, select(mine, word(1) << (inside_ % 32), word(0)));
        peers[w] = peers[w] & select(is_set, set, ~set);
      }
    }
    return peers;
  }

  // How many elements of this digit stand before this one, among those of the subgroup. The first of a step's
  // equals takes the places for all of them.
  Value rank_in_subgroup(Value digit) {
    const std::vector<Value> peers = peers_of(digit);
    Value before = word(0), all = word(0), leader = word(0);
    for (size_t w = peers.size(); w-- > 0;) {
      const auto base = static_cast<uint32_t>(32 * w);
      const Value bit = inside_ - base;  // meant where the lane is in this word
      const Value below = peers.size() == 1 ? (word(1) << bit) - 1
                          : w == 0          ? select(inside_ < 32, (word(1) << (inside_ % 32)) - 1, word(~0U))
                                            : select(inside_ < 32, word(0), (word(1) << (inside_ % 32)) - 1);
      before = before + count_ones(peers[w] & below);
      all = all + count_ones(peers[w]);
      leader = select(peers[w] != 0, trailing_zeros(peers[w]) + base, leader);
    }
    const Variable taken = k_.variable(Type::u32, 0);
    k_.if_(before == 0, [&] { taken = tables_.atomic_add(subgroup_ * digits + digit, all); });
    return k_.subgroup_shuffle(taken.get(), leader) + before;
  }

  // Tables become where a subgroup's share of a digit begins, relative to the tile's; begins_ where the
  // tile's does among its own elements; to_ what leads from there to the place in the row.
  void sum_tables() {
    const uint32_t rounds = std::max(1U, digits / tiles_.lanes), parts = tiles_.lanes / tiles_.subgroup;
    std::vector<Value> mine;
    for (uint32_t round = 0; round < rounds; ++round) {
      const Value digit = lane_ + round * tiles_.lanes;
      const Variable sum = k_.variable(Type::u32, 0);
      const auto add_up = [&] {
        Value so_far = word(0);
        for (uint32_t s = 0; s < subgroups; ++s) {
          const Value count = tables_[digit + s * digits];
          tables_[digit + s * digits] = so_far;
          so_far = so_far + count;
        }
        sum = so_far;
      };
      if (tiles_.lanes > digits)
        k_.if_(digit < digits, add_up);
      else
        add_up();
      mine.push_back(sum.get());
      const Value inclusive = k_.subgroup_inclusive(Reduction::add, sum.get());
      begins_in_part_.push_back(inclusive - sum.get());
      k_.if_(inside_ == tiles_.subgroup - 1, [&] { partial_[subgroup_ + round * parts] = inclusive; });
    }
    k_.barrier();
    for (uint32_t round = 0; round < rounds; ++round) {
      const Value digit = lane_ + round * tiles_.lanes, part = subgroup_ + round * parts;
      Value before = word(0);
      for (uint32_t p = 0; p < rounds * parts; ++p)
        before = before + select(part > p, partial_[word(p)].get(), word(0));
      const Value begin = before + begins_in_part_[round];
      const auto put = [&] {
        begins_[digit] = begin;
        const Value place = table_place(digit);
        to_[digit] = starts_[place].get() - counts_[place].get() - begin;
      };
      if (tiles_.lanes > digits)
        k_.if_(digit < digits, put);
      else
        put();
    }
    k_.barrier();
  }

  void store_sorted(const std::vector<Value>& at, const std::vector<Value>& order) {
    const Value valid = min(word(length()) - first_, word(tiles_.size()));
    std::vector<Value> to;
    for (uint32_t step = 0; step < tiles_.each; ++step) {
      const Value i = lane_ + step * tiles_.lanes, key = exchange_[i];
      to.push_back(to_[digit_of(key)] + i);
      if (ends_.is_last && (!plan_.wants_values || gathers())) continue;
      k_.if_(i < valid, [&] {
        if (ends_.is_last)
          to_keys_[given_place(to[step])] = keys_.element(key);
        else
          to_keys_[packed_place(to[step])] = key;
      });
    }
    if (!carries_order()) return;
    k_.barrier();
    for (uint32_t step = 0; step < tiles_.each; ++step)
      exchange_[at[step]] = convert(order[step], keys_.key());
    k_.barrier();
    for (uint32_t step = 0; step < tiles_.each; ++step) {
      const Value i = lane_ + step * tiles_.lanes, place = convert(exchange_[i].get(), Type::u32);
      k_.if_(i < valid, [&] {
        if (!ends_.is_last) {
          to_order_[packed_place(to[step])] = place;
          return;
        }
        to_order_[given_place(to[step])] = convert(place, Type::i64);
        if (gathers()) to_keys_[given_place(to[step])] = x_[given_place(place)];
      });
    }
  }

  Array from_, order_from_, counts_, starts_, to_keys_, to_order_, x_;
  Array tables_, begins_, to_, partial_, exchange_;
  std::vector<Value> begins_in_part_;
};

Tiles tiles_for(const SortPlan& plan, const Limits& limits) {
  Tiles tiles;
  tiles.subgroup = limits.subgroup_size;
  tiles.lanes = subgroups * limits.subgroup_size;
  const uint64_t key = size_of(SortKeys(plan.type, false, false).key()),
                 tables = (subgroups + 3) * digits * 4;
  while (tiles.each > 1 && tables + tiles.size() * key > limits.shared_bytes) tiles.each /= 2;
  tiles.tiles = (plan.length + tiles.size() - 1) / tiles.size();
  return tiles;
}

// Running sums of the counts, digit by digit and tile by tile.
Cumulative starts_of(const SortPlan& plan, const Tiles& tiles, const Limits& limits) {
  CumulativePlan sums;
  sums.kind = CumulativeKind::sum;
  sums.type = Type::u32;
  sums.outer = plan.outer * plan.inner;
  sums.length = digits * tiles.tiles;
  sums.invocations = 8192ULL * limits.processors;
  sums.shortest = 64;
  sums.in_tiles = true;
  if (limits.max_loop_trips) sums.longest = std::max<uint64_t>(2, limits.max_loop_trips / 2);
  return cumulative(sums);
}

}  // namespace
}  // namespace radix

bool can_sort_by_digits(const Limits& limits) {
  return limits.lanes_by_hand && limits.fixed_subgroups && limits.subgroup_arithmetic &&
         limits.subgroup_shuffle && limits.subgroup_size >= 4 &&
         limits.subgroup_size * radix::subgroups <= limits.max_lanes;
}

Sort sort_by_digits(const SortPlan& plan, const Limits& limits) {
  using namespace radix;
  const Tiles tiles = tiles_for(plan, limits);
  const SortKeys keys(plan.type, plan.descending, plan.wants_places);
  const uint64_t rows = plan.outer * plan.inner, elements = rows * plan.length, teams = rows * tiles.tiles;
  const uint32_t passes = (keys.bits() + digit_bits - 1) / digit_bits;
  const uint64_t key_bytes = size_of(keys.key()), table_bytes = rows * digits * tiles.tiles * 4;
  Sort made;
  const Cumulative sums = starts_of(plan, tiles, limits);
  made.scratch = {passes > 1 ? elements * key_bytes : 4,
                  passes > 2 ? elements * key_bytes : 4,
                  plan.wants_places && passes > 1 ? elements * 4 : 4,
                  plan.wants_places && passes > 2 ? elements * 4 : 4,
                  table_bytes,
                  table_bytes};
  for (const uint64_t numbers : sums.totals) made.scratch.push_back(numbers * size_of(sums.total_type));
  const auto add = [&](Program program) {
    made.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made.programs.size() - 1);
  };
  std::vector<uint32_t> sum_programs;
  for (const CumulativePass& pass : sums.passes) sum_programs.push_back(add(pass.program));
  uint32_t count = 0, move = 0;
  for (uint32_t pass = 0; pass < passes; ++pass) {
    const Ends ends{pass == 0, pass + 1 == passes};
    const uint32_t shift = pass * digit_bits;
    const uint8_t from = ends.is_first ? x : pass % 2 == 1 ? keys_a : keys_b;
    const uint8_t order = pass % 2 == 1 ? order_a : order_b;
    if (pass <= 1) count = add(Count(plan, tiles, ends).build());
    made.passes.push_back({count, teams, {from, counts}, {shift}});
    for (size_t i = 0; i < sums.passes.size(); ++i) {
      SortPass sum{sum_programs[i], sums.passes[i].teams, {}};
      for (const uint8_t which : sums.passes[i].arguments)
        sum.buffers.push_back(static_cast<uint8_t>(which == 0   ? counts
                                                   : which == 1 ? starts
                                                                : totals + which - 2));
      made.passes.push_back(sum);
    }
    if (pass <= 1 || ends.is_last) move = add(Move(plan, tiles, ends).build());
    std::vector<uint8_t> buffers{from};
    if (plan.wants_places && !ends.is_first) buffers.push_back(order);
    buffers.insert(buffers.end(), {counts, starts});
    if (ends.is_last) {
      if (plan.wants_values) buffers.push_back(values);
      if (plan.wants_places) buffers.push_back(places);
      if (plan.wants_values && plan.wants_places && is_float(plan.type)) buffers.push_back(x);
    } else {
      buffers.push_back(pass % 2 == 0 ? keys_a : keys_b);
      if (plan.wants_places) buffers.push_back(pass % 2 == 0 ? order_a : order_b);
    }
    made.passes.push_back({move, teams, buffers, {shift}});
  }
  return made;
}

}  // namespace adit::ops
