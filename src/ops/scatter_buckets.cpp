// indexed_add of f32 and halves, many of them, without atomics on global memory for each: updates are sorted
// by the part of the destination that they go to, and a team adds up each part in its shared memory.
//
// 1. count the updates of each bucket of places;
// 2. each team sorts some updates by bucket in shared memory and writes them out in runs;
// 3. a team for each bucket: the largest exponent of each place, then the sums in fixed point, then the
// output.
//
// The order within a bucket differs from run to run. Fixed-point sums do not. Lanes load all their updates
// before they use the first: what takes the time here is the way to memory and back.
#include <algorithm>
#include <functional>

#include "ops/fixed_point.hpp"
#include "ops/scatter_places.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

constexpr uint32_t most_buckets = 1024, most_subgroups = 256;
// A team's order goes through shared memory in two halves: so there is room for a team that is twice as
// large, whose runs are twice as long (69 us instead of 74 for 4M updates on an H200).
constexpr uint32_t parts = 2;

// Places of a bucket, which take three words each of shared memory. 0: there is too little.
uint32_t places_for(uint32_t shared_bytes) {
  return shared_bytes >= 48 << 10 ? 4096 : shared_bytes >= 32 << 10 ? 2048 : 0;
}

class Buckets {
 public:
  Buckets(const Places& places, const ScatterTarget& target, const BucketTuning& tuning)
      : places_(places),
        t_(fitted(tuning, target)),
        bucket_places_(places_for(target.shared_bytes)),
        updates_(static_cast<uint32_t>(places.updates * places.slice_size)),
        all_places_(static_cast<uint32_t>(places.bases * places.slice_size)),
        buckets_((all_places_ + bucket_places_ - 1) / bucket_places_),
        share_((buckets_ + t_.sort_lanes - 1) / t_.sort_lanes),
        padded_(share_ * t_.sort_lanes),
        by_vectors_(places.indexed.size() == 1 && places.slice_size == 1 && size_of(places.index_type) == 4 &&
                    places.type == Type::f32 && updates_ % 4 == 0),
        fixed_(Type::f32, places.updates) {}

  Scatter build() {
    Scatter work;
    const uint64_t words = uint64_t{padded_} * 4;
    work.scratch = {{2 * words, true}, {words, false}, {uint64_t{updates_} * 8, false}};
    work.passes = {counts(), sort(), sums()};
    work.writes_all = places_.from_zero;
    return work;
  }

 private:
  // Scratch: how many a bucket holds and how many of them have a place; where it starts; pairs of place and
  // value, bucket after bucket.
  static constexpr uint8_t counts_ = scratch_buffer(0), starts_ = scratch_buffer(1),
                           pairs_ = scratch_buffer(2);

  static BucketTuning fitted(BucketTuning t, const ScatterTarget& target) {
    for (uint32_t* lanes : {&t.count_lanes, &t.sort_lanes, &t.sum_lanes})
      *lanes = std::min(*lanes, target.max_lanes);
    const uint32_t room = target.shared_bytes - 2 * 4 * most_buckets - 2 * 4 * most_subgroups;
    const auto needed = [&] { return t.sort_lanes * t.sort_each / parts * 4; };
    while (t.sort_each > 4 * parts && needed() > room) t.sort_each /= 2;
    while (t.sort_lanes > 64 && needed() > room) t.sort_lanes /= 2;
    t.words64 = t.words64 && target.int64;
    return t;
  }

  static Value word(Builder& k, uint32_t number) { return k.constant(Type::u32, number); }

  // An update of a lane. Where `valid` does not hold, it is some other one.
  struct Update {
    Value place, bits, valid;
  };
  Value place_of(const Array& indices, Value number) const {
    const Places::Split split = places_.split(number);
    return places_.row_offset(places_.base_of(indices, split.row), split.element);
  }
  Value bits_of(Value element) const { return bitcast(places_.as_term(element), Type::u32); }
  bool is_exact(uint32_t at_once) const { return updates_ % at_once == 0; }
  uint64_t teams(uint32_t at_once) const { return (uint64_t{updates_} + at_once - 1) / at_once; }

  // The updates of this lane; `values` may be absent.
  std::vector<Update> load(Builder& k, const Array& indices, const Array* values, uint32_t lanes,
                           uint32_t each) const {
    std::vector<Update> all;
    const uint32_t width = by_vectors_ ? 4 : 1;
    const Value first = k.team() * (lanes * each / width) + k.lane(), last = word(k, updates_ / width - 1);
    for (uint32_t step = 0; step < each / width; ++step) {
      const Value number = first + step * lanes, valid = number <= last;
      const Value at = is_exact(lanes * each) ? number : min(number, last);
      if (width == 1) {
        all.push_back({place_of(indices, at), values ? bits_of((*values)[at]) : at, valid});
        continue;
      }
      const Value coordinates = indices.load_vector(at, 4);
      const Value elements = values ? values->load_vector(at, 4) : coordinates;
      for (int j = 0; j < 4; ++j)
        all.push_back({places_.base_at(coordinates[j]), values ? bits_of(elements[j]) : at, valid});
    }
    return all;
  }

  // Counts one in the bucket of each update; yields how many were there before.
  std::vector<Value> count(Builder& k, const std::vector<Update>& updates, const Array& local, uint32_t lanes,
                           bool exact) const {
    for (uint32_t b = 0; b < padded_; b += lanes)
      k.if_(k.lane() + b < padded_, [&] { local[k.lane() + b] = 0u; });
    k.barrier();
    std::vector<Value> ranks;
    const Value one = word(k, 1);
    for (const Update& update : updates)
      ranks.push_back(
          local.atomic_add(update.place / bucket_places_, exact ? one : select(update.valid, one, 0)));
    k.barrier();
    return ranks;
  }

  // The sums of all that lanes before this one hold, and of what it holds before each of its own.
  std::vector<Value> sums_before(Builder& k, const std::vector<Value>& own) const {
    const Array totals = k.shared(Type::u32, most_subgroups);
    Value sum = own[0];
    for (size_t i = 1; i < own.size(); ++i) sum = sum + own[i];
    const Value before = k.subgroup_exclusive(Reduction::add, sum);
    k.if_(k.subgroup_lane() == k.subgroup_size() - 1, [&] { totals[k.subgroup_number()] = before + sum; });
    k.barrier();
    const Variable base = k.variable(before);
    k.for_(k.subgroup_number(), [&](Value i) { base = base.get() + totals[i].get(); });
    std::vector<Value> result{base.get()};
    for (size_t i = 0; i + 1 < own.size(); ++i) result.push_back(result[i] + own[i]);
    return result;
  }

  ScatterPass counts() const {
    Builder k("bucket_counts", Team::many(t_.count_lanes));
    const Array counts = k.buffer("counts", Type::u32, Access::read_write);
    const Array indices = k.buffer("indices", places_.index_type, Access::read);
    const Array local = k.shared(Type::u32, padded_);
    const uint32_t at_once = t_.count_lanes * t_.count_each;
    count(k, load(k, indices, nullptr, t_.count_lanes, t_.count_each), local, t_.count_lanes,
          is_exact(at_once));
    for (uint32_t b = 0; b < buckets_; b += t_.count_lanes) {
      const Value at = k.lane() + b;
      k.if_(at < buckets_, [&] {
        const Value mine = local[at];
        k.if_(mine != 0, [&] { counts.atomic_add(at, mine); });
      });
    }
    return {k.finish(), teams(at_once), {counts_, indices_buffer}};
  }

  // Makes room in the buckets for what this team has: `starts` becomes where a bucket begins in the team's
  // own order, `bases` what leads from there to the pairs.
  void reserve(Builder& k, const Array& counts, const Array& global_starts, const Array& starts,
               const Array& bases) const {
    const Value first = (k.subgroup_number() * k.subgroup_size() + k.subgroup_lane()) * share_;
    std::vector<Value> mine, all, reserved;
    for (uint32_t c = 0; c < share_; ++c) {
      mine.push_back(starts[first + c]);
      all.push_back(counts[first + c]);
      const Variable place = k.variable(Type::u32, 0);
      k.if_(mine[c] != 0, [&] { place = counts.atomic_add(first + (padded_ + c), mine[c]); });
      reserved.push_back(place.get());
    }
    const std::vector<Value> local = sums_before(k, mine), global = sums_before(k, all);
    for (uint32_t c = 0; c < share_; ++c) {
      starts[first + c] = local[c];
      bases[first + c] = global[c] + reserved[c] - local[c];
      k.if_(k.team() == 0, [&] { global_starts[first + c] = global[c]; });
    }
    k.barrier();
  }

  ScatterPass sort() const {
    const uint32_t lanes = t_.sort_lanes, at_once = lanes * t_.sort_each;
    const bool exact = is_exact(at_once);
    Builder k("bucket_sort", Team::many(lanes));
    const Array counts = k.buffer("counts", Type::u32, Access::read_write);
    const Array global_starts = k.buffer("starts", Type::u32, Access::write);
    const Array pairs = k.buffer("pairs", Type::u32, Access::write);
    const Array indices = k.buffer("indices", places_.index_type, Access::read);
    const Array values = k.buffer("updates", places_.memory_type, Access::read);
    const Array starts = k.shared(Type::u32, padded_), bases = k.shared(Type::u32, padded_);
    const std::vector<Update> mine = load(k, indices, &values, lanes, t_.sort_each);
    const std::vector<Value> ranks = count(k, mine, starts, lanes, exact);
    reserve(k, counts, global_starts, starts, bases);
    std::vector<Value> own;  // where in the team's order
    for (size_t j = 0; j < mine.size(); ++j)
      own.push_back(starts[mine[j].place / bucket_places_].get() + ranks[j]);
    exchange(k, mine, own, exact, [&](Value at, Value place, Value bits) {
      pairs.store(bases[place / bucket_places_].get() + at, k.pack({place, bits}));
    });
    return {k.finish(), teams(at_once), {counts_, starts_, pairs_, indices_buffer, updates_buffer}};
  }

  // Hands each lane updates that follow each other in the team's order.
  void exchange(Builder& k, const std::vector<Update>& mine, const std::vector<Value>& own, bool exact,
                const std::function<void(Value, Value, Value)>& write) const {
    const uint32_t size = t_.sort_lanes * t_.sort_each / parts;
    const Array words = k.shared(Type::u32, size);
    for (uint32_t part = 0; part < parts; ++part) {
      if (part > 0) k.barrier();
      exchange_part(k, mine, own, exact, words, part * size, write);
    }
  }

  // What comes from `from` on in that order, as much as there is room for: first the places, then the values.
  void exchange_part(Builder& k, const std::vector<Update>& mine, const std::vector<Value>& own, bool exact,
                     const Array& words, uint32_t from,
                     const std::function<void(Value, Value, Value)>& write) const {
    const uint32_t lanes = t_.sort_lanes, at_once = lanes * t_.sort_each, each = t_.sort_each / parts;
    const auto put = [&](Value Update::*which) {
      for (size_t j = 0; j < mine.size(); ++j) {
        const Value at = own[j] - from, here = at < each * lanes;
        k.if_(exact ? here : mine[j].valid && here, [&] { words[at] = mine[j].*which; });
      }
    };
    const auto at = [&](uint32_t j) { return k.lane() + j * lanes; };
    put(&Update::place);
    k.barrier();
    std::vector<Value> sorted;
    for (uint32_t j = 0; j < each; ++j) sorted.push_back(words[at(j)]);
    k.barrier();
    put(&Update::bits);
    k.barrier();
    const Value count = min(word(k, updates_) - k.team() * at_once, at_once);
    for (uint32_t j = 0; j < each; ++j) {
      const Value bits = words[at(j)];
      if (exact)
        write(at(j) + from, sorted[j], bits);
      else
        k.if_(at(j) + from < count, [&] { write(at(j) + from, sorted[j], bits); });
    }
  }

  // The sums of one bucket, in shared memory.
  struct Cells {
    Array exponents, low, high;
  };

  void raise(const Cells& cells, Value pair) const {
    cells.exponents.atomic_max(pair[0] % bucket_places_, fixed_.exponent(bitcast(pair[1], Type::f32)));
  }

  void add(Builder& k, const Cells& cells, Value pair) const {
    const Value at = pair[0] % bucket_places_, term = bitcast(pair[1], Type::f32);
    const Value largest = cells.exponents[at];
    std::vector<Value> limbs;
    if (t_.words64) {
      const Value whole = fixed_.encode_word(term, largest);
      limbs = {convert(whole & 0xffffffffu, Type::u32), convert(whole >> 32, Type::u32)};
    } else {
      limbs = fixed_.encode(term, largest);
    }
    k.if_(
        largest == fixed_.special_exponent(),
        [&] {
          k.if_(fixed_.exponent(term) == fixed_.special_exponent(),
                [&] { cells.low.atomic_or(at, fixed_.flag(term)); });
        },
        [&] {
          const Value old = cells.low.atomic_add(at, limbs[0]), carries = old + limbs[0] < old;
          cells.high.atomic_add(at, limbs[1] + select(carries, old.like(1), old.like(0)));
        });
  }

  void write_place(Builder& k, const Cells& cells, const Array& output, Value first, Value i) const {
    const Value largest = cells.exponents[i];
    const Places::Split split = places_.split(first + i);
    const Value at = places_.base_offset(split.row) + places_.slice_offset(split.element);
    const auto sum = [&] {
      return t_.words64 ? fixed_.decode_word(cells.low[i], cells.high[i], largest)
                        : fixed_.decode({cells.low[i], cells.high[i]}, largest);
    };
    if (places_.from_zero) {
      const auto write = [&] { output[at] = places_.as_element(select(largest == 0, sum().like(0), sum())); };
      if (all_places_ % bucket_places_ == 0)
        write();
      else
        k.if_(first + i < all_places_, write);
    } else {
      k.if_(largest != 0, [&] { output[at] = places_.as_element(places_.as_term(output[at]) + sum()); });
    }
  }

  ScatterPass sums() const {
    const uint32_t lanes = t_.sum_lanes;
    Builder k("bucket_sums", Team::many(lanes));
    const Array output =
        k.buffer("output", places_.memory_type, places_.from_zero ? Access::write : Access::read_write);
    const Array counts = k.buffer("counts", Type::u32, Access::read);
    const Array starts = k.buffer("starts", Type::u32, Access::read);
    const Array pairs = k.buffer("pairs", Type::u32, Access::read);
    const auto shared = [&] { return k.shared(Type::u32, bucket_places_); };
    const Cells cells{shared(), shared(), shared()};
    const Value bucket = k.team(), count = counts[bucket], first = starts[bucket], lane = k.lane();
    std::vector<Value> held;
    for (uint32_t j = 0; j < t_.sum_each; ++j)
      held.push_back(pairs.load_vector(min(first + (lane + j * lanes), updates_ - 1), 2));
    const auto each_place = [&](const std::function<void(Value)>& f) {
      for (uint32_t i = 0; i < bucket_places_; i += lanes) f(lane + i);
    };
    const auto each_update = [&](const std::function<void(Value)>& f) {
      for (uint32_t j = 0; j < t_.sum_each; ++j) k.if_(lane + j * lanes < count, [&] { f(held[j]); });
      k.for_(lane + t_.sum_each * lanes, count, word(k, lanes),
             [&](Value i) { f(pairs.load_vector(first + i, 2)); });
    };
    each_place([&](Value i) { cells.exponents[i] = 0u, cells.low[i] = 0u, cells.high[i] = 0u; });
    k.barrier();
    each_update([&](Value pair) { raise(cells, pair); });
    k.barrier();
    each_update([&](Value pair) { add(k, cells, pair); });
    k.barrier();
    each_place([&](Value i) { write_place(k, cells, output, bucket * bucket_places_, i); });
    return {k.finish(), buckets_, {output_buffer, counts_, starts_, pairs_}};
  }

  const Places& places_;
  BucketTuning t_;
  uint32_t bucket_places_, updates_, all_places_, buckets_;
  uint32_t share_, padded_;  // buckets of a lane that sorts, and of all lanes
  bool by_vectors_;
  FixedPoint fixed_;
};

}  // namespace

bool fits_buckets(const Places& places, const ScatterTarget& target) {
  const bool summed_as_f32 =
      places.type == Type::f32 || places.type == Type::f16 || places.type == Type::bf16;
  return places.kind == ScatterKind::add && summed_as_f32 && !places.wide && target.lanes_by_hand &&
         places.bases * places.slice_size <= uint64_t{places_for(target.shared_bytes)} * most_buckets;
}

Scatter add_by_buckets(const Places& places, const ScatterTarget& target, const BucketTuning& tuning) {
  return Buckets(places, target, tuning).build();
}

}  // namespace adit::ops
