// The methods that keep the order of updates: no scratch, no atomics.
#include <algorithm>

#include "ops/scatter_places.hpp"

namespace adit::ops {

using namespace kernel;

// One invocation for each element of each update. It looks through the other updates: of those with its place
// the first gathers all of them (add), or the last writes (put).
Scatter scatter_by_leader(const Places& places) {
  const bool put = places.kind == ScatterKind::put;
  Builder k(put ? "put_by_leader" : "add_by_leader", Team::one());
  const Array output = k.buffer("output", places.memory_type, put ? Access::write : Access::read_write);
  const Array indices = k.buffer("indices", places.index_type, Access::read);
  const Array updates = k.buffer("updates", places.memory_type, Access::read);
  const Places::Split own_place = places.split(k.team(places.number_type()));
  const Value update = own_place.row, element = own_place.element;
  const Value base = places.base_of(indices, update), count = places.number(k, places.updates);
  const Value at = places.base_offset(base) + places.slice_offset(element);

  const Variable other = k.variable(put ? update + 1 : update.like(0));
  const Value end = put ? count : update;
  k.while_([&] { return other.get() < end && places.base_of(indices, min(other, count - 1)) != base; },
           [&] { other = other.get() + 1; });
  k.if_(other.get() == end, [&] {
    const Value own = updates[places.row_offset(update, element)];
    if (put) {
      output[at] = own;
      return;
    }
    const Variable sum = k.variable(places.as_term(output[at]) + places.as_term(own));
    k.for_(update + 1, count, update.like(1), [&](Value later) {
      k.if_(places.base_of(indices, later) == base,
            [&] { sum = sum.get() + places.as_term(updates[places.row_offset(later, element)]); });
    });
    output[at] = places.as_element(sum);
  });
  Scatter work;
  work.passes.push_back(
      {k.finish(), places.updates * places.slice_size, {output_buffer, indices_buffer, updates_buffer}});
  return work;
}

namespace {

constexpr uint64_t longest_alone = 4;  // shorter slices are not worth a loop of vectors

// Each team looks at all updates, and a processor guesses wrong where few others are its own: beyond a look,
// in units of it, each guess costs about 10, and an update 8 where its place is not in a cache. Several teams
// must win clearly, since other work could have their threads.
uint64_t teams_for(const Places& places, uint32_t workers) {
  const uint64_t most = std::clamp<uint64_t>(places.bases / 256, 1, std::max(workers, 1u));
  if (places.slice_size > longest_alone) return most;
  constexpr uint64_t of_a_cache = 1 << 18;
  const bool fits = places.bases * places.slice_size * size_of(places.memory_type) <= of_a_cache;
  const double update = fits ? 1 : 8, share = 1 / static_cast<double>(most);
  const double together = 1 + 10 * share * (1 - share) + share * update;
  return together * 1.3 < 1 + update ? most : 1;
}

}  // namespace

// A team for each range of bases. All walk all updates, in order, and do those of their own range.
Scatter scatter_by_ranges(const Places& places, uint32_t workers) {
  const bool put = places.kind == ScatterKind::put;
  const uint64_t teams = teams_for(places, workers);
  const uint64_t range = (places.bases + teams - 1) / teams;
  Builder k(put ? "put_by_ranges" : "add_by_ranges", Team::many(1));
  const Array output = k.buffer("output", places.memory_type, put ? Access::write : Access::read_write);
  const Array indices = k.buffer("indices", places.index_type, Access::read);
  const Array updates = k.buffer("updates", places.memory_type, Access::read);
  const Value first = k.team(places.number_type()) * range, count = places.number(k, places.updates);
  const auto apply = [&](Value update, Value base, Value element) {
    const Value at = places.base_offset(base) + places.slice_offset(element);
    const Value own = updates[places.row_offset(update, element)];
    output[at] = put ? own : places.as_element(places.as_term(output[at]) + places.as_term(own));
  };
  // Above the first, a base less than `first` wraps to a large number.
  const auto is_own = [&](Value base) { return base - first < first.like(range); };
  if (places.slice_size <= longest_alone) {
    k.once([&] {
      k.for_(count, [&](Value update) {
        const Value base = places.base_of(indices, update);
        const auto all = [&] {
          for (uint64_t e = 0; e < places.slice_size; ++e) apply(update, base, places.number(k, e));
        };
        if (teams == 1)
          all();
        else
          k.if_(is_own(base), all);
      });
    });
  } else {
    k.for_(count, [&](Value update) {
      const Value base = places.base_of(indices, update);
      k.if_(is_own(base), [&] {
        k.each(k.constant(Type::u32, places.slice_size),
               [&](Value element) { apply(update, base, convert(element, places.number_type())); });
      });
    });
  }
  Scatter work;
  work.passes.push_back({k.finish(), teams, {output_buffer, indices_buffer, updates_buffer}});
  return work;
}

}  // namespace adit::ops
