// Two-sided rotations of symmetric matrices by pairs of blocks of columns, for jacobi.cpp, on a GPU whose
// lanes work by hand.
//
// All blocks meet in pairs, round after round. Of each pair a team turns the small matrix where its rows and
// columns meet, and keeps what turned it (`turns`); then the whole matrix is multiplied by that from both
// sides, and the vectors from one. The first round of a sweep turns columns of the same block, the others
// those of different ones: every pair of columns is turned once.
#pragma once

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops::jacobi_blocks {

struct Blocks {
  kernel::Type type = kernel::Type::f32;
  uint32_t block = 32, count = 2;  // columns of a block; blocks of a matrix, an even number
  bool relative = false;           // columns are orthogonal by their cosine, or by what stands in the matrix
  uint32_t size() const { return block * count; }  // of the matrix, what is past the given one is zero
  uint32_t pairs() const { return count / 2; }
  uint32_t both() const { return 2 * block; }
  uint32_t lanes() const { return block * block / 4; }
  uint64_t turn_numbers() const { return uint64_t{pairs()} * both() * both(); }  // of a matrix
};

bool has_blocks(const FactorPlan& plan, const Limits& limits);
Blocks blocks_for(const FactorPlan& plan, uint32_t columns, bool relative, const Limits& limits);

// Who meets whom in a round: all of `players`, an even number, in pairs; `pair` counts them.
struct Meeting {
  kernel::Value first, second;
};
Meeting meeting(kernel::Value round, kernel::Value pair, uint32_t players);

// A team a pair. Buffers: matrix [size, size], limits (one a matrix), turns [pairs, both, both]. Number: the
// round.
kernel::Program turn_inside(const Blocks& blocks);
kernel::Program turn_across(const Blocks& blocks);

// Buffers: matrix, turns, vectors [size, size], those in rows. Number: the round.
kernel::Program apply_turns(const Blocks& blocks);
uint64_t apply_teams(const Blocks& blocks);  // of a matrix

}  // namespace adit::ops::jacobi_blocks
