// Matrix products on a CPU with few rows, columns or terms, for which a library's call takes longer than the
// work, or its blocks are mostly empty.
#pragma once

#include <cstdint>

#include <adit/dtype.hpp>

namespace adit::ops {

// c = a b for each of `batch`, row major without gaps; a is m x k (k x m where transposed), b is k x n (n x
// k).
struct NarrowProduct {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
};

// Whether these are done sooner so than by a library.
bool is_narrow(DType type, const NarrowProduct& product);
void multiply_narrow(DType type, const NarrowProduct& product, const void* a, const void* b, void* c);

}  // namespace adit::ops
