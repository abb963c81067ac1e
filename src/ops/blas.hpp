// Matrix products on the CPU, by the BLAS that the build found.
#pragma once

#include <cstdint>

#include <adit/dtype.hpp>

namespace adit::ops {

bool has_blas();
// c = a b, row major; a is m x k (k x m where transposed), b is k x n (n x k). f32, f64, c64, c128.
void multiply(DType type, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a,
              const void* b, void* c);

}  // namespace adit::ops
