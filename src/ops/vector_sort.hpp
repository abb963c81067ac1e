// Whole numbers in order by the vectors of the processor: a quicksort that divides by moving the lanes below
// a pivot to one end and the others to the other, and ends in networks on registers. Not stable, which
// numbers do not need; places go along in the low bits of wider numbers.
#pragma once

#include <cstdint>

// The target of functions whose loops are to take VectorKind::avx512.
#if defined(__clang__)  // it takes the longest vectors by itself
#define ADIT_LONG_VECTORS "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define ADIT_LONG_VECTORS "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace adit::ops {

enum class VectorKind : uint8_t { none, neon, avx2, avx512 };
VectorKind vectors_of_this_cpu();

// All work in place, by one thread. Null where the processor has no such vectors.
template <class K>
struct VectorSort {
  void (*sort)(K* keys, uint64_t count) = nullptr;
  // Those below the pivot come first: how many they are.
  uint64_t (*split)(K* keys, uint64_t count, K pivot) = nullptr;
  // One of the keys that is near the middle of them.
  K (*middle)(const K* keys, uint64_t count) = nullptr;
};
// For uint32_t and uint64_t, and processors that have these vectors.
template <class K>
VectorSort<K> vector_sort(VectorKind kind = vectors_of_this_cpu());

// Those of a kind of processor.
struct VectorSorts {
  VectorSort<uint32_t> of_32;
  VectorSort<uint64_t> of_64;
};
namespace vector_sort_neon {
VectorSorts vector_sorts();
}
namespace vector_sort_avx2 {
VectorSorts vector_sorts();
}
namespace vector_sort_avx512 {
VectorSorts vector_sorts();
}

}  // namespace adit::ops
