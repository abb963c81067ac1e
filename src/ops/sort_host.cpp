#include "ops/sort_host.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include <adit/error.hpp>

#include "support/threads.hpp"

namespace adit::ops {

namespace sorting_on_host {
namespace {

// Rows below go by comparison, which has no tables to clear; those above by all threads together. Measured
// once, on two x86-64 cores (bench/RESULTS.md).
constexpr uint64_t short_row = 192, long_row = 1 << 16;
constexpr size_t digits = 256;

template <size_t bytes>
using Word = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;

// How an element of a type becomes a key whose order as a whole number is the element's, and back.
struct Keys {
  bool is_float = false, is_signed = false, descending = false, same_zeros = false;
  uint64_t infinity = 0;  // the bits of the type's, of a float
};

template <class K>
K key_of(K bits, const Keys& keys) {
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  K key = bits;
  if (keys.is_float) {
    const K size = bits & K(~top);
    if (size > K(keys.infinity))
      key = K(~K(0));
    else if (keys.same_zeros && size == 0)
      key = top;
    else
      key = (bits & top) ? K(~bits) : K(bits | top);
  } else if (keys.is_signed) {
    key = K(bits ^ top);
  }
  return keys.descending ? K(~key) : key;
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
uint64_t digit_of(const K& key, int shift) {
  return static_cast<uint64_t>(key >> shift) & (digits - 1);
}
template <class K, class I>
uint64_t digit_of(const Entry<K, I>& entry, int shift) {
  return digit_of(entry.key, shift);
}
template <class K, class I>
bool operator<(const Entry<K, I>& a, const Entry<K, I>& b) {
  return a.key != b.key ? a.key < b.key : a.place < b.place;
}

using Table = std::array<uint64_t, digits>;

// One digit: parts of the row count theirs, learn where they begin, and move their elements. False where all
// have the same, and nothing was moved.
template <class From, class E>
bool pass(const From& from, E* to, uint64_t length, uint64_t parts, int shift, std::vector<Table>& tables) {
  const auto bounds = [&](uint64_t part) { return length * part / parts; };
  const auto all_parts = [&](const auto& f) {
    if (parts == 1) return f(0);
    parallel(static_cast<unsigned>(parts), parts, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t part = begin; part < end; ++part) f(part);
    });
  };
  all_parts([&](uint64_t part) {
    Table counts{};
    for (uint64_t i = bounds(part), end = bounds(part + 1); i < end; ++i) ++counts[digit_of(from(i), shift)];
    tables[part] = counts;
  });
  uint64_t start = 0;
  for (size_t digit = 0; digit < digits; ++digit) {
    const uint64_t before = start;
    for (uint64_t part = 0; part < parts; ++part) {
      const uint64_t count = tables[part][digit];
      tables[part][digit] = start;
      start += count;
    }
    if (start - before == length) return false;
  }
  all_parts([&](uint64_t part) {
    Table at = tables[part];
    for (uint64_t i = bounds(part), end = bounds(part + 1); i < end; ++i) {
      const E entry = from(i);
      to[at[digit_of(entry, shift)]++] = entry;
    }
  });
  return true;
}

// Sorts what `given` tells of each place, in two spaces; where the result lies. The first digit is taken from
// what is given, which saves a way through memory.
template <class K, class E, class Given>
E* in_order(const Given& given, E* row, E* beside, uint64_t length, uint64_t parts, const auto& fill) {
  if (length <= short_row) {
    fill(row);
    std::sort(row, row + length);
    return row;
  }
  std::vector<Table> tables(parts);
  if (!pass(given, row, length, parts, 0, tables)) fill(row);
  for (int shift = 8; shift < static_cast<int>(8 * sizeof(K)); shift += 8)
    if (pass([row](uint64_t i) { return row[i]; }, beside, length, parts, shift, tables))
      std::swap(row, beside);
  return row;
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
    explicit Space(uint64_t length) : a(new E[length]), b(new E[length]) {}
    std::unique_ptr<E[]> a, b;
  };

  void share(uint64_t parts, const WorkRange& work) const {
    if (parts == 1) return work(0, plan_.length);
    parallel(static_cast<unsigned>(parts), plan_.length, plan_.length / parts + 1, work);
  }

  void sort_row(uint64_t row, const Space& space, uint64_t parts) const {
    const uint64_t n = plan_.length, inner = plan_.inner;
    const uint64_t first = row / inner * n * inner + row % inner;
    const auto given = [&](uint64_t i) { return entry_of(key_of(x_[first + i * inner], keys_), i); };
    const auto fill = [&](E* entries) {
      share(parts, [&](uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i) entries[i] = given(i);
      });
    };
    const E* sorted = in_order<K>(given, space.a.get(), space.b.get(), n, parts, fill);
    share(parts, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) store(sorted[i], first, i);
    });
  }

  static E entry_of(K key, uint64_t place) {
    if constexpr (std::is_same_v<E, K>)
      return key;
    else
      return {key, static_cast<decltype(E::place)>(place)};
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
