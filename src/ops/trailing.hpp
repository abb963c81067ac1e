// The update of what is left of a matrix after a panel of columns: a[r][c] -= sum over the panel of
// l[r][p] u[p][c], for rows and columns from `end` on; of a Hermitian one the lower triangle, with u = l^H.
#pragma once

#include <cstdint>

#include <adit/kernel/program.hpp>

namespace adit::ops {

struct TrailingPlan {
  kernel::Type type = kernel::Type::f32;
  bool complex = false;
  uint32_t n = 0;        // rows and columns of the whole matrix
  uint32_t columns = 0;  // of the panel, which ends before `end`
  bool hermitian = false;
};
// Buffer a; number end, u32.
kernel::Program trailing_program(const TrailingPlan& plan);
uint64_t trailing_teams(uint32_t left, uint64_t batch);  // `left`: rows from `end` on

}  // namespace adit::ops
