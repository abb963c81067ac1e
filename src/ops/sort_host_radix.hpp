// A row on the CPU by digits of its keys: where the processor has no vectors, or keys have few bits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/sort_host_row.hpp"

namespace adit::ops::sorting_on_host {

// Rows below go by comparison, which has no tables to clear. Digits are wider where a row is long enough for
// their tables. Measured once, on two x86-64 cores (bench/RESULTS.md).
constexpr uint64_t ranked_row = 96, row_of_wide_digits = 3000;
constexpr int narrow_digits = 8, wide_digits = 11;
constexpr uint64_t most_counted = uint64_t{1} << 32;

template <class K, class I>
struct Entry {
  K key;
  I place;
};

// What the second of two passes still needs of keys of up to 16 bits.
struct UpperDigit {
  uint32_t digit_and_place;
};
constexpr int place_bits = 24;

template <class K, class I>
bool operator<(const Entry<K, I>& a, const Entry<K, I>& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

// The key is what it is more than the least one where it has a place.
template <class K, class E>
E entry_of(K key, uint64_t place) {
  if constexpr (std::is_same_v<E, K>)
    return key;
  else if constexpr (std::is_same_v<E, UpperDigit>)
    return {static_cast<uint32_t>(key >> narrow_digits) << place_bits | static_cast<uint32_t>(place)};
  else
    return {key, static_cast<decltype(E::place)>(place)};
}
template <class K, class E>
K key_in(const E& entry, K least) {
  if constexpr (std::is_same_v<E, K>)
    return K(entry - least);
  else if constexpr (std::is_same_v<E, UpperDigit>)
    return K(entry.digit_and_place >> place_bits << narrow_digits);
  else
    return entry.key;
}
template <class E>
uint64_t place_in(const E& entry) {
  if constexpr (std::is_same_v<E, UpperDigit>)
    return entry.digit_and_place & ((uint32_t{1} << place_bits) - 1);
  else
    return entry.place;
}

constexpr int digits_of(size_t bytes, int bits) { return (static_cast<int>(8 * bytes) + bits - 1) / bits; }
// Words of the tables of keys of so many bytes, by digits of either kind.
constexpr size_t words_of_tables(size_t bytes) {
  const auto words = [=](int bits) { return static_cast<size_t>(digits_of(bytes, bits)) << bits; };
  return bytes > 2 ? std::max(words(narrow_digits), words(wide_digits)) : words(narrow_digits);
}

// By digits of so many bits, from the lowest on, of what keys are more than the least of them. Parts
// of the row count theirs, learn where they begin, and move their elements.
template <class K, class E, int bits>
class Radix {
 public:
  // As few digits as the range of the keys needs. The tables of one part have room there.
  Radix(const Range<K>& seen, const K* keys, E* row, E* beside, uint64_t length, uint64_t parts,
        uint32_t* tables)
      : passes_(std::max(1, (static_cast<int>(std::bit_width(K(seen.most - seen.least))) + bits - 1) / bits)),
        keys_(keys),
        least_(seen.least),
        row_(row),
        beside_(beside),
        length_(length),
        parts_(parts),
        own_(parts == 1 ? nullptr : new uint32_t[parts * index(passes_) * digits]),
        tables_(own_ ? own_.get() : tables) {}

  // Where the result lies; null where finish(i, entry) was told it.
  template <class F>
  E* run(const F& finish) {
    each_part([&](uint64_t part) { count_all(part); });
    std::array<bool, most_passes> differs{};
    int last = 0;
    for (int p = 0; p < passes_; ++p) {
      uint64_t equal = 0;
      for (uint64_t part = 0; part < parts_; ++part) equal += table(part, p)[digit(K(keys_[0] - least_), p)];
      differs[index(p)] = equal != length_;
      if (differs[index(p)]) last = p;
    }
    bool has_entries = false;
    for (int p = 0; p <= last; ++p) {
      if (!differs[index(p)] && p < last) continue;
      if (has_entries && parts_ > 1) count(p);
      const auto move_from = [&](const auto& key, const auto& entry) {
        if constexpr (!std::is_same_v<E, K>)
          if (p == last) return move(p, key, entry, finish);
        move(p, key, entry, [to = beside_](uint64_t i, const E& one) { to[i] = one; });
      };
      if (has_entries)
        move_from([row = row_, least = least_](uint64_t i) { return key_in(row[i], least); },
                  [row = row_](uint64_t i) { return row[i]; });
      else
        move_from([keys = keys_, least = least_](uint64_t i) { return K(keys[i] - least); },
                  [keys = keys_, least = entries_less()](uint64_t i) {
                    return entry_of<K, E>(K(keys[i] - least), i);
                  });
      if (!std::is_same_v<E, K> && p == last) return nullptr;
      std::swap(row_, beside_);
      has_entries = true;
    }
    return row_;
  }

 private:
  static constexpr size_t digits = size_t{1} << bits;
  static constexpr int most_passes = digits_of(sizeof(K), bits);

  static size_t index(int p) { return static_cast<size_t>(p); }
  static size_t digit(K key, int p) { return static_cast<size_t>(key >> (bits * p)) & (digits - 1); }
  K entries_less() const { return std::is_same_v<E, K> ? K(0) : least_; }
  uint32_t* table(uint64_t part, int p) const {
    return tables_ + (part * index(passes_) + index(p)) * digits;
  }
  uint64_t first(uint64_t part) const { return length_ * part / parts_; }
  void each_part(const auto& f) const {
    if (parts_ == 1) return f(0);
    parallel(static_cast<unsigned>(parts_), parts_, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t part = begin; part < end; ++part) f(part);
    });
  }
  // All digits of a key while it is near, each by a place that the compiler knows.
  template <int passes = most_passes>
  void count_all(uint64_t part) {
    if constexpr (passes > 1)
      if (passes_ < passes) return count_all<passes - 1>(part);
    uint32_t* counts = table(part, 0);
    std::fill(counts, counts + passes * digits, 0);
    for (uint64_t i = first(part), end = first(part + 1); i < end; ++i) {
      const K key = K(keys_[i] - least_);
      for (int p = 0; p < passes; ++p) ++counts[index(p) * digits + digit(key, p)];
    }
  }
  void count(int p) {
    each_part([&](uint64_t part) {
      uint32_t* counts = table(part, p);
      std::fill(counts, counts + digits, 0);
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i)
        ++counts[digit(key_in(row_[i], least_), p)];
    });
  }
  void move(int p, const auto& key, const auto& entry, const auto& to) {
    if constexpr (most_passes > 2)
      move_by(p, key, entry, to);
    else if (p == 0)  // a shift that the compiler knows, a quarter of the time of short keys
      move_by(std::integral_constant<int, 0>(), key, entry, to);
    else
      move_by(std::integral_constant<int, 1>(), key, entry, to);
  }
  void move_by(auto p, const auto& key, const auto& entry, const auto& to) {
    uint32_t start = 0;
    for (size_t d = 0; d < digits; ++d)
      for (uint64_t part = 0; part < parts_; ++part) start += std::exchange(table(part, p)[d], start);
    each_part([&](uint64_t part) {
      // Copies: what is written may be any of the originals, as far as the compiler knows.
      const auto read_key = key;
      const auto read = entry;
      const auto write = to;
      const auto digit_number = p;
      uint32_t* at = table(part, p);
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i)
        write(at[digit(read_key(i), digit_number)]++, read(i));
    });
  }

  const int passes_;
  const K* keys_;
  K least_;
  E *row_, *beside_;
  uint64_t length_, parts_;
  std::unique_ptr<uint32_t[]> own_;
  uint32_t* tables_;
};

// Values of which there are far fewer than elements: how many there are of each is enough.
template <class K>
class Counted {
 public:
  Counted(const Row<K>& row, const Range<K>& seen)
      : row_(row), least_(seen.least), kinds_(size_t{seen.most} - seen.least + 1) {}

  bool serves() const {
    return row_.length > ranked_row && row_.length < most_counted && 4 * kinds_ <= row_.length;
  }

  void sort(const K* keys, uint64_t parts) const {
    const uint64_t ranges = parts == 1 ? 1 : 2 * parts, n = row_.length;
    std::vector<std::vector<uint32_t>> counts(ranges);
    each(parts, ranges, [&](uint64_t range) {
      counts[range] = count(keys + n * range / ranges, keys + n * (range + 1) / ranges);
    });
    for (uint64_t range = 1; range < ranges; ++range)
      for (size_t kind = 0; kind < kinds_; ++kind) counts[0][kind] += counts[range][kind];
    std::vector<uint64_t> starts(ranges + 1);
    for (uint64_t range = 0; range < ranges; ++range) {
      uint64_t all = 0;
      for (size_t kind = first(range, ranges); kind < first(range + 1, ranges); ++kind)
        all += counts[0][kind];
      starts[range + 1] = starts[range] + all;
    }
    each(parts, ranges, [&](uint64_t range) {
      fill(counts[0], first(range, ranges), first(range + 1, ranges), starts[range]);
    });
  }

 private:
  void each(uint64_t parts, uint64_t ranges, const auto& f) const {
    parallel(static_cast<unsigned>(parts), ranges, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t range = begin; range < end; ++range) f(range);
    });
  }
  size_t first(uint64_t range, uint64_t ranges) const { return kinds_ * range / ranges; }
  // Neighbours in tables of their own: equal ones would wait for each other.
  std::vector<uint32_t> count(const K* from, const K* end) const {
    std::vector<uint32_t> table(2 * kinds_);
    uint32_t *even = table.data(), *odd = even + kinds_;
    for (; from + 1 < end; from += 2) ++even[from[0] - least_], ++odd[from[1] - least_];
    if (from < end) ++even[*from - least_];
    for (size_t kind = 0; kind < kinds_; ++kind) even[kind] += odd[kind];
    return table;
  }
  void fill(const std::vector<uint32_t>& counts, size_t kind, size_t end, uint64_t at) const {
    K own[block], bits[block];
    for (uint64_t some = 0; kind < end; kind += some) {
      some = std::min<uint64_t>(block, end - kind);
      for (uint64_t i = 0; i < some; ++i) own[i] = static_cast<K>(least_ + kind + i);
      row_.loops.put_bits(own, 1, some, row_.keys, bits);
      for (uint64_t i = 0; i < some; ++i)
        for (uint64_t left = counts[kind + i]; left > 0; --left, ++at) row_.values[at * row_.apart] = bits[i];
    }
  }

  const Row<K>& row_;
  K least_;
  size_t kinds_;
};

template <class K, class E>
class RadixRow {
 public:
  struct Space {
    explicit Space(uint64_t length)
        : keys(new K[length]),
          a(new E[length]),
          b(new E[length]),
          tables(new uint32_t[words_of_tables(sizeof(K))]) {}
    std::unique_ptr<K[]> keys;
    std::unique_ptr<E[]> a, b;
    std::unique_ptr<uint32_t[]> tables;
  };
  static constexpr uint64_t unasked = 0;
  explicit RadixRow(const Row<K>& row) : row_(row) {}

  void sort(const Space& space, uint64_t parts) const {
    const Range<K> seen = row_.look(space.keys.get(), parts);
    if constexpr (std::is_same_v<E, K> && sizeof(K) <= 2)
      if (const Counted<K> counted(row_, seen); counted.serves())
        return counted.sort(space.keys.get(), parts);
    if constexpr (std::is_same_v<E, K>) {
      const E* sorted = in_order(seen, space, parts, [](uint64_t, const E&) {});
      row_.share(parts, [&](uint64_t begin, uint64_t end) {
        row_.loops.put_bits(sorted + begin, row_.apart, end - begin, row_.keys,
                            row_.values + begin * row_.apart);
      });
    } else if (row_.apart == 1 && !row_.values) {
      store_all(seen, space, parts, [to = row_.places](uint64_t i, const E& entry) {
        to[i] = static_cast<int64_t>(place_in(entry));
      });
    } else {
      store_all(seen, space, parts,
                [own = row_](uint64_t i, const E& entry) { own.store(i, place_in(entry)); });
    }
  }

 private:
  void store_all(const Range<K>& seen, const Space& space, uint64_t parts, const auto& store) const {
    if (const E* sorted = in_order(seen, space, parts, store))
      for (uint64_t i = 0; i < row_.length; ++i) store(i, sorted[i]);
  }

  // Null where finish was told each place already.
  const E* in_order(const Range<K>& seen, const Space& space, uint64_t parts, const auto& finish) const {
    const uint64_t n = row_.length;
    const K* keys = space.keys.get();
    E* row = space.a.get();
    if constexpr (!std::is_same_v<E, Entry<K, uint64_t>>)  // whose rows are longer than any that is counted
      if (n > ranked_row && n < most_counted) {
        if constexpr (sizeof(K) > 2)
          if (n >= row_of_wide_digits) return by_digits<wide_digits>(seen, space, parts, finish);
        return by_digits<narrow_digits>(seen, space, parts, finish);
      }
    if (n <= ranked_row) {
      K ranks[ranked_row];
      row_.loops.put_ranks(keys, n, ranks);
      for (uint64_t i = 0; i < n; ++i) row[ranks[i]] = entry_of<K, E>(keys[i], i);
      return row;
    }
    if constexpr (!std::is_same_v<E, UpperDigit>) {  // rows of those are all counted
      for (uint64_t i = 0; i < n; ++i) row[i] = entry_of<K, E>(keys[i], i);
      std::sort(row, row + n);
    }
    return row;
  }

  template <int bits>
  E* by_digits(const Range<K>& seen, const Space& space, uint64_t parts, const auto& finish) const {
    Radix<K, E, bits> radix(seen, space.keys.get(), space.a.get(), space.b.get(), row_.length, parts,
                            space.tables.get());
    return radix.run(finish);
  }

  const Row<K>& row_;
};

}  // namespace adit::ops::sorting_on_host
