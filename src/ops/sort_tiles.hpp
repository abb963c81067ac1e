// What the passes of a sort by digits share: tiles of rows, a team each.
#pragma once

#include <vector>

#include <adit/kernel/builder.hpp>

#include "ops/sort.hpp"
#include "ops/sort_keys.hpp"

namespace adit::ops::radix {

constexpr uint32_t digit_bits = 8, digits = 1 << digit_bits;

struct Tiles {
  uint32_t subgroups = 1, subgroup = 32, each = 1;  // of a team, of lanes, elements of a lane
  uint64_t tiles = 1;                               // of a row
  uint32_t lanes() const { return subgroups * subgroup; }
  uint32_t size() const { return lanes() * each; }
};

// What a pass reads and writes: the first from x, the last to the results.
struct Ends {
  bool is_first = false, is_last = false;
};

kernel::Program count_pass(const SortPlan& plan, const Tiles& tiles, Ends ends);
kernel::Program starts_pass(const Tiles& tiles, uint32_t lanes);
kernel::Program move_pass(const SortPlan& plan, const Tiles& tiles, Ends ends);

constexpr uint32_t digits_of_starts = 8;  // of a team of starts_pass: 32 bytes that lie together

// The last move looks up elements by their places: keys that take -0 for 0 do not tell them.
inline bool looks_up(const SortPlan& plan) {
  return plan.wants_values && plan.wants_places && is_float(plan.type);
}

class TilePass {
 protected:
  TilePass(const SortPlan& plan, const Tiles& tiles, Ends ends, const char* name)
      : plan_(plan),
        tiles_(tiles),
        ends_(ends),
        keys_(plan.type, plan.descending, plan.wants_places),
        k_(name, kernel::Team::many(tiles.lanes())) {}

  // After the buffers: parameters come in order.
  void find_tile() {
    using kernel::Type;
    shift_ = k_.scalar("shift", Type::u32);
    const bool is_wide = plan_.outer * plan_.inner * tiles_.tiles >= uint64_t{1} << 31;
    const kernel::Value team = k_.team(is_wide ? Type::u64 : Type::u32);
    team_ = convert(team, Type::u64);
    row_ = convert(team / tiles_.tiles, Type::u64);
    first_ = convert(team % tiles_.tiles, Type::u32) * tiles_.size();
    subgroup_ = k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    lane_ = subgroup_ * tiles_.subgroup + inside_;
  }
  kernel::Value word(uint64_t number) { return k_.constant(kernel::Type::u32, number); }
  uint32_t length() const { return static_cast<uint32_t>(plan_.length); }

  // Element number i of the row, in x and in the results, or in the keys of the pass before.
  kernel::Value given_place(kernel::Value i) {
    const kernel::Value outer = row_ / plan_.inner, inner = row_ % plan_.inner;
    return (outer * plan_.length + convert(i, kernel::Type::u64)) * plan_.inner + inner;
  }
  kernel::Value packed_place(kernel::Value i) { return row_ * plan_.length + convert(i, kernel::Type::u64); }
  kernel::Value load_key(const kernel::Array& from, kernel::Value i) {
    return ends_.is_first ? keys_.of(from[given_place(i)]) : from[packed_place(i)].get();
  }
  // A team asks once whether its tile has elements beyond the row: asking for each keeps a driver from having
  // all loads of a lane under way at once.
  template <class Body>
  void if_whole(const Body& body) {
    if (plan_.length % tiles_.size() == 0)
      body(true);
    else
      k_.if_(
          first_ + tiles_.size() <= length(), [&] { body(true); }, [&] { body(false); });
  }
  // A lane's elements, `load(i)` each; `beyond` past the end of the row.
  template <class Load>
  std::vector<kernel::Value> load_elements(const Load& load, kernel::Value beyond) {
    std::vector<kernel::Variable> held;
    for (uint32_t step = 0; step < tiles_.each; ++step) held.push_back(k_.variable(beyond));
    if_whole([&](bool is_whole) {
      std::vector<kernel::Value> loaded;
      for (uint32_t step = 0; step < tiles_.each; ++step) {
        const kernel::Value i = first_ + element(step);
        loaded.push_back(load(is_whole ? i : min(i, length() - 1)));
      }
      for (uint32_t step = 0; step < tiles_.each; ++step)
        held[step] =
            is_whole ? loaded[step] : select(first_ + element(step) < length(), loaded[step], beyond);
    });
    std::vector<kernel::Value> elements;
    for (const kernel::Variable& element : held) elements.push_back(element.get());
    return elements;
  }
  std::vector<kernel::Value> load_keys(const kernel::Array& from) {
    return load_elements([&](kernel::Value i) { return load_key(from, i); }, all_ones(k_, keys_.key()));
  }
  kernel::Value digit_of(kernel::Value key) {
    return convert(key >> convert(shift_, key.type()), kernel::Type::u32) & (digits - 1);
  }
  // Elements of a subgroup follow each other; a step is as many as it has lanes.
  kernel::Value element(uint32_t step) {
    return subgroup_ * (tiles_.each * tiles_.subgroup) + (inside_ + step * tiles_.subgroup);
  }
  // Of this tile, in the table of counts or starts.
  kernel::Value table_place(kernel::Value digit) {
    return team_ * uint64_t{digits} + convert(digit, kernel::Type::u64);
  }
  kernel::Type key_memory() const { return ends_.is_first ? keys_.word() : keys_.key(); }

  // Each lane its share of the digits.
  template <class Body>
  void each_digit(const Body& body) {
    for (uint32_t first = 0; first < digits; first += tiles_.lanes()) {
      const kernel::Value digit = lane_ + first;
      if (tiles_.lanes() > digits)
        k_.if_(digit < digits, [&] { body(digit); });
      else
        body(digit);
    }
  }

  const SortPlan& plan_;
  const Tiles& tiles_;
  Ends ends_;
  SortKeys keys_;
  kernel::Builder k_;
  kernel::Value shift_, team_, row_, first_, subgroup_, inside_, lane_;
};

}  // namespace adit::ops::radix
