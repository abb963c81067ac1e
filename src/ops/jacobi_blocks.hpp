// Two-sided rotations of symmetric matrices by pairs of blocks of columns, for jacobi.cpp, on a GPU whose
// lanes work by hand.
//
// All blocks meet in pairs, round after round. Of each pair a team turns the small matrix where its rows and
// columns meet, and keeps what turned it (`turns`); then the whole matrix is multiplied by that from both
// sides, and the vectors from one. The first round of a sweep turns columns of the same block, the others
// those of different ones: every pair of columns is turned once.
//
// One kernel does both: while most teams multiply by what round k found, a team for each pair of round k + 1
// already makes its small matrix and turns it. So the matrix goes from one buffer to another and back.
// The two blocks of a pair on the diagonal are what its team has in the end, put where the matrix after its
// round will be: nobody else reads or writes them there. The block beside them has other readers in that
// buffer, so it waits in `cross` for the next launch.
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
  uint32_t lanes() const { return block * block / 2; }
  uint64_t turn_numbers() const { return uint64_t{pairs()} * both() * both(); }  // of a matrix
};

bool has_blocks(const FactorPlan& plan, const Limits& limits);
Blocks blocks_for(const FactorPlan& plan, uint32_t columns, bool relative, const Limits& limits);

// Who meets whom in a round: all of `players`, an even number, in pairs; `pair` counts them.
struct Meeting {
  kernel::Value first, second;
};
Meeting meeting(kernel::Value round, kernel::Value pair, uint32_t players);

// Words of the state that all passes share, as FactorRepeat and FactorStage have them but for the phase.
// Nothing is turned any more in phase done.
struct State {
  static constexpr uint32_t worst = 0, extra = 1, phase = 2, times = 3, steps = 4, words = 6;
};
struct Phase {
  static constexpr uint32_t start = 0, turning = 1, done = 2;
};
kernel::Value goes_on(kernel::Builder& k, const kernel::Array& state);

// Shorter columns have no products with others that could tell whether they are orthogonal: they are left
// alone.
double shortest_column(kernel::Type type);

struct Rotation {
  kernel::Value c, s;
};
// Of two columns with a and b on the diagonal and g beside it, that makes g zero.
Rotation rotation_for(kernel::Value a, kernel::Value b, kernel::Value g, kernel::Value limit, bool relative);

// A team a pair. Buffers: matrix [size, size]; where it is after this round, of which the blocks on the
// diagonal are written; limits (one a matrix); turns [pairs, both, both]; state.
kernel::Program turn_inside(const Blocks& blocks);

// A launch multiplies by the turns of `round`, and, but for the last, finds those of the next. Buffers:
// matrix before and after the round, turns and cross [pairs, block, block] of the round and of the next,
// vectors [size, size] in rows, limits, state. Number: the round.
kernel::Program turn_round(const Blocks& blocks, bool is_last);
uint64_t round_teams(const Blocks& blocks, bool is_last);  // of a matrix

// What the teams of that kernel share.
struct Round {
  const Blocks& blocks;
  kernel::Builder& k;
  kernel::Array from{}, to{}, turns{}, next_turns{}, cross{}, next_cross{}, vectors{}, limits{};
  kernel::Array left{}, right{},
      angles{};  // in shared memory: two tiles of both blocks, and 4 numbers a column
  kernel::Value which{}, lane{}, number{};             // the matrix, the lane, the round
  uint32_t step() const { return blocks.both() + 4; }  // elements from a row of a tile to the next
  kernel::Value meeting_number() const;                // of the round: the first two have the same pairs
  kernel::Value place_of(kernel::Value row, kernel::Value column) const;  // of the matrix
};
void turn_pair(const Round& round, kernel::Value pair);        // of the next round
void multiply_tile(const Round& round, kernel::Value number);  // a tile of the matrix or of the vectors
uint32_t tiles_of(const Blocks& blocks);

}  // namespace adit::ops::jacobi_blocks
