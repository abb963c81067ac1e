// Solutions of triangular systems, batched: a x = b, or x a = b, or with a's transpose.
//
// Only the triangle that `lower` names is read. A zero on the diagonal gives infinities and NaN, as a
// division does.
#pragma once

#include <cstdint>

#include <adit/kernel/program.hpp>

namespace adit::ops {

struct TriangularPlan {
  kernel::Type type = kernel::Type::f32;  // f32 or f64, or of the parts of complex numbers
  bool complex = false;
  uint32_t n = 0;        // rows of a
  uint32_t columns = 1;  // of b; its rows where a stands on the right
  uint64_t batch = 1;
  bool lower = true;
  bool left_side = true;   // a x = b, else x a = b
  bool unit = false;       // the diagonal is ones, and not read
  bool transpose = false;  // with a's transpose (not its conjugate)
  bool may_wait = false;   // by triangular_chain: a team may wait for what one that began before it tells
};

enum class TriangularMethod : uint8_t {
  alone,    // an invocation for each right-hand side
  columns,  // a team for some right-hand sides of a matrix: lanes beside each other in x
  rows      // a team for a matrix: lanes over the rows that a block of solved ones changes
};
TriangularMethod choose_method(const TriangularPlan& plan);

struct Triangular {
  // Buffers a (read), [batch, n, n], and x (read and written), [batch, n, columns] or, where a stands on the
  // right, [batch, columns, n]. The caller copies b into x first.
  kernel::Program program;
  uint64_t teams = 0;       // 0: there is nothing to do
  uint64_t loop_trips = 0;  // of one invocation at most, to be held against Limits::max_loop_trips
};

Triangular triangular_solve(const TriangularPlan& plan);
Triangular triangular_solve(const TriangularPlan& plan, TriangularMethod method);

}  // namespace adit::ops
