// Matrix products on the CPU, by the BLAS that the build found.
#pragma once

#include <cstdint>

#include <adit/dtype.hpp>

namespace adit::ops {

bool has_blas();
// c = a b, row major; a is m x k (k x m where transposed), b is k x n (n x k). f32, f64, c64, c128.
void multiply(DType type, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a,
              const void* b, void* c);

// A product of parts of matrices: rows of a are a_row elements apart, and those of b (n x k where transposed)
// b_row; c is m x n without gaps.
struct ProductPart {
  bool transpose_b = false;
  int64_t m = 0, n = 0, k = 0, a_row = 0, b_row = 0;
  bool adds = false;  // to what c has
};
// The caller's thread, or the one that it works for, has a process_end::Visit.
void multiply_part(DType type, const ProductPart& part, const void* a, const void* b, void* c);

// While one lives the library's products run on the thread that asks for them, for callers that share out
// many products by themselves. Where the library cannot be told so, nothing changes.
class SerialProducts {
 public:
  SerialProducts();
  ~SerialProducts();
  SerialProducts(const SerialProducts&) = delete;
  SerialProducts& operator=(const SerialProducts&) = delete;
};

}  // namespace adit::ops
