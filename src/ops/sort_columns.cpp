#include "ops/sort_columns.hpp"

#include <algorithm>
#include <bit>

#include "ops/vector_sort.hpp"

namespace adit::ops {

namespace {

template <class K>
[[gnu::always_inline]] inline void exchange(K* __restrict low, K* __restrict high) {
  for (uint64_t lane = 0; lane < columns_together<K>; ++lane) {
    const K a = low[lane], b = high[lane];
    low[lane] = a < b ? a : b;
    high[lane] = a < b ? b : a;
  }
}

// Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M): for any count.
template <class K>
[[gnu::always_inline]] inline void merge_exchange(K* keys, uint64_t count) {
  constexpr uint64_t width = columns_together<K>;
  if (count < 2) return;
  const uint64_t top = std::bit_ceil(count) / 2;
  for (uint64_t p = top; p > 0; p /= 2) {
    uint64_t q = top, r = 0, apart = p;
    while (true) {
      for (uint64_t begin = r; begin + apart < count; begin += 2 * p)
        for (uint64_t i = begin, end = std::min(begin + p, count - apart); i < end; ++i)
          exchange(keys + i * width, keys + (i + apart) * width);
      if (q == p) break;
      apart = q - p;
      q /= 2;
      r = p;
    }
  }
}

#if defined(__x86_64__)
template <class K>
[[gnu::target(ADIT_LONG_VECTORS)]] void by_long_vectors(K* keys, uint64_t count) {
  merge_exchange(keys, count);
}
template <class K>
[[gnu::target("avx2")]] void by_vectors(K* keys, uint64_t count) {
  merge_exchange(keys, count);
}
#endif

}  // namespace

template <class K>
void sort_columns(K* keys, uint64_t count) {
#if defined(__x86_64__)
  const VectorKind kind = vectors_of_this_cpu();
  if (kind == VectorKind::avx512) return by_long_vectors(keys, count);
  if (kind == VectorKind::avx2) return by_vectors(keys, count);
#endif
  merge_exchange(keys, count);
}

template void sort_columns(uint8_t*, uint64_t);
template void sort_columns(uint16_t*, uint64_t);
template void sort_columns(uint32_t*, uint64_t);
template void sort_columns(uint64_t*, uint64_t);

}  // namespace adit::ops
