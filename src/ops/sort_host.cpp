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

#include "ops/sort_columns.hpp"
#include "ops/sort_host_keys.hpp"
#include "support/threads.hpp"

namespace adit::ops {

namespace sorting_on_host {
namespace {

// Rows below go by comparison, which has no tables to clear; those above by all threads together. Digits are
// wider where a row is long enough for their tables. Measured once, on two x86-64 cores (bench/RESULTS.md).
constexpr uint64_t longest_column = 1024, ranked_row = 96, short_row = 96, long_row = 1 << 15,
                   row_of_wide_digits = 3000;
constexpr int narrow_digits = 8, wide_digits = 11;
constexpr uint64_t most_counted = uint64_t{1} << 32;

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

// Short rows side by side. A column holds keys alone, or keys of up to 32 bits with their places.
template <class K, class C>
class Columns {
 public:
  Columns(const HostSort& plan, const Keys& keys, const K* x, K* values, int64_t* places)
      : plan_(plan), keys_(keys), x_(x), values_(values), places_(places) {}

  static bool serve(const HostSort& plan) {
    return plan.length <= longest_column && plan.outer * plan.inner >= width / 2;
  }

  void run() const {
    const uint64_t a_row = (plan_.inner + width - 1) / width;  // groups of columns that lie side by side
    const uint64_t groups = plan_.inner == 1 ? (plan_.outer + width - 1) / width : plan_.outer * a_row;
    const uint64_t threads = thread_count(), some = 65536 / (plan_.length * width) + 1;
    const uint64_t chunk = std::max<uint64_t>(1, std::min(groups / (4 * threads), some));
    parallel(static_cast<unsigned>(threads), groups, chunk, [&](uint64_t begin, uint64_t end) {
      const std::unique_ptr<Line[]> lines(new Line[plan_.length]);
      const std::unique_ptr<K[]> row(new K[std::max(plan_.length, width)]);
      for (uint64_t g = begin; g < end; ++g) {
        const uint64_t n = plan_.length, inner = plan_.inner, first = g % a_row * width;
        const Group group =
            inner == 1 ? Group{g * width * n, n, 1, std::min(width, plan_.outer - g * width)}
                       : Group{g / a_row * n * inner + first, 1, inner, std::min(width, inner - first)};
        load(group, lines.get(), row.get());
        sort_columns(lines[0].keys, n);
        store(group, lines.get(), row.get());
      }
    });
  }

 private:
  static constexpr uint64_t width = columns_together<C>;
  static constexpr bool has_places = !std::is_same_v<K, C>;
  struct alignas(64) Line {
    C keys[width];
  };
  struct Group {
    uint64_t first, column, step, columns;  // how far apart columns are, and their elements
  };

  static C joined(K key, uint64_t place) {
    if constexpr (has_places)
      return C{key} << 32 | place;
    else
      return key;
  }

  void load(const Group& group, Line* lines, K* row) const {
    const uint64_t n = plan_.length;
    if (group.column == 1)
      for (uint64_t i = 0; i < n; ++i) {
        loops_.put_keys(x_ + group.first + i * group.step, 1, group.columns, keys_, row);
        for (uint64_t c = 0; c < group.columns; ++c) lines[i].keys[c] = joined(row[c], i);
      }
    else
      for (uint64_t c = 0; c < group.columns; ++c) {
        loops_.put_keys(x_ + group.first + c * group.column, 1, n, keys_, row);
        for (uint64_t i = 0; i < n; ++i) lines[i].keys[c] = joined(row[i], i);
      }
  }

  void store(const Group& group, const Line* lines, K* row) const {
    const uint64_t n = plan_.length;
    if constexpr (has_places) {
      for (uint64_t c = 0; c < group.columns; ++c) {
        const uint64_t first = group.first + c * group.column;
        for (uint64_t i = 0; i < n; ++i) {
          const uint64_t place = lines[i].keys[c] & 0xffffffff;
          places_[first + i * group.step] = static_cast<int64_t>(place);
          if (values_) values_[first + i * group.step] = x_[first + place * group.step];
        }
      }
    } else if (group.column == 1) {
      for (uint64_t i = 0; i < n; ++i)
        loops_.put_bits(lines[i].keys, 1, group.columns, keys_, values_ + group.first + i * group.step);
    } else {
      for (uint64_t c = 0; c < group.columns; ++c) {
        for (uint64_t i = 0; i < n; ++i) row[i] = lines[i].keys[c];
        loops_.put_bits(row, 1, n, keys_, values_ + group.first + c * group.column);
      }
    }
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
  using Both = uint64_t;
  if (!places && Columns<K, K>::serve(plan)) return Columns<K, K>(plan, keys, from, to, places).run();
  if constexpr (sizeof(K) < sizeof(Both))
    if (places && Columns<K, Both>::serve(plan)) return Columns<K, Both>(plan, keys, from, to, places).run();
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
