// Sorting on the CPU, stable, by all threads where a row is long: by vectors where the processor has them,
// else by digits of keys.
#pragma once

#include <cstdint>

#include <adit/dtype.hpp>

#include "ops/vector_sort.hpp"

namespace adit::ops {

// Rows of `length` elements that are `inner` apart; outer * inner of them. Either result may be null: the
// values in order, and the places (i64) where they stood. NaN is the largest; -0 is 0 where places are
// wanted, and stands before it where they are not.
struct HostSort {
  DType type{};
  uint64_t outer = 1, length = 0, inner = 1;
  bool descending = false;
  VectorKind vectors = vectors_of_this_cpu();
};
void sort_on_host(const HostSort& plan, const void* x, void* values, int64_t* places);

}  // namespace adit::ops
