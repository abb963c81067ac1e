// One pass of a transform: which columns there are, and how a kernel goes through one.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/fft.hpp"

namespace adit::ops {

// An axis that columns lie along: how far apart they are in both buffers, and how many turns further.
struct FftAxis {
  uint64_t extent = 1, in = 0, out = 0, turn = 0;
};

struct FftPass {
  kernel::Type type{};
  bool swap_in = false, swap_out = false;  // real and imaginary parts, which makes a transform an inverse one
  bool fused = false;
  double scale = 1;                      // of the results
  uint64_t length = 1, in = 1, out = 1;  // of a column, and the strides along it
  std::vector<FftAxis> columns;          // fastest first
  // Result k of a column with turn t is multiplied by exp(-2 pi i t k / turns); 1: none is.
  uint64_t turns = 1;
  std::vector<uint32_t> radices;  // whose product is the length
  uint64_t numbers = 0;           // in each buffer

  // Numbers of a column that is transformed by a convolution with a chirp, in `length` of them; 0: it is not.
  uint64_t chirp = 0;
  bool of_chirp = false;  // this is the transform of that chirp, which is read from nowhere

  uint64_t column_count() const;
  bool is_wide() const { return numbers >= uint64_t{1} << 30; }
};

// A thread's lanes, a column each.
FftLaunch fft_in_columns(const FftPass& pass, uint32_t lanes);
// A team a tile of columns, which lies in registers and goes through shared memory between stages.
FftLaunch fft_in_teams(const FftPass& pass, uint32_t most_lanes, uint32_t shared_bytes);

// The longest column that shared memory of so many real numbers passes on.
uint64_t fft_longest_in(uint64_t numbers);

// Columns that a team should have beside each other where memory runs across them, and the numbers that it
// can hold.
inline constexpr uint64_t fft_neighbours = 4, fft_tile = 8192, fft_longest_row = 4096;

}  // namespace adit::ops
