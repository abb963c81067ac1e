// The isometry between K - 1 reals and K numbers that sum to zero.
#pragma once

#include <adit/ops.hpp>

namespace adit::stats {

// V' [K - 1, K]: orthonormal rows that sum to zero. With i and j from 1 and r_j = 1 / sqrt(j (j + 1)),
//   V_ij = r_j where i <= j,  -j r_j where i = j + 1,  0 below.
Tensor log_ratio_basis(int64_t size);

}  // namespace adit::stats
