// Sorting by digits: how many elements of each digit the tiles have, and what stands before them.
#include "ops/sort_tiles.hpp"

namespace adit::ops::radix {

using namespace kernel;

namespace {

class Count : protected TilePass {
 public:
  Count(const SortPlan& plan, const Tiles& tiles, Ends ends) : TilePass(plan, tiles, ends, "sort_count") {}

  Program build() {
    const Array from = k_.buffer("keys", key_memory(), Access::read),
                to = k_.buffer("counts", Type::u32, Access::write);
    find_tile();
    table_ = k_.shared(Type::u32, tiles_.subgroups * digits);
    for (uint32_t i = 0; i < tiles_.subgroups * digits; i += tiles_.lanes()) table_[lane_ + i] = 0;
    const std::vector<Value> keys = load_keys(from);
    k_.barrier();
    if_whole([&](bool is_whole) {
      for (uint32_t step = 0; step < tiles_.each; ++step)
        add(digit_of(keys[step]), is_whole, first_ + element(step) < length());
    });
    k_.barrier();
    each_digit([&](Value digit) {
      Value sum = word(0);
      for (uint32_t s = 0; s < tiles_.subgroups; ++s) sum = sum + table_[digit + s * digits];
      to[table_place(digit)] = sum;
    });
    return k_.finish();
  }

 private:
  // Lanes that add to one place wait for each other, so a subgroup of equal digits adds once.
  void add(Value digit, bool is_whole, Value is_there) {
    const Value place = subgroup_ * digits + digit;
    const Value is_equal = digit == k_.subgroup_first(digit);
    const auto one = [&] { table_.atomic_add(place, word(1)); };
    k_.if_(
        k_.subgroup_all(is_whole ? is_equal : is_there && is_equal),
        [&] { k_.if_(inside_ == 0, [&] { table_.atomic_add(place, word(tiles_.subgroup)); }); },
        [&] { is_whole ? one() : k_.if_(is_there, one); });
  }

  Array table_;
};

// Counts become how many elements of their digit stand in tiles before; a team has a few digits of a row,
// each of whose lanes goes through a share of the tiles.
class Starts {
 public:
  Starts(const Tiles& tiles, uint32_t lanes)
      : tiles_(tiles.tiles), shares_(lanes / digits_of_starts), k_("sort_starts", Team::many(lanes)) {}

  Program build() {
    const Array counts = k_.buffer("counts", Type::u32, Access::read_write),
                totals = k_.buffer("totals", Type::u32, Access::write);
    constexpr uint64_t teams_of_row = digits / digits_of_starts;
    const Value team = k_.team(Type::u64), lane = k_.lane();
    const Value row = team / teams_of_row, share = lane / digits_of_starts;
    const Value digit =
        convert(team % teams_of_row * uint64_t{digits_of_starts}, Type::u32) + lane % digits_of_starts;
    const uint64_t length = (tiles_ + shares_ - 1) / shares_;
    const Value from = min(share * length, word(tiles_)), end = min(from + length, word(tiles_));
    const auto place = [&](Value tile) {
      return (row * tiles_ + convert(tile, Type::u64)) * uint64_t{digits} + convert(digit, Type::u64);
    };
    const Variable sum = k_.variable(Type::u32, 0);
    k_.for_(from, end, word(1), [&](Value tile) { sum = sum.get() + counts[place(tile)].get(); });
    const Value until = summed_over_shares(lane, share, sum.get());
    const Variable before = k_.variable(until - sum.get());
    k_.if_(share == shares_ - 1, [&] { totals[row * uint64_t{digits} + convert(digit, Type::u64)] = until; });
    k_.for_(from, end, word(1), [&](Value tile) {
      const Value count = counts[place(tile)];
      counts[place(tile)] = before.get();
      before = before.get() + count;
    });
    return k_.finish();
  }

 private:
  Value word(uint64_t number) { return k_.constant(Type::u32, number); }

  // Of this share and those before it.
  Value summed_over_shares(Value lane, Value share, Value own) {
    const Variable sum = k_.variable(own);
    const Array sums = k_.shared(Type::u32, shares_ * digits_of_starts);
    for (uint32_t apart = 1; apart < shares_; apart *= 2) {
      if (apart > 1) k_.barrier();
      sums[lane] = sum.get();
      k_.barrier();
      k_.if_(share >= apart, [&] { sum = sum.get() + sums[lane - apart * digits_of_starts].get(); });
    }
    return sum.get();
  }

  uint64_t tiles_;
  uint32_t shares_;
  Builder k_;
};

}  // namespace

Program count_pass(const SortPlan& plan, const Tiles& tiles, Ends ends) {
  return Count(plan, tiles, ends).build();
}
Program starts_pass(const Tiles& tiles, uint32_t lanes) { return Starts(tiles, lanes).build(); }

}  // namespace adit::ops::radix
