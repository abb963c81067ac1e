// Sweeps of jacobi.cpp on a GPU whose lanes work by hand, of small matrices: columns in shared memory, a
// group of lanes a pair of columns, all pairs of a round at once; a team does all sweeps of its matrix.
#pragma once

#include <adit/device.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops {

struct JacobiShape {
  uint32_t length = 0, columns = 0;
  bool with_vectors = false;
};

// Whether the matrix fits into a team's shared memory.
bool sweeps_in_shared(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits);
// All sweeps. Buffers: columns; vectors where they are wanted.
kernel::Program sweeps_program(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits);

}  // namespace adit::ops
