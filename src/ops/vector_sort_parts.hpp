// What the vector sort needs of no particular processor.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ops/target.hpp"

namespace adit::ops::vector_sort_parts {

// From so many keys on a pivot is the middle of half of what the largest network sorts, before of a register.
// Measured on one x86-64 processor.
constexpr uint64_t many_draws = 2048;

struct Pair {
  int low = 0, high = 0;
};

// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M).
template <class F>
constexpr void each_exchange(int count, const F& f) {
  const int top = count / 2;
  for (int p = top; p > 0; p /= 2) {
    int q = top, r = 0, apart = p;
    while (true) {
      for (int i = 0; i + apart < count; ++i)
        if ((i & p) == r) f(Pair{i, i + apart});
      if (q == p) break;
      apart = q - p;
      q /= 2;
      r = p;
    }
  }
}
template <int count>
constexpr size_t exchanges() {
  size_t found = 0;
  each_exchange(count, [&](Pair) { ++found; });
  return found;
}
template <int count>
constexpr auto make_network() {
  std::array<Pair, exchanges<count>()> pairs{};
  size_t at = 0;
  each_exchange(count, [&](Pair pair) { pairs[at++] = pair; });
  return pairs;
}
// Exchanges that bring so many (a power of two) into order.
template <int count>
inline constexpr auto network = make_network<count>();

// By which lanes of a register are below: all of its `units` (bytes, or words), those of the lanes below
// first.
template <size_t lanes, size_t units>
constexpr auto make_orders() {
  std::array<std::array<uint8_t, units>, size_t{1} << lanes> orders{};
  for (size_t mask = 0; mask < orders.size(); ++mask) {
    size_t at = 0;
    for (const bool is_below : {true, false})
      for (size_t lane = 0; lane < lanes; ++lane)
        if ((mask >> lane & 1) == static_cast<size_t>(is_below))
          for (size_t unit = 0; unit < units / lanes; ++unit)
            orders[mask][at++] = static_cast<uint8_t>(lane * (units / lanes) + unit);
  }
  return orders;
}
template <size_t lanes, size_t units>
inline constexpr auto orders = make_orders<lanes, units>();

template <class K>
void sort_slowly(K* keys, uint64_t count) {
  std::sort(keys, keys + count);
}

}  // namespace adit::ops::vector_sort_parts
