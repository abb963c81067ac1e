// Short rows on the CPU, many at once.
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>

#include "ops/sort_columns.hpp"
#include "ops/sort_host.hpp"
#include "ops/sort_host_keys.hpp"
#include "support/threads.hpp"

namespace adit::ops::sorting_on_host {

// Longer rows are faster one by one; where their elements do not lie side by side, later. Measured once, on
// an x86-64 core and on a Neoverse V1 (bench/RESULTS.md).
template <class K, class C>
constexpr uint64_t longest_column(const HostSort& plan) {
  constexpr bool has_places = sizeof(K) < sizeof(C);
  if (plan.vectors == VectorKind::neon && has_places) return sizeof(K) < 4 ? 64 : 512;
  if (plan.vectors <= VectorKind::neon || plan.inner > 1) return 1024;
  if (plan.vectors == VectorKind::avx2) return 256;
  return has_places ? 512 : 96;
}

// Short rows side by side. A column holds keys alone, or keys of up to 32 bits with their places.
template <class K, class C>
class Columns {
 public:
  Columns(const HostSort& plan, const Keys& keys, const K* x, K* values, int64_t* places)
      : plan_(plan), keys_(keys), x_(x), values_(values), places_(places) {}

  static bool serve(const HostSort& plan) {
    // Short rows of keys that have no vector sort wait for few others: one alone compares all pairs.
    const bool is_alone_slow = sizeof(K) < 4 && !has_places && plan.length <= 96;
    return plan.length <= longest_column<K, C>(plan) &&
           plan.outer * plan.inner >= (is_alone_slow ? width / 8 : width / 2);
  }

  void run() const {
    const uint64_t a_row = (plan_.inner + width - 1) / width;  // groups of columns that lie side by side
    const uint64_t groups = plan_.inner == 1 ? (plan_.outer + width - 1) / width : plan_.outer * a_row;
    const uint64_t threads = thread_count(), some = 65536 / (plan_.length * width) + 1;
    const uint64_t chunk = std::max<uint64_t>(1, std::min(groups / (4 * threads), some));
    parallel(static_cast<unsigned>(threads), groups, chunk, [&](uint64_t begin, uint64_t end) {
      const std::unique_ptr<Line[]> lines(new Line[plan_.length]);
      const std::unique_ptr<K[]> row(new K[plan_.length * width]);
      for (uint64_t g = begin; g < end; ++g) {
        const uint64_t n = plan_.length, inner = plan_.inner, first = g % a_row * width;
        const Group group =
            inner == 1 ? Group{g * width * n, n, 1, std::min(width, plan_.outer - g * width)}
                       : Group{g / a_row * n * inner + first, 1, inner, std::min(width, inner - first)};
        if (inner == 1 && stay(group, row.get())) continue;
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
    else  // their keys are there
      for (uint64_t c = 0; c < group.columns; ++c)
        for (uint64_t i = 0; i < n; ++i) lines[i].keys[c] = joined(row[c * n + i], i);
  }

  // Keys of rows one after the other; whether all of them rise, or all fall, and are done.
  bool stay(const Group& group, K* rows) const {
    const uint64_t n = plan_.length, count = n * group.columns;
    loops_.put_keys(x_ + group.first, 1, count, keys_, rows);
    bool rises = true, sinks = true;
    for (const K* row = rows; row < rows + count && (rises || sinks); row += n) {
      K up = 0, down = 0;
      for (uint64_t i = 1; i < n; ++i) {
        up = K(up | K(has_places ? row[i] >= row[i - 1] : row[i] > row[i - 1]));
        down = K(down | K(row[i] < row[i - 1]));
      }
      rises = rises && !down;
      sinks = sinks && !up;
    }
    if (rises || sinks) put_rows(group, rows, rises);
    return rises || sinks;
  }

  // Rows as they are, or turned round.
  void put_rows(const Group& group, K* rows, bool as_they_are) const {
    const uint64_t n = plan_.length, count = n * group.columns;
    if constexpr (has_places) {
      for (uint64_t first = group.first; first < group.first + count; first += n)
        for (uint64_t i = 0; i < n; ++i) {
          const uint64_t place = as_they_are ? i : n - 1 - i;
          places_[first + i] = static_cast<int64_t>(place);
          if (values_) values_[first + i] = x_[first + place];
        }
    } else {
      if (!as_they_are)
        for (K* row = rows; row < rows + count; row += n) std::reverse(row, row + n);
      loops_.put_bits(rows, 1, count, keys_, values_ + group.first);
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
      for (uint64_t c = 0; c < group.columns; ++c)
        for (uint64_t i = 0; i < n; ++i) row[c * n + i] = lines[i].keys[c];
      loops_.put_bits(row, 1, n * group.columns, keys_, values_ + group.first);
    }
  }

  const HostSort& plan_;
  const Keys& keys_;
  const K* x_;
  K* values_;
  int64_t* places_;
  Loops<K> loops_ = loops_for<K>(plan_.vectors);
};

}  // namespace adit::ops::sorting_on_host
