// Sweeps of jacobi.cpp on a GPU whose lanes work by hand.
//
// - Small matrices: columns in shared memory, a group of lanes a pair of columns, all pairs of a round at
// once;
//   a team does all sweeps of its matrix.
// - Larger ones: pairs of blocks of columns, all pairs of a round at once. A team multiplies the columns of
// its
//   pair with each other, turns that small matrix (two-sided rotations, in shared memory) and keeps what
//   turned it; then the columns are multiplied by it.
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

// One sweep over pairs of blocks. Buffers of `turns`: columns, facts, turns; of `apply`: columns, turns,
// facts, and vectors where they are wanted. Number: the round.
struct BlockSweep {
  uint32_t blocks = 0, rounds = 0;  // of `block` columns; blocks are even in number, the last may be empty
  uint64_t turn_numbers = 0;        // of a matrix: what turns each pair of a round
  kernel::Program turns, apply;
  uint64_t turn_teams = 0, apply_teams = 0;
};
bool sweeps_by_blocks(const FactorPlan& plan, const Limits& limits);
BlockSweep block_sweep(const FactorPlan& plan, const JacobiShape& shape, const Limits& limits);

}  // namespace adit::ops
