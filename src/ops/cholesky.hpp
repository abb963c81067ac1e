// The Cholesky factor of Hermitian (or real symmetric) positive definite matrices: x = l l^H, l lower
// triangular, batched.
//
// Only the lower triangle of x is read; above the diagonal the factor is zero. From the first pivot that is
// not positive on, a factor is NaN: its rows below and including that pivot's.
#pragma once

#include <cstdint>

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

namespace adit::ops {

struct CholeskyPlan {
  kernel::Type type = kernel::Type::f32;  // f32 or f64, or of the parts of complex numbers
  uint32_t n = 0;
  uint64_t batch = 1;
  bool complex = false;
};

struct Cholesky {
  kernel::Program program;  // buffers x (read) and l (read and written), both [batch, n, n]
  uint64_t teams = 0;       // 0: there is nothing to do
  uint64_t loop_trips =
      0;  // of one invocation at most; a device with a smaller Limits::max_loop_trips is wrong
};

// A matrix is one invocation's where it is small, else one team's.
Cholesky cholesky(const CholeskyPlan& plan);
// Several matrices a team, rows in registers: for devices that have hands, and matrices of 5 to 32 rows.
bool has_cholesky_together(const CholeskyPlan& plan, const Limits& limits);
Cholesky cholesky_together_for(const CholeskyPlan& plan, const Limits& limits);

}  // namespace adit::ops
