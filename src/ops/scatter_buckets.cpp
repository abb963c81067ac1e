// indexed_add of f32 and halves, many of them, without atomics on global memory for each: updates are sorted
// by the part of the destination that they go to, and a team adds up each part in its shared memory.
//
// 1. count the updates of each bucket of places;
// 2. the buckets' starts;
// 3. each team sorts some updates by bucket in shared memory and writes them out in runs;
// 4. a team for each bucket: the largest exponent of each place, then the sums in fixed point, then the
// output.
//
// The order within a bucket differs from run to run. Fixed-point sums do not.
#include <algorithm>
#include <functional>

#include "ops/fixed_point.hpp"
#include "ops/scatter_places.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

constexpr uint32_t most_buckets = 1024;
constexpr uint32_t counted_at_once = 16384;

// Places of a bucket, which take three words each of shared memory, and updates that a team sorts at once,
// which take two beside three for each bucket. 0: there is too little.
uint32_t places_for(uint32_t shared_bytes) {
  return shared_bytes >= 48 << 10 ? 4096 : shared_bytes >= 32 << 10 ? 2048 : 0;
}

class Buckets {
 public:
  Buckets(const Places& places, const ScatterTarget& target)
      : places_(places),
        bucket_places_(places_for(target.shared_bytes)),
        lanes_(std::min(target.max_lanes, 512u)),
        updates_(static_cast<uint32_t>(places.updates * places.slice_size)),
        buckets_(
            static_cast<uint32_t>((places.bases * places.slice_size + bucket_places_ - 1) / bucket_places_)),
        fixed_(Type::f32, places.updates) {}

  Scatter build() {
    Scatter work;
    work.scratch_bytes = {uint64_t{buckets_} * 4, uint64_t{buckets_} * 4, uint64_t{updates_} * 8};
    work.passes = {counts(), starts(), sort(), sums()};
    return work;
  }

 private:
  // Scratch: how many a bucket holds; where its next one goes; pairs of place and value, bucket after bucket.
  static constexpr uint8_t counts_ = scratch_buffer(0), cursors_ = scratch_buffer(1),
                           pairs_ = scratch_buffer(2);

  static Value word(Builder& k, uint32_t number) { return k.constant(Type::u32, number); }

  Value place_of(const Array& indices, Value number) const {
    const Places::Split split = places_.split(number);
    return places_.row_offset(places_.base_of(indices, split.row), split.element);
  }
  // The updates of this team: the first one, and how many.
  struct Share {
    Value first, count;
  };
  Share share(Builder& k, uint32_t at_once) const {
    const Value first = k.team() * at_once;
    return {first, min(word(k, updates_) - first, word(k, at_once))};
  }
  uint64_t teams(uint32_t at_once) const { return (uint64_t{updates_} + at_once - 1) / at_once; }

  void count(Builder& k, const Array& indices, const Array& local, const Share& mine) const {
    k.each(word(k, buckets_), [&](Value b) { local[b] = 0u; });
    k.each(mine.count, [&](Value i) {
      local.atomic_add(place_of(indices, mine.first + i) / bucket_places_, word(k, 1));
    });
  }

  // Turns counts into sums of those before, in shared memory, with `spare` of the same length.
  void scan(Builder& k, const Array& values, const Array& spare, const Array& counts) const {
    k.each(word(k, buckets_), [&](Value b) { values[b] = select(b == 0, b.like(0), counts[max(b, 1) - 1]); });
    const Array* from = &values;
    const Array* to = &spare;
    for (uint32_t step = 1; step < buckets_; step *= 2, std::swap(from, to))
      k.each(word(k, buckets_), [&](Value b) {
        const Value before = (*from)[max(b, step) - step];
        (*to)[b] = (*from)[b].get() + select(b < step, b.like(0), before);
      });
    if (from == &spare) k.each(word(k, buckets_), [&](Value b) { values[b] = spare[b].get(); });
  }

  ScatterPass counts() const {
    Builder k("bucket_counts", Team::many(lanes_));
    const Array counts = k.buffer("counts", Type::u32, Access::read_write);
    const Array indices = k.buffer("indices", places_.index_type, Access::read);
    const Array local = k.shared(Type::u32, buckets_);
    count(k, indices, local, share(k, counted_at_once));
    k.each(word(k, buckets_),
           [&](Value b) { k.if_(local[b] != 0u, [&] { counts.atomic_add(b, local[b]); }); });
    return {k.finish(), teams(counted_at_once), {counts_, indices_buffer}};
  }

  ScatterPass starts() const {
    Builder k("bucket_starts", Team::many(lanes_));
    const Array counts = k.buffer("counts", Type::u32, Access::read);
    const Array cursors = k.buffer("cursors", Type::u32, Access::write);
    const Array values = k.shared(Type::u32, buckets_), spare = k.shared(Type::u32, buckets_);
    scan(k, values, spare, counts);
    k.each(word(k, buckets_), [&](Value b) { cursors[b] = values[b].get(); });
    return {k.finish(), 1, {counts_, cursors_}};
  }

  ScatterPass sort() const {
    Builder k("bucket_sort", Team::many(lanes_));
    const Array cursors = k.buffer("cursors", Type::u32, Access::read_write);
    const Array pairs = k.buffer("pairs", Type::u32, Access::write);
    const Array indices = k.buffer("indices", places_.index_type, Access::read);
    const Array updates = k.buffer("updates", places_.memory_type, Access::read);
    const Array next = k.shared(Type::u32, buckets_), starts = k.shared(Type::u32, buckets_),
                bases = k.shared(Type::u32, buckets_);
    const Array places = k.shared(Type::u32, bucket_places_), values = k.shared(Type::u32, bucket_places_);
    const Share mine = share(k, bucket_places_);
    count(k, indices, next, mine);
    scan(k, starts, bases, next);
    k.each(word(k, buckets_), [&](Value b) {
      const Value count = next[b];
      k.if_(count != 0, [&] { bases[b] = cursors.atomic_add(b, count); });
      next[b] = starts[b].get();
    });
    k.each(mine.count, [&](Value i) {
      const Value number = mine.first + i, place = place_of(indices, number);
      const Value at = next.atomic_add(place / bucket_places_, word(k, 1));
      places[at] = place;
      values[at] = bitcast(places_.as_term(updates[number]), Type::u32);
    });
    k.each(mine.count, [&](Value i) {
      const Value place = places[i], bucket = place / bucket_places_;
      pairs.store(bases[bucket].get() + (i - starts[bucket].get()), k.pack({place, values[i]}));
    });
    return {k.finish(), teams(bucket_places_), {cursors_, pairs_, indices_buffer, updates_buffer}};
  }

  ScatterPass sums() const {
    Builder k("bucket_sums", Team::many(lanes_));
    const Array output = k.buffer("output", places_.memory_type, Access::read_write);
    const Array counts = k.buffer("counts", Type::u32, Access::read);
    const Array cursors = k.buffer("cursors", Type::u32, Access::read);
    const Array pairs = k.buffer("pairs", Type::u32, Access::read);
    const Array exponents = k.shared(Type::u32, bucket_places_), low = k.shared(Type::u32, bucket_places_),
                high = k.shared(Type::u32, bucket_places_);
    const Value bucket = k.team(), count = counts[bucket], first = cursors[bucket].get() - count;
    k.each(word(k, bucket_places_), [&](Value i) { exponents[i] = 0u, low[i] = 0u, high[i] = 0u; });
    const auto each_update = [&](const std::function<void(Value, Value)>& f) {
      k.each(count, [&](Value i) {
        const Value pair = pairs.load_vector(first + i, 2);
        f(pair[0] % bucket_places_, bitcast(pair[1], Type::f32));
      });
    };
    each_update([&](Value at, Value term) { exponents.atomic_max(at, fixed_.exponent(term)); });
    each_update([&](Value at, Value term) {
      const Value largest = exponents[at];
      const auto limbs = fixed_.encode(term, largest);
      k.if_(
          largest == fixed_.special_exponent(),
          [&] {
            k.if_(fixed_.exponent(term) == fixed_.special_exponent(),
                  [&] { low.atomic_or(at, fixed_.flag(term)); });
          },
          [&] {
            const Value old = low.atomic_add(at, limbs[0]), carries = old + limbs[0] < old;
            high.atomic_add(at, limbs[1] + select(carries, old.like(1), old.like(0)));
          });
    });
    k.each(word(k, bucket_places_), [&](Value i) {
      const Value largest = exponents[i];
      k.if_(largest != 0, [&] {
        const Places::Split split = places_.split(bucket * bucket_places_ + i);
        const Value at = places_.base_offset(split.row) + places_.slice_offset(split.element);
        const Value sum = fixed_.decode({low[i], high[i]}, largest);
        output[at] = places_.as_element(places_.as_term(output[at]) + sum);
      });
    });
    return {k.finish(), buckets_, {output_buffer, counts_, cursors_, pairs_}};
  }

  const Places& places_;
  uint32_t bucket_places_, lanes_, updates_, buckets_;
  FixedPoint fixed_;
};

}  // namespace

bool fits_buckets(const Places& places, const ScatterTarget& target) {
  const bool summed_as_f32 =
      places.type == Type::f32 || places.type == Type::f16 || places.type == Type::bf16;
  return places.kind == ScatterKind::add && summed_as_f32 && !places.wide &&
         places.bases * places.slice_size <= uint64_t{places_for(target.shared_bytes)} * most_buckets;
}

Scatter add_by_buckets(const Places& places, const ScatterTarget& target) {
  return Buckets(places, target).build();
}

}  // namespace adit::ops
