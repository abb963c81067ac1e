#include "ops/sort.hpp"

#include <algorithm>
#include <bit>

#include <adit/error.hpp>

#include "ops/cumulative.hpp"
#include "ops/sort_keys.hpp"
#include "ops/sort_radix.hpp"
#include "ops/sort_rows.hpp"

namespace adit::ops {

using namespace kernel;

namespace sorting {
namespace {

enum Tensors : uint8_t { x, values, places, first_scratch };

bool same_zeros(const SortPlan& plan) { return plan.wants_places; }

// A network of comparisons (Batcher's bitonic one) over (key, place): places differ, so the order is stable.
class Network {
 public:
  Network(const SortPlan& plan, const char* name, Team team)
      : plan_(plan), keys_(plan.type, plan.descending, same_zeros(plan)), k_(name, team) {}

 protected:
  Value word(uint64_t number) { return k_.constant(Type::u32, number); }
  // Element i of a row.
  Value place_of(Value row, Value i) {
    const Value outer = row / plan_.inner, inner = row % plan_.inner;
    return (outer * plan_.length + convert(i, Type::u64)) * plan_.inner + inner;
  }
  // Beyond the end: larger than anything, by its place.
  Value load_key(const Array& from, Value row, Value i) {
    const Value inside = i < plan_.length;
    const Value last = i.like(plan_.length - 1);
    const Value key = keys_.of(from[place_of(row, select(inside, i, last))]);
    return select(inside, key, all_ones(k_, key.type()));
  }
  void store_result(const Array& from, const Array& to_values, const Array& to_places, Value row, Value i,
                    Value place) {
    const Value at = place_of(row, i);
    if (plan_.wants_places) to_places[at] = convert(place, Type::i64);
    if (plan_.wants_values) to_values[at] = from[place_of(row, place)];
  }

  // Puts two elements in order.
  void exchange(const Array& keys, const Array& order, Value a, Value b) {
    const Value ka = keys[a], kb = keys[b], oa = order[a], ob = order[b];
    k_.if_(kb < ka || (kb == ka && ob < oa), [&] {
      keys[a] = kb;
      keys[b] = ka;
      order[a] = ob;
      order[b] = oa;
    });
  }

  const SortPlan& plan_;
  SortKeys keys_;
  Builder k_;
};

// In global memory, a pass a step: for devices whose lanes cannot work by hand.
class LongRows : protected Network {
 public:
  LongRows(const SortPlan& plan, uint64_t padded, const char* name)
      : Network(plan, name, Team::one()), padded_(padded) {}

  Program begin() {
    const Array from = k_.buffer("x", keys_.word(), Access::read),
                keys = k_.buffer("keys", keys_.key(), Access::write),
                order = k_.buffer("order", Type::u32, Access::write);
    const Value team = k_.team(Type::u64), row = team / padded_, i = team % padded_;
    keys[team] = load_key(from, row, i);
    order[team] = convert(i, Type::u32);
    return k_.finish();
  }
  Program step() {
    const Array keys = k_.buffer("keys", keys_.key(), Access::read_write),
                order = k_.buffer("order", Type::u32, Access::read_write);
    const Value apart = convert(k_.scalar("apart", Type::u32), Type::u64);
    const Value is_first = k_.scalar("is_first", Type::u32) != 0;
    const Value team = k_.team(Type::u64), offset = team % apart, a = team / apart * (2 * apart) + offset;
    const Value b = select(is_first, team / apart * (2 * apart) + (2 * apart - 1) - offset, a + apart);
    exchange(keys, order, a, b);
    return k_.finish();
  }
  Program end() {
    const Array from = k_.buffer("x", keys_.word(), Access::read),
                order = k_.buffer("order", Type::u32, Access::read);
    Array to_values, to_places;
    if (plan_.wants_values) to_values = k_.buffer("values", keys_.word(), Access::write);
    if (plan_.wants_places) to_places = k_.buffer("places", Type::i64, Access::write);
    const Value team = k_.team(Type::u64), row = team / plan_.length, i = team % plan_.length;
    store_result(from, to_values, to_places, row, i, convert(order[row * padded_ + i], Type::u64));
    return k_.finish();
  }

 private:
  uint64_t padded_;
};

std::vector<uint8_t> with_results(const SortPlan& plan, std::vector<uint8_t> buffers) {
  if (plan.wants_values) buffers.push_back(values);
  if (plan.wants_places) buffers.push_back(places);
  return buffers;
}

Sort by_network(const SortPlan& plan) {
  Sort made;
  const uint64_t padded = std::bit_ceil(plan.length), rows = plan.outer * plan.inner;
  const uint64_t key_bytes = size_of(SortKeys(plan.type, false, false).key());
  made.scratch = {rows * padded * key_bytes, rows * padded * 4};
  constexpr uint8_t keys = first_scratch, order = first_scratch + 1;
  made.programs.push_back(LongRows(plan, padded, "sort_begin").begin());
  made.programs.push_back(LongRows(plan, padded, "sort_step").step());
  made.programs.push_back(LongRows(plan, padded, "sort_end").end());
  made.passes.push_back({0, rows * padded, {x, keys, order}});
  for (uint64_t block = 2; block <= padded; block *= 2)
    for (uint64_t apart = block / 2; apart > 0; apart /= 2)
      made.passes.push_back({1,
                             rows * padded / 2,
                             {keys, order},
                             {static_cast<uint32_t>(apart), apart == block / 2 ? 1U : 0U}});
  made.passes.push_back({2, rows * plan.length, with_results(plan, {x, order})});
  return made;
}

}  // namespace
}  // namespace sorting

Sort sort(const SortPlan& plan, const Limits& limits) {
  using namespace sorting;
  if (plan.length > (uint64_t{1} << 31))
    throw Error(ErrorKind::unsupported, "[sort] x: expected rows of at most 2^31 elements on a GPU, got " +
                                            std::to_string(plan.length));
  if (can_sort_in_shared(plan, limits)) return sort_in_shared(plan, limits);
  if (can_sort_by_digits(limits)) return sort_by_digits(plan, limits);
  return by_network(plan);
}

}  // namespace adit::ops
