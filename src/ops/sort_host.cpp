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
constexpr uint64_t short_row = 96, long_row = 1 << 15, row_of_wide_digits = 3000;
constexpr int narrow_digits = 8, wide_digits = 11;
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
void put_keys(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {
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
K bits_of(K key, const Keys& keys) {
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  if (keys.descending) key = K(~key);
  if (keys.is_float) return (key & top) ? K(key ^ top) : K(~key);
  return keys.is_signed ? K(key ^ top) : key;
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

// Whether keys are in order, or the other way round without equal ones; the first that is neither ends it.
enum class Order { none, ascending, descending };
template <class K>
Order order_of(const K* keys, uint64_t count) {
  if (count < 2) return Order::ascending;
  const bool rises = keys[0] <= keys[1];
  for (uint64_t i = 1; i < count; i += block) {
    const uint64_t end = std::min(count, i + block);
    unsigned broken = 0;
    if (rises)
      for (uint64_t j = i; j < end; ++j) broken |= static_cast<unsigned>(keys[j] < keys[j - 1]);
    else
      for (uint64_t j = i; j < end; ++j) broken |= static_cast<unsigned>(keys[j] >= keys[j - 1]);
    if (broken) return Order::none;
  }
  return rises ? Order::ascending : Order::descending;
}

// By digits of so many bits, from the lowest on. Parts of the row count theirs, learn where they begin, and
// move their elements.
template <class K, class E, int bits>
class Radix {
 public:
  Radix(const K* keys, E* row, E* beside, uint64_t length, uint64_t parts)
      : keys_(keys),
        row_(row),
        beside_(beside),
        length_(length),
        parts_(parts),
        tables_(parts),
        all_(parts) {}

  // Where the result lies.
  E* run() {
    each_part([&](uint64_t part) {
      std::array<Table, passes>& counts = all_[part];
      for (Table& table : counts) table.fill(0);
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i)
        for (int p = 0; p < passes; ++p) ++counts[static_cast<size_t>(p)][digit(keys_[i], p)];
    });
    bool has_moved = false;
    for (int p = 0; p < passes; ++p) {
      uint64_t equal = 0;
      for (const auto& counts : all_) equal += counts[static_cast<size_t>(p)][digit(keys_[0], p)];
      if (equal == length_) continue;  // all have the same
      if (!has_moved) {
        for (uint64_t part = 0; part < parts_; ++part) tables_[part] = all_[part][static_cast<size_t>(p)];
        move([this](uint64_t i) { return entry_of<K, E>(keys_[i], i); }, p);
      } else {
        if (parts_ == 1)
          tables_[0] = all_[0][static_cast<size_t>(p)];
        else
          count(p);
        move([from = row_](uint64_t i) { return from[i]; }, p);
      }
      std::swap(row_, beside_);
      has_moved = true;
    }
    return row_;
  }

 private:
  static constexpr int passes = (static_cast<int>(8 * sizeof(K)) + bits - 1) / bits;
  static constexpr size_t digits = size_t{1} << bits;
  using Table = std::array<uint64_t, digits>;

  static size_t digit(K key, int p) { return static_cast<size_t>(key >> (bits * p)) & (digits - 1); }
  uint64_t first(uint64_t part) const { return length_ * part / parts_; }
  void each_part(const auto& f) const {
    if (parts_ == 1) return f(0);
    parallel(static_cast<unsigned>(parts_), parts_, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t part = begin; part < end; ++part) f(part);
    });
  }
  void count(int p) {
    each_part([&](uint64_t part) {
      Table& counts = tables_[part];
      counts.fill(0);
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i) ++counts[digit(key_in(row_[i]), p)];
    });
  }
  void move(const auto& from, int p) {
    uint64_t start = 0;
    for (size_t d = 0; d < digits; ++d)
      for (Table& table : tables_) start += std::exchange(table[d], start);
    each_part([&](uint64_t part) {
      uint64_t* at = tables_[part].data();
      for (uint64_t i = first(part), end = first(part + 1); i < end; ++i) {
        const E entry = from(i);
        beside_[at[digit(key_in(entry), p)]++] = entry;
      }
    });
  }

  const K* keys_;
  E *row_, *beside_;
  uint64_t length_, parts_;
  std::vector<Table> tables_;
  std::vector<std::array<Table, passes>> all_;  // as counted before the first pass
};

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
    share(parts, [&](uint64_t begin, uint64_t end) {
      put_keys(x_ + first + begin * inner, inner, end - begin, keys_, keys + begin);
    });
    const Order order = order_of(keys, n);
    if (order != Order::none) {
      share(parts, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) {
          const uint64_t from = order == Order::ascending ? i : n - 1 - i;
          store(entry_of<K, E>(keys[from], from), first, i);
        }
      });
      return;
    }
    const E* sorted = in_order(keys, space, parts);
    share(parts, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) store(sorted[i], first, i);
    });
  }

  const E* in_order(const K* keys, const Space& space, uint64_t parts) const {
    const uint64_t n = plan_.length;
    E* row = space.a.get();
    if (n <= short_row) {
      for (uint64_t i = 0; i < n; ++i) row[i] = entry_of<K, E>(keys[i], i);
      std::sort(row, row + n);
      return row;
    }
    if (sizeof(K) > 2 && n >= row_of_wide_digits)
      return Radix<K, E, wide_digits>(keys, row, space.b.get(), n, parts).run();
    return Radix<K, E, narrow_digits>(keys, row, space.b.get(), n, parts).run();
  }

  void store(const K& key, uint64_t first, uint64_t i) const {
    values_[first + i * plan_.inner] = bits_of(key, keys_);
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
