#include "ops/sort_rows.hpp"

#include <algorithm>
#include <bit>

#include <adit/kernel/builder.hpp>

#include "ops/sort_keys.hpp"

namespace adit::ops {

using namespace kernel;

namespace short_sorts {
namespace {

// Rows up to these are faster in shared memory than by digits; from an H200 (bench/RESULTS.md).
constexpr uint64_t longest = 4096;
constexpr uint32_t fewest_elements = 512;  // of a team, which has some rows where they are short
constexpr uint32_t rows_side_by_side = 8;  // of a team where neighbours in memory are of different rows

struct Shape {
  uint32_t padded = 2, rows = 1;  // a row's elements, a power of two, and rows of a team
  uint32_t elements() const { return padded * rows; }
  // A word more every 32, so that lanes of one step meet in few banks.
  uint32_t extent() const { return elements() + elements() / 32; }
};

uint64_t entry_bytes(const SortPlan& plan) {
  const uint64_t key = size_of(SortKeys(plan.type, false, false).key());
  return plan.wants_places ? key + 4 : key;
}
Shape shape_of(const SortPlan& plan, const Limits& limits) {
  Shape shape;
  shape.padded = static_cast<uint32_t>(std::max<uint64_t>(2, std::bit_ceil(plan.length)));
  const uint64_t wanted =
      plan.inner == 1 ? 1 : std::min<uint64_t>(rows_side_by_side, std::bit_ceil(plan.inner));
  while (shape.elements() < fewest_elements || shape.rows < wanted) {
    Shape larger = shape;
    larger.rows *= 2;
    if (larger.elements() > longest || larger.extent() * entry_bytes(plan) > limits.shared_bytes) break;
    shape = larger;
  }
  return shape;
}

// Batcher's bitonic network. What it puts in order are keys alone, where nobody asks for places: equal keys
// are equal elements. Else keys with places behind them, which differ, so that the order is stable: one word
// where both have room in 64 bits. Parts that it puts in descending order hold complements, so that all
// comparisons go one way. A lane takes up to eight elements from shared memory and does all steps that stay
// among them.
class SharedRows {
 public:
  SharedRows(const SortPlan& plan, Shape shape, const Limits& limits)
      : plan_(plan),
        shape_(shape),
        held_(std::min(8U, shape.elements())),
        keys_(plan.type, plan.descending, plan.wants_places),
        is_joined_(plan.wants_places && keys_.key() == Type::u32),
        k_("sort_rows",
           Team::many(std::clamp(shape.elements() / held_, 32U, std::min(512U, limits.max_lanes)))) {}

  Program build() {
    from_ = k_.buffer("x", keys_.word(), Access::read);
    if (plan_.wants_values) to_values_ = k_.buffer("values", keys_.word(), Access::write);
    if (plan_.wants_places) to_places_ = k_.buffer("places", Type::i64, Access::write);
    first_row_ = k_.team(Type::u64) * uint64_t{shape_.rows};
    words_ = k_.shared(is_joined_ ? Type::u64 : keys_.key(), shape_.extent());
    if (has_order()) order_ = k_.shared(Type::u32, shape_.extent());
    load();
    sort();
    store();
    return k_.finish();
  }

 private:
  struct Entry {
    Value word, order;
  };
  struct Step {
    uint32_t block, apart;
  };

  bool has_order() const { return plan_.wants_places && !is_joined_; }
  Value number(uint64_t value) { return k_.constant(Type::u32, value); }
  static Value padded_place(Value i) { return i + i / 32; }
  Entry get(Value i) const {
    const Value at = padded_place(i);
    return {words_[at], has_order() ? order_[at].get() : Value()};
  }
  void put(Value i, Entry entry) const {
    const Value at = padded_place(i);
    words_[at] = entry.word;
    if (has_order()) order_[at] = entry.order;
  }

  // Lanes' elements between memory and rows: body(row of the team, element of the row).
  template <class Body>
  void each_element(const Body& body) {
    const uint32_t lanes = shape_.elements() / held_;
    k_.each(number(lanes), [&](Value lane) {
      std::vector<std::pair<Value, Value>> places;
      for (uint32_t j = 0; j < held_; ++j) {
        const Value i = lane + j * lanes;
        if (plan_.inner == 1)
          places.emplace_back(i / shape_.padded, i % shape_.padded);
        else
          places.emplace_back(i % shape_.rows, i / shape_.rows);
      }
      body(places);
    });
  }
  Value row_of(Value row) const { return first_row_ + convert(row, Type::u64); }
  Value address(Value row, Value i) const {
    const Value outer = row / plan_.inner, inner = row % plan_.inner;
    return (outer * plan_.length + convert(i, Type::u64)) * plan_.inner + inner;
  }
  uint64_t rows() const { return plan_.outer * plan_.inner; }

  void load() {
    each_element([&](const auto& places) {
      std::vector<Value> keys;
      for (const auto& [row, i] : places)
        keys.push_back(keys_.of(from_[address(min(row_of(row), rows() - 1), min(i, plan_.length - 1))]));
      for (size_t j = 0; j < places.size(); ++j) {
        const auto& [row, i] = places[j];
        Entry entry{select(i < plan_.length, keys[j], all_ones(k_, keys[j].type())), i};
        if (is_joined_) entry.word = convert(entry.word, Type::u64) << 32 | convert(i, Type::u64);
        put(row * shape_.padded + i, entry);
      }
    });
  }
  void store() {
    each_element([&](const auto& places) {
      for (const auto& [row, i] : places)
        k_.if_(row_of(row) < rows() && i < plan_.length, [&, &row = row, &i = i] {
          const Entry entry = get(row * shape_.padded + i);
          const Value to = address(row_of(row), i);
          if (!plan_.wants_places) {
            to_values_[to] = keys_.element(entry.word);
            return;
          }
          const Value place = is_joined_ ? convert(entry.word, Type::u32) : entry.order;
          to_places_[to] = convert(place, Type::i64);
          if (plan_.wants_values) to_values_[to] = from_[address(row_of(row), place)];
        });
    });
  }

  void sort() {
    std::vector<Step> steps;
    for (uint32_t block = 2; block <= shape_.padded; block *= 2)
      for (uint32_t apart = block / 2; apart > 0; apart /= 2) steps.push_back({block, apart});
    uint32_t block = 0;  // of the step before
    for (size_t from = 0; from < steps.size();) {
      uint32_t bits = 0;
      size_t end = from;
      while (end < steps.size() && (1U << std::popcount(bits | steps[end].apart)) <= held_)
        bits |= steps[end++].apart;
      do_steps({steps.begin() + static_cast<ptrdiff_t>(from), steps.begin() + static_cast<ptrdiff_t>(end)},
               bits, block);
      block = steps[end - 1].block;
      from = end;
    }
  }

  // Steps among elements whose numbers differ in `bits` alone.
  void do_steps(const std::vector<Step>& steps, uint32_t bits, uint32_t block) {
    const uint32_t count = 1U << std::popcount(bits);
    std::vector<uint32_t> offsets;
    for (uint32_t i = 0, offset = 0; i < count; ++i, offset = (offset - bits) & bits)
      offsets.push_back(offset);
    k_.each(number(shape_.elements() / count), [&](Value lane) {
      Value base = lane;
      for (uint32_t bit = 1; bit <= bits; bit *= 2)
        if (bits & bit) base = base / bit * (2 * bit) + base % bit;
      std::vector<Entry> entries;
      for (const uint32_t offset : offsets) entries.push_back(get(base + offset));
      uint32_t now = block;
      for (const Step& step : steps) {
        if (step.block != now) turn(entries, offsets, base, now, step.block, bits);
        now = step.block;
        for (size_t i = 0; i < count; ++i)
          if (!(offsets[i] & step.apart)) {
            const auto other = std::find(offsets.begin(), offsets.end(), offsets[i] | step.apart);
            exchange(entries[i], entries[static_cast<size_t>(other - offsets.begin())]);
          }
      }
      for (size_t i = 0; i < count; ++i) put(base + offsets[i], entries[i]);
    });
  }

  // Complements for blocks of one length become those for another.
  void turn(std::vector<Entry>& entries, const std::vector<uint32_t>& offsets, Value base, uint32_t from,
            uint32_t to, uint32_t bits) {
    Value of_base = number(0);
    uint32_t own = 0;  // that the offsets tell
    for (const uint32_t block : {from, to}) {
      if (block == 0 || block >= shape_.padded) continue;
      if (bits & block)
        own ^= block;
      else
        of_base = of_base ^ (base / block & 1);
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      const Value is_turned = std::popcount(offsets[i] & own) % 2 ? of_base == 0 : of_base != 0;
      Entry& entry = entries[i];
      entry.word = entry.word ^ select(is_turned, all_ones(k_, entry.word.type()), entry.word.like(0));
      if (has_order()) entry.order = entry.order ^ select(is_turned, number(~0U), number(0));
    }
  }
  void exchange(Entry& a, Entry& b) {
    if (!has_order()) {
      const Value less = min(a.word, b.word);
      b.word = max(a.word, b.word);
      a.word = less;
      return;
    }
    const Value swap = b.word < a.word || (b.word == a.word && b.order < a.order);
    const Entry first{select(swap, b.word, a.word), select(swap, b.order, a.order)};
    b = {select(swap, a.word, b.word), select(swap, a.order, b.order)};
    a = first;
  }

  const SortPlan& plan_;
  Shape shape_;
  uint32_t held_;
  SortKeys keys_;
  bool is_joined_;
  Builder k_;
  Array from_, to_values_, to_places_, words_, order_;
  Value first_row_;
};

}  // namespace
}  // namespace short_sorts

bool can_sort_in_shared(const SortPlan& plan, const Limits& limits) {
  using namespace short_sorts;
  return plan.length <= longest && shape_of(plan, limits).extent() * entry_bytes(plan) <= limits.shared_bytes;
}

Sort sort_in_shared(const SortPlan& plan, const Limits& limits) {
  using namespace short_sorts;
  enum Tensors : uint8_t { x, values, places };
  const Shape shape = shape_of(plan, limits);
  Sort made;
  made.programs.push_back(SharedRows(plan, shape, limits).build());
  std::vector<uint8_t> buffers{x};
  if (plan.wants_values) buffers.push_back(values);
  if (plan.wants_places) buffers.push_back(places);
  made.passes.push_back({0, (plan.outer * plan.inner + shape.rows - 1) / shape.rows, buffers});
  return made;
}

}  // namespace adit::ops
