#include "ops/sort_host.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <adit/error.hpp>

#include "support/threads.hpp"

namespace adit::ops {

namespace sorting_on_host {
namespace {

// Rows below go by comparison, which has no tables to clear; those above by all threads together. Digits are
// wider where a row is long enough for their tables. Measured once, on two x86-64 cores (bench/RESULTS.md).
constexpr uint64_t ranked_row = 96, short_row = 96, long_row = 1 << 15, row_of_wide_digits = 3000;
constexpr int narrow_digits = 8, wide_digits = 11;
constexpr uint64_t most_counted = uint64_t{1} << 32;
constexpr uint64_t block = 512;  // elements that are looked at together

template <size_t bytes>
using Word = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

// How an element of a type becomes a key whose order as a whole number is the element's, and back.
struct Keys {
  bool is_float = false, is_signed = false, descending = false, same_zeros = false;
  uint64_t infinity = 0;  // the bits of the type's, of a float
};

// Without branches, so that it is done to vectors.
template <class K>
[[gnu::always_inline]] inline void put_keys(const K* x, uint64_t apart, uint64_t count, const Keys& keys,
                                            K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1)), all = K(~K(0));
  const K flip = keys.descending ? all : K(0);
  if (keys.is_float) {
    const auto infinity = static_cast<Signed>(keys.infinity);
    const K zero = keys.same_zeros ? K(top ^ flip) : K(0),
            negative_zero = keys.same_zeros ? zero : K(all ^ top ^ flip);
    const auto one = [=](K bits) {
      const auto size = static_cast<Signed>(bits & K(~top));
      const K sign = K(static_cast<Signed>(bits) >> (8 * sizeof(K) - 1));
      K key = K(K(bits ^ K(sign | top)) ^ flip);
      key = bits == top ? negative_zero : key;
      return size > infinity ? K(all ^ flip) : key;
    };
    if (apart == 1)
      for (uint64_t i = 0; i < count; ++i) to[i] = one(x[i]);
    else
      for (uint64_t i = 0; i < count; ++i) to[i] = one(x[i * apart]);
    return;
  }
  const K turn = K((keys.is_signed ? top : K(0)) ^ flip);
  for (uint64_t i = 0; i < count; ++i) to[i] = K(x[i * apart] ^ turn);
}

template <class K>
[[gnu::always_inline]] inline void put_bits(const K* from, uint64_t apart, uint64_t count, const Keys& keys,
                                            K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  const K flip = keys.descending ? K(~K(0)) : K(0), signs = keys.is_float ? K(~K(0)) : K(0);
  const K turn = keys.is_float || keys.is_signed ? top : K(0);
  const auto one = [=](K key) {
    key = K(key ^ flip);
    const K negative = K(K(~static_cast<Signed>(static_cast<Signed>(key) >> (8 * sizeof(K) - 1))) & signs);
    return K(key ^ K(negative | turn));
  };
  if (apart == 1)
    for (uint64_t i = 0; i < count; ++i) to[i] = one(from[i]);
  else
    for (uint64_t i = 0; i < count; ++i) to[i * apart] = one(from[i]);
}

// What is known of keys that follow each other.
template <class K>
struct Seen {
  K least = K(~K(0)), most = 0, first = 0, last = 0;
  bool rises = true, falls = true;  // equal ones may do either
};

// Writes keys and looks at them while they are near.
template <class K>
[[gnu::always_inline]] inline void look(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to,
                                        Seen<K>& seen) {
  for (uint64_t begin = 0; begin < count; begin += block) {
    const uint64_t some = std::min(block, count - begin);
    put_keys(x + begin * apart, apart, some, keys, to + begin);
    const K* now = to + begin;
    K least = seen.least, most = seen.most;
    for (uint64_t i = 0; i < some; ++i) least = std::min(least, now[i]), most = std::max(most, now[i]);
    seen.least = least, seen.most = most;
    if (!seen.rises && !seen.falls) continue;
    unsigned up = 0, down = 0;
    for (uint64_t i = begin == 0 ? 1 : 0; i < some; ++i) {
      up |= static_cast<unsigned>(now[i] > now[static_cast<int64_t>(i) - 1]);
      down |= static_cast<unsigned>(now[i] < now[static_cast<int64_t>(i) - 1]);
    }
    seen.rises = seen.rises && !down;
    seen.falls = seen.falls && !up;
  }
  seen.first = to[0], seen.last = to[count - 1];
}

// Where each key of a short row goes: by how many are less, or equal and before it. All pairs are compared,
// but many at once, and without a branch.
template <class K>
[[gnu::always_inline]] inline void put_ranks(const K* keys, uint64_t count, K* ranks) {
  for (uint64_t i = 0; i < count; ++i) ranks[i] = 0;
  for (uint64_t j = 0; j < count; ++j) {
    const K key = keys[j];
    for (uint64_t i = 0; i < j; ++i) ranks[i] = K(ranks[i] + K(key < keys[i]));
    for (uint64_t i = j + 1; i < count; ++i) ranks[i] = K(ranks[i] + K(key <= keys[i]));
  }
}

template <class K>
struct Loops {
  void (*put_ranks)(const K*, uint64_t, K*);
  void (*look)(const K*, uint64_t, uint64_t, const Keys&, K*, Seen<K>&);
  void (*put_bits)(const K*, uint64_t, uint64_t, const Keys&, K*);
};

#define ADIT_LOOPS(NAME, TARGET)                                                                          \
  struct NAME {                                                                                           \
    template <class K>                                                                                    \
    TARGET static void put_ranks(const K* keys, uint64_t count, K* ranks) {                               \
      sorting_on_host::put_ranks(keys, count, ranks);                                                     \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void look(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to,          \
                            Seen<K>& seen) {                                                              \
      sorting_on_host::look(x, apart, count, keys, to, seen);                                             \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void put_bits(const K* from, uint64_t apart, uint64_t count, const Keys& keys, K* to) { \
      sorting_on_host::put_bits(from, apart, count, keys, to);                                            \
    }                                                                                                     \
  };
ADIT_LOOPS(Plain, )
#if defined(__x86_64__)
ADIT_LOOPS(Avx2, [[gnu::target("avx2")]])
#endif
#undef ADIT_LOOPS

template <class K>
Loops<K> loops_of_this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return {Avx2::put_ranks<K>, Avx2::look<K>, Avx2::put_bits<K>};
#endif
  return {Plain::put_ranks<K>, Plain::look<K>, Plain::put_bits<K>};
}

template <class K, class I>
struct Entry {
  K key;
  I place;
};

template <class K>
K key_in(const K& key) {
  return key;
}
template <class K, class I>
K key_in(const Entry<K, I>& entry) {
  return entry.key;
}
template <class K, class I>
bool operator<(const Entry<K, I>& a, const Entry<K, I>& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

template <class K, class E>
E entry_of(K key, uint64_t place) {
  if constexpr (std::is_same_v<E, K>)
    return key;
  else
    return {key, static_cast<decltype(E::place)>(place)};
}

// By so many digits of so many bits, from the lowest on, of what keys are more than the least of them. Parts
// of the row count theirs, learn where they begin, and move their elements.
template <class K, class E, int bits, int passes>
class Radix {
 public:
  Radix(const K* keys, K least, E* row, E* beside, uint64_t length, uint64_t parts)
      : keys_(keys),
        least_(least),
        row_(row),
        beside_(beside),
        length_(length),
        parts_(parts),
        tables_(parts) {}

  // Where the result lies.
  E* run() {
    each_part([&](uint64_t part) { count_all(part); });
    bool has_entries = false;
    for (int p = 0; p < passes; ++p) {
      uint64_t equal = 0;
      for (const Tables& tables : tables_) equal += tables[index(p)][digit(keys_[0], p)];
      if (equal == length_) continue;  // all have the same
      if (!has_entries) {
        move([this](uint64_t i) { return entry_of<K, E>(keys_[i], i); }, p);
      } else {
        if (parts_ > 1) count(p);
        move([from = row_](uint64_t i) { return from[i]; }, p);
      }
      std::swap(row_, beside_);
      has_entries = true;
    }
    return row_;
  }

 private:
  static constexpr size_t digits = size_t{1} << bits;
  using Table = std::array<uint32_t, digits>;
  using Tables = std::array<Table, passes>;

  static size_t index(int p) { return static_cast<size_t>(p); }
  size_t digit(K key, int p) const {
    return static_cast<size_t>(K(key - least_) >> (bits * p)) & (digits - 1);
  }
  uint64_t first(uint64_t part) const { return length_ * part / parts_; }
  void each_part(const auto& f) const {
    if (parts_ == 1) return f(0);
    parallel(static_cast<unsigned>(parts_), parts_, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t part = begin; part < end; ++part) f(part);
    });
  }
  void count_all(uint64_t part) {
    Tables& counts = tables_[part];
    for (Table& table : counts) table.fill(0);
    for (uint64_t i = first(part), end = first(part + 1); i < end; ++i) {
      const K key = keys_[i];
      for (int p = 0; p < passes; ++p) ++counts[index(p)][digit(key, p)];
    }
  }
  void count(int p) {
    each_part([&](uint64_t part) {
      Table& counts = tables_[part][index(p)];
      counts.fill(0);
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i) ++counts[digit(key_in(row_[i]), p)];
    });
  }
  void move(const auto& from, int p) {
    uint32_t start = 0;
    for (size_t d = 0; d < digits; ++d)
      for (Tables& tables : tables_) {
        const uint32_t here = tables[index(p)][d];
        tables[index(p)][d] = start;
        start += here;
      }
    each_part([&](uint64_t part) {
      uint32_t* at = tables_[part][index(p)].data();
      E* to = beside_;
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i) {
        const E entry = from(i);
        to[at[digit(key_in(entry), p)]++] = entry;
      }
    });
  }

  const K* keys_;
  K least_;
  E *row_, *beside_;
  uint64_t length_, parts_;
  std::vector<Tables> tables_;
};

// As few digits as the keys' range needs.
template <class K, class E, int bits, int passes = (static_cast<int>(8 * sizeof(K)) + bits - 1) / bits>
E* by_digits(const K* keys, const Seen<K>& seen, E* row, E* beside, uint64_t length, uint64_t parts) {
  if constexpr (passes > 1)
    if (static_cast<int>(std::bit_width(K(seen.most - seen.least))) <= bits * (passes - 1))
      return by_digits<K, E, bits, passes - 1>(keys, seen, row, beside, length, parts);
  return Radix<K, E, bits, passes>(keys, seen.least, row, beside, length, parts).run();
}

template <class K, class E>
class Rows {
 public:
  Rows(const HostSort& plan, const Keys& keys, const K* x, K* values, int64_t* places)
      : plan_(plan), keys_(keys), x_(x), values_(values), places_(places) {}

  void run() const {
    const uint64_t rows = plan_.outer * plan_.inner, threads = thread_count();
    if (plan_.length >= long_row && rows < threads) {
      Space space(plan_.length);
      for (uint64_t row = 0; row < rows; ++row) sort_row(row, space, threads);
      return;
    }
    const uint64_t chunk = std::max<uint64_t>(1, std::min(rows / (4 * threads), 65536 / plan_.length + 1));
    parallel(static_cast<unsigned>(threads), rows, chunk, [&](uint64_t begin, uint64_t end) {
      Space space(plan_.length);
      for (uint64_t row = begin; row < end; ++row) sort_row(row, space, 1);
    });
  }

 private:
  struct Space {
    explicit Space(uint64_t length) : keys(new K[length]), a(new E[length]), b(new E[length]) {}
    std::unique_ptr<K[]> keys;
    std::unique_ptr<E[]> a, b;
  };

  void share(uint64_t parts, const WorkRange& work) const {
    if (parts == 1) return work(0, plan_.length);
    parallel(static_cast<unsigned>(parts), plan_.length, plan_.length / parts + 1, work);
  }

  void sort_row(uint64_t row, const Space& space, uint64_t parts) const {
    const uint64_t n = plan_.length, inner = plan_.inner;
    const uint64_t first = row / inner * n * inner + row % inner;
    K* keys = space.keys.get();
    const Seen<K> seen = look(first, keys, parts);
    if (seen.rises)
      store_all(keys, first, parts);
    else if (seen.falls)
      fall(keys, first, parts);
    else
      store_sorted(in_order(keys, seen, space, parts), first, parts);
  }

  Seen<K> look(uint64_t first, K* keys, uint64_t parts) const {
    const uint64_t n = plan_.length, inner = plan_.inner;
    if (parts == 1) {
      Seen<K> seen;
      loops_.look(x_ + first, inner, n, keys_, keys, seen);
      return seen;
    }
    std::vector<Seen<K>> list(parts);
    const auto one = [&](uint64_t part) {
      const uint64_t begin = n * part / parts, end = n * (part + 1) / parts;
      loops_.look(x_ + first + begin * inner, inner, end - begin, keys_, keys + begin, list[part]);
    };
    parallel(static_cast<unsigned>(parts), parts, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t part = begin; part < end; ++part) one(part);
    });
    Seen<K> all = list[0];
    for (uint64_t part = 1; part < parts; ++part) {
      const Seen<K>& next = list[part];
      all.rises = all.rises && next.rises && all.last <= next.first;
      all.falls = all.falls && next.falls && all.last >= next.first;
      all.least = std::min(all.least, next.least), all.most = std::max(all.most, next.most);
      all.last = next.last;
    }
    return all;
  }

  void store_all(const K* keys, uint64_t first, uint64_t parts) const {
    if constexpr (std::is_same_v<E, K>)
      share(parts, [&](uint64_t begin, uint64_t end) {
        loops_.put_bits(keys + begin, plan_.inner, end - begin, keys_, values_ + first + begin * plan_.inner);
      });
    else
      share(parts, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) store(entry_of<K, E>(keys[i], i), first, i);
      });
  }

  // The other way round, but equal ones in their own order.
  void fall(K* keys, uint64_t first, uint64_t parts) const {
    const uint64_t n = plan_.length;
    if constexpr (std::is_same_v<E, K>) {
      std::reverse(keys, keys + n);
      store_all(keys, first, parts);
    } else {
      for (uint64_t i = 0, end = n; end > 0;) {
        uint64_t begin = end - 1;
        while (begin > 0 && keys[begin - 1] == keys[begin]) --begin;
        for (uint64_t from = begin; from < end; ++from) store(entry_of<K, E>(keys[from], from), first, i++);
        end = begin;
      }
    }
  }

  const E* in_order(const K* keys, const Seen<K>& seen, const Space& space, uint64_t parts) const {
    const uint64_t n = plan_.length;
    E* row = space.a.get();
    const bool is_counted = n > short_row && n < most_counted;
    if (is_counted && sizeof(K) > 2 && n >= row_of_wide_digits)
      return by_digits<K, E, wide_digits>(keys, seen, row, space.b.get(), n, parts);
    if (is_counted) return by_digits<K, E, narrow_digits>(keys, seen, row, space.b.get(), n, parts);
    if (n <= ranked_row) {
      K ranks[ranked_row];
      loops_.put_ranks(keys, n, ranks);
      for (uint64_t i = 0; i < n; ++i) row[ranks[i]] = entry_of<K, E>(keys[i], i);
      return row;
    }
    for (uint64_t i = 0; i < n; ++i) row[i] = entry_of<K, E>(keys[i], i);
    std::sort(row, row + n);
    return row;
  }

  void store_sorted(const E* sorted, uint64_t first, uint64_t parts) const {
    if constexpr (std::is_same_v<E, K>)
      store_all(sorted, first, parts);
    else
      share(parts, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) store(sorted[i], first, i);
      });
  }

  template <class I>
  void store(const Entry<K, I>& entry, uint64_t first, uint64_t i) const {
    places_[first + i * plan_.inner] = static_cast<int64_t>(entry.place);
    if (values_) values_[first + i * plan_.inner] = x_[first + entry.place * plan_.inner];
  }

  const HostSort& plan_;
  const Keys& keys_;
  const K* x_;
  K* values_;
  int64_t* places_;
  Loops<K> loops_ = loops_of_this_cpu<K>();
};

template <class K>
void sort_words(const HostSort& plan, const Keys& keys, const void* x, void* values, int64_t* places) {
  const auto* from = static_cast<const K*>(x);
  auto* to = static_cast<K*>(values);
  if (!places)
    Rows<K, K>(plan, keys, from, to, places).run();
  else if (plan.length <= uint64_t{1} << 32)
    Rows<K, Entry<K, uint32_t>>(plan, keys, from, to, places).run();
  else
    Rows<K, Entry<K, uint64_t>>(plan, keys, from, to, places).run();
}

}  // namespace
}  // namespace sorting_on_host

void sort_on_host(const HostSort& plan, const void* x, void* values, int64_t* places) {
  using namespace sorting_on_host;
  if (plan.outer * plan.length * plan.inner == 0 || (!values && !places)) return;
  Keys keys{.is_float = is_float(plan.type),
            .is_signed = is_signed_integer(plan.type),
            .descending = plan.descending,
            .same_zeros = places != nullptr};
  switch (plan.type) {
    case DType::f16: keys.infinity = 0x7c00; break;
    case DType::bf16: keys.infinity = 0x7f80; break;
    case DType::f32: keys.infinity = 0x7f800000; break;
    case DType::f64: keys.infinity = 0x7ff0000000000000; break;
    default: break;
  }
  switch (size_of(plan.type)) {
    case 1: return sort_words<uint8_t>(plan, keys, x, values, places);
    case 2: return sort_words<uint16_t>(plan, keys, x, values, places);
    case 4: return sort_words<uint32_t>(plan, keys, x, values, places);
    default: return sort_words<uint64_t>(plan, keys, x, values, places);
  }
}

}  // namespace adit::ops
