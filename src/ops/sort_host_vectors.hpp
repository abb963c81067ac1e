// A row on the CPU by the vector sort: keys alone where the values will lie, or with their places in one
// number each where the places will, if they are as wide.
#pragma once

#include <bit>
#include <memory>
#include <type_traits>

#include "ops/sort_host_row.hpp"
#include "ops/vector_sort.hpp"

namespace adit::ops::sorting_on_host {

// Pieces of so many are sorted by one thread. Measured once, on two x86-64 cores.
constexpr uint64_t piece_of_one = 1 << 15;

// Divides until pieces are small; each half may be another thread's. finish(begin, end) when a piece is done.
template <class K, class F>
class Pieces {
 public:
  Pieces(const VectorSort<K>& by, K* keys, uint64_t threads, const F& finish)
      : by_(by), keys_(keys), threads_(static_cast<unsigned>(threads)), finish_(finish) {}

  void sort(uint64_t begin, uint64_t end, K low, K high, int luck) const {
    const uint64_t count = end - begin;
    if (count == 0) return;
    if (low == high) return finish_(begin, end);
    if (threads_ == 1 || count <= piece_of_one || luck == 0) {
      by_.sort(keys_ + begin, count);
      return finish_(begin, end);
    }
    K pivot = by_.middle(keys_ + begin, count);
    if (pivot == low) ++pivot;  // those below are equal then
    const uint64_t middle = begin + by_.split(keys_ + begin, count, pivot);
    parallel(threads_, 2, 1, [&](uint64_t first, uint64_t last) {
      if (first == 0) sort(begin, middle, low, static_cast<K>(pivot - 1), luck - 1);
      if (last == 2) sort(middle, end, pivot, high, luck - 1);
    });
  }

 private:
  const VectorSort<K>& by_;
  K* keys_;
  unsigned threads_;
  const F& finish_;
};

template <class K, class F>
void sort_in_pieces(const VectorSort<K>& by, K* keys, uint64_t count, uint64_t threads, const F& finish) {
  Pieces<K, F>(by, keys, threads, finish)
      .sort(0, count, 0, static_cast<K>(~K{0}), 2 * static_cast<int>(std::bit_width(count)));
}

// Values alone.
template <class K>
class ValuesRow {
 public:
  struct Space {
    explicit Space(uint64_t) {}
    std::unique_ptr<K[]> keys;  // of rows whose elements do not lie side by side
  };
  static constexpr uint64_t unasked = 1024 / sizeof(K);
  ValuesRow(const Row<K>& row, VectorKind kind) : row_(row), by_(vector_sort<K>(kind)) {}

  void sort(Space& space, uint64_t parts) const {
    const bool is_apart = row_.apart > 1;
    if (is_apart && !space.keys) space.keys.reset(new K[row_.length]);
    K* keys = is_apart ? space.keys.get() : row_.values;
    row_.share(parts, [&](uint64_t begin, uint64_t end) {
      row_.loops.put_keys(row_.x + begin * row_.apart, row_.apart, end - begin, row_.keys, keys + begin);
    });
    sort_in_pieces(by_, keys, row_.length, parts, [&](uint64_t begin, uint64_t end) {
      if (is_apart)
        row_.loops.put_bits(keys + begin, row_.apart, end - begin, row_.keys,
                            row_.values + begin * row_.apart);
      else
        row_.loops.turn_to_bits(keys + begin, end - begin, row_.keys);
    });
  }

 private:
  const Row<K>& row_;
  VectorSort<K> by_;
};

// Places, and values by them, from numbers P of a key and a place each. No number is twice there, so that any
// sort is stable. Keys of 64 bits may lose their lowest to make room for the places: those that are equal
// then are put in order afterwards.
template <class K, class P>
class PlacesRow {
 public:
  struct Space {
    explicit Space(uint64_t) {}
    std::unique_ptr<P[]> packed;  // where they cannot stand among the places
  };
  // Places have the bits that keys leave, or up to half of them.
  static constexpr int most_place_bits =
      sizeof(K) == sizeof(P) ? 4 * sizeof(P) : static_cast<int>(8 * (sizeof(P) - sizeof(K)));
  static bool serve(uint64_t length) { return (length - 1) >> most_place_bits == 0; }
  static constexpr uint64_t unasked = 16;
  PlacesRow(const Row<K>& row, VectorKind kind) : row_(row), by_(vector_sort<P>(kind)) {}

  void sort(Space& space, uint64_t parts) const {
    P* packed = nullptr;
    if constexpr (std::is_same_v<P, uint64_t>)
      if (row_.apart == 1) packed = reinterpret_cast<P*>(row_.places);
    if (!packed && !space.packed) space.packed.reset(new P[row_.length]);
    if (!packed) packed = space.packed.get();
    Packing packing{.place_bits = most_place_bits};
    bool is_exact = true;
    if constexpr (sizeof(K) == sizeof(P)) is_exact = choose(packing, parts);
    row_.share(parts, [&](uint64_t begin, uint64_t end) {
      const K* from = row_.x + begin * row_.apart;
      if constexpr (std::is_same_v<P, uint64_t>)
        row_.loops.pack(from, row_.apart, end - begin, row_.keys, packing, begin, packed + begin);
      else
        row_.loops.pack_short(from, row_.apart, end - begin, row_.keys, packing, begin, packed + begin);
    });
    const auto finish = [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) row_.store(i, packing.place(packed[i]));
    };
    if (is_exact) return sort_in_pieces(by_, packed, row_.length, parts, finish);
    if constexpr (sizeof(K) == sizeof(P)) {
      sort_in_pieces(by_, packed, row_.length, parts, [](uint64_t, uint64_t) {});
      sort_ties(packed, packing, parts);
      row_.share(parts, finish);
    }
  }

 private:
  // How keys of 64 bits are packed; whether all their bits are.
  bool choose(Packing& packing, uint64_t parts) const {
    const Range<K> seen = row_.look(nullptr, parts);
    const int bits = static_cast<int>(std::bit_width(K(seen.most - seen.least)));
    packing.least = seen.least;
    packing.place_bits = static_cast<int>(std::bit_width(row_.length - 1));
    packing.drop = std::max(0, bits + packing.place_bits - 64);
    const K lost = K((K{1} << packing.drop) - 1);
    return (K(seen.any ^ seen.all) & lost) == 0;
  }

  void sort_ties(uint64_t* packed, const Packing& packing, uint64_t parts) const {
    const uint64_t n = row_.length, ranges = parts == 1 ? 1 : 4 * parts;
    const auto is_tied = [&](uint64_t i) { return (packed[i] ^ packed[i - 1]) >> packing.place_bits == 0; };
    std::vector<uint64_t> bounds = {0};
    for (uint64_t range = 1; range < ranges; ++range) {
      uint64_t bound = std::max(bounds.back(), n * range / ranges);
      while (bound > 0 && bound < n && is_tied(bound)) ++bound;
      bounds.push_back(bound);
    }
    bounds.push_back(n);
    const auto sort_range = [&](uint64_t range) {
      for (uint64_t i = bounds[range] + 1, end = bounds[range + 1]; i < end; ++i) {
        if (!is_tied(i)) continue;
        const uint64_t begin = i - 1;
        while (i < end && is_tied(i)) ++i;
        sort_run(packed + begin, i - begin, packing);
      }
    };
    parallel(static_cast<unsigned>(parts), ranges, 1, [&](uint64_t first, uint64_t last) {
      for (uint64_t range = first; range < last; ++range) sort_range(range);
    });
  }

  // They differ in the bits that were lost alone, which have room beside places in the run.
  void sort_run(uint64_t* run, uint64_t count, const Packing& packing) const {
    constexpr uint64_t few = 64;
    uint64_t on_stack[2 * few];
    const std::unique_ptr<uint64_t[]> more(count > few ? new uint64_t[2 * count] : nullptr);
    uint64_t *keys = more ? more.get() : on_stack, *old = keys + count;
    const int bits = static_cast<int>(std::bit_width(count - 1));
    const uint64_t lost = (uint64_t{1} << packing.drop) - 1;
    for (uint64_t i = 0; i < count; ++i) {
      K key = 0;
      row_.loops.put_keys(row_.x + packing.place(run[i]) * row_.apart, 1, 1, row_.keys, &key);
      keys[i] = ((uint64_t{key} - packing.least) & lost) << bits | i;
      old[i] = run[i];
    }
    by_.sort(keys, count);
    for (uint64_t i = 0; i < count; ++i) run[i] = old[keys[i] & ((uint64_t{1} << bits) - 1)];
  }

  const Row<K>& row_;
  VectorSort<P> by_;
};

}  // namespace adit::ops::sorting_on_host
