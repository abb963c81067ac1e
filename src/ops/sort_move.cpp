// Sorting by digits: each tile's elements to where its share of their digit begins, in order inside of the
// tile first, so that neighbours go to neighbours.
#include <algorithm>

#include "ops/sort_tiles.hpp"

namespace adit::ops::radix {

using namespace kernel;

namespace {

class Move : protected TilePass {
 public:
  Move(const SortPlan& plan, const Tiles& tiles, Ends ends) : TilePass(plan, tiles, ends, "sort_move") {}

  Program build() {
    declare();
    find_tile();
    const uint32_t tables = tiles_.subgroups * digits;
    memory_ = k_.shared(Type::u32, std::max(tables, tiles_.size() * (size_of(keys_.key()) / 4)));
    to_ = k_.shared(Type::u32, digits);
    for (uint32_t i = 0; i < tables; i += tiles_.lanes()) memory_[lane_ + i] = 0;
    std::vector<Value> keys = load_keys(from_), order, at;
    if (plan_.wants_places)
      order = load_elements([&](Value i) { return ends_.is_first ? i : order_from_[packed_place(i)].get(); },
                            word(0));
    k_.barrier();
    for (const Value& key : keys) at.push_back(rank_in_subgroup(digit_of(key)));
    k_.barrier();
    sum_tables();
    for (uint32_t step = 0; step < tiles_.each; ++step)
      at[step] = at[step] + memory_[subgroup_ * digits + digit_of(keys[step])].get();
    k_.barrier();
    for (uint32_t step = 0; step < tiles_.each; ++step) put(at[step], keys[step]);
    k_.barrier();
    store_sorted(at, order);
    return k_.finish();
  }

 private:
  void declare() {
    from_ = k_.buffer("keys", key_memory(), Access::read);
    if (plan_.wants_places && !ends_.is_first) order_from_ = k_.buffer("order", Type::u32, Access::read);
    starts_ = k_.buffer("starts", Type::u32, Access::read);
    totals_ = k_.buffer("totals", Type::u32, Access::read);
    if (ends_.is_last) {
      if (plan_.wants_values) to_keys_ = k_.buffer("values", keys_.word(), Access::write);
      if (plan_.wants_places) to_order_ = k_.buffer("places", Type::i64, Access::write);
      if (looks_up(plan_)) x_ = k_.buffer("x", keys_.word(), Access::read);
    } else {
      to_keys_ = k_.buffer("to_keys", keys_.key(), Access::write);
      if (plan_.wants_places) to_order_ = k_.buffer("to_order", Type::u32, Access::write);
    }
  }

  // A key of 64 bits lies in two words, a tile apart.
  void put(Value place, Value key) {
    memory_[place] = convert(key, Type::u32);
    if (key.type() == Type::u64) memory_[place + tiles_.size()] = convert(key >> 32, Type::u32);
  }
  Value get(Value place) {
    const Value low = memory_[place];
    if (keys_.key() != Type::u64) return low;
    return convert(low, Type::u64) | convert(memory_[place + tiles_.size()].get(), Type::u64) << 32;
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
      const Value is_set = (digit >> b & 1) != 0, others = select(is_set, word(0), word(~uint32_t{0}));
      for (uint32_t w = 0; w < words; ++w) peers[w] = peers[w] & (k_.subgroup_ballot(is_set, w) ^ others);
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
    k_.if_(before == 0, [&] { taken = memory_.atomic_add(subgroup_ * digits + digit, all); });
    return k_.subgroup_shuffle(taken.get(), leader) + before;
  }

  // What a lane's digits come to, over those before them: of the tile and of the row.
  struct Sums {
    Value tile, row;
  };
  Sums before_in_subgroup(Value digit, uint32_t part, const Array& parts) {
    const Variable own = k_.variable(Type::u32, 0), all = k_.variable(Type::u32, 0);
    const auto add_up = [&] {
      Value sum = word(0);
      for (uint32_t s = 0; s < tiles_.subgroups; ++s) {
        const Value count = memory_[digit + s * digits];
        memory_[digit + s * digits] = sum;
        sum = sum + count;
      }
      own = sum;
      all = totals_[row_ * uint64_t{digits} + convert(digit, Type::u64)].get();
    };
    if (tiles_.lanes() > digits)
      k_.if_(digit < digits, add_up);
    else
      add_up();
    const Value tile = k_.subgroup_inclusive(Reduction::add, own.get()),
                row = k_.subgroup_inclusive(Reduction::add, all.get());
    k_.if_(inside_ == tiles_.subgroup - 1, [&] {
      parts[(subgroup_ + part) * 2] = tile;
      parts[(subgroup_ + part) * 2 + 1] = row;
    });
    return {tile - own.get(), row - all.get()};
  }

  // Tables become where a subgroup's share of a digit begins among the tile's elements; to_ what leads from a
  // place there to the one in the row.
  void sum_tables() {
    const uint32_t parts_in_use = digits / tiles_.subgroup;
    const Array parts = k_.shared(Type::u32, 2 * std::max(tiles_.subgroups, parts_in_use));
    std::vector<Sums> sums;
    for (uint32_t first = 0; first < digits; first += tiles_.lanes())
      sums.push_back(before_in_subgroup(lane_ + first, first / tiles_.subgroup, parts));
    k_.barrier();
    uint32_t round = 0;
    each_digit([&](Value digit) {
      Sums before = sums[round++];
      const Value part = digit / tiles_.subgroup;
      for (uint32_t p = 0; p + 1 < parts_in_use; ++p) {
        before.tile = before.tile + select(part > p, parts[word(2 * p)].get(), word(0));
        before.row = before.row + select(part > p, parts[word(2 * p + 1)].get(), word(0));
      }
      for (uint32_t s = 0; s < tiles_.subgroups; ++s)
        memory_[digit + s * digits] = memory_[digit + s * digits].get() + before.tile;
      to_[digit] = before.row + starts_[table_place(digit)].get() - before.tile;
    });
    k_.barrier();
  }

  // body(step, i) for each element of the tile in order that the row has.
  template <class Body>
  void each_sorted(const Body& body) {
    if_whole([&](bool is_whole) {
      for (uint32_t step = 0; step < tiles_.each; ++step) {
        const Value i = lane_ + step * tiles_.lanes();
        if (is_whole)
          body(step, i);
        else
          k_.if_(i < word(length()) - first_, [&] { body(step, i); });
      }
    });
  }

  void store_sorted(const std::vector<Value>& at, const std::vector<Value>& order) {
    std::vector<Value> keys, to;
    for (uint32_t step = 0; step < tiles_.each; ++step) {
      const Value i = lane_ + step * tiles_.lanes();
      keys.push_back(get(i));
      to.push_back(to_[digit_of(keys[step])] + i);
    }
    if (!ends_.is_last || (plan_.wants_values && !looks_up(plan_)))
      each_sorted([&](uint32_t step, Value) {
        if (ends_.is_last)
          to_keys_[given_place(to[step])] = keys_.element(keys[step]);
        else
          to_keys_[packed_place(to[step])] = keys[step];
      });
    if (!plan_.wants_places) return;
    k_.barrier();
    for (uint32_t step = 0; step < tiles_.each; ++step) memory_[at[step]] = order[step];
    k_.barrier();
    each_sorted([&](uint32_t step, Value i) {
      const Value place = memory_[i];
      if (!ends_.is_last) {
        to_order_[packed_place(to[step])] = place;
        return;
      }
      to_order_[given_place(to[step])] = convert(place, Type::i64);
      if (looks_up(plan_)) to_keys_[given_place(to[step])] = x_[given_place(place)];
    });
  }

  Array from_, order_from_, starts_, totals_, to_keys_, to_order_, x_;
  Array memory_;  // a table of digits for each subgroup, then the elements in order
  Array to_;
};

}  // namespace

Program move_pass(const SortPlan& plan, const Tiles& tiles, Ends ends) {
  return Move(plan, tiles, ends).build();
}

}  // namespace adit::ops::radix
