// One pass of a transform: which columns there are, and how a kernel goes through one.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/fft.hpp"
#include "ops/fft_numbers.hpp"

namespace adit::ops {

// An axis that columns lie along: how far apart they are in both buffers, how many turns further, and how
// many numbers of the whole transform: in what the first pass reads, in what the last one writes.
struct FftAxis {
  uint64_t extent = 1, in = 0, out = 0, turn = 0, place = 0;
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
  // The same for a prime number of numbers, in `length` = prime - 1 of them (fft_prime.hpp): what is
  // transformed with `of_chirp` are the angles' powers, and places' exponents follow in its buffer. 0: it is
  // not.
  uint64_t prime = 0;
  bool is_convolved() const { return chirp + prime > 0 && !of_chirp; }  // with the third buffer

  // The same in several passes, whose numbers meet a third buffer by their place: the chirp (at the first
  // `some` places; there are no others in memory), the chirp as what is transformed (at `all` places, where
  // it meets itself from both ends), or the chirp's own transform, after which parts change places.
  enum class Meets { nothing, chirp, chirp_itself, transform };
  Meets in_meets = Meets::nothing, out_meets = Meets::nothing;
  uint64_t place_along = 0, some = 0, all = 0;

  // Columns are halves of real numbers (fft_halves): one number more of each is written, or read.
  enum class Halves { no, join, split };
  Halves halves = Halves::no;

  uint64_t column_count() const;
  bool is_wide() const { return numbers >= uint64_t{1} << 30; }
};

// A team a tile of columns, which lies in registers and goes through shared memory between stages.
FftLaunch fft_in_teams(const FftPass& pass, uint32_t most_lanes, uint32_t shared_bytes);

// The chirp exp(-pi i j^2 / n) of all j < n.
FftLaunch fft_chirp(kernel::Type type, uint64_t n, bool fused);

// Real numbers, `rows` rows of n: half + 1 complex results of each from half of them, half = n / 2, or back.
FftLaunch fft_halves(kernel::Type type, uint64_t rows, uint64_t n, bool back, bool fused);
// Results `k` and n / 2 - k, of the numbers a and b at those places.
struct HalfPair {
  Complex low, high;
};
HalfPair fft_half_pair(Complex a, Complex b, kernel::Value k, uint64_t n, bool back);

// The longest column that shared memory of so many real numbers passes on.
uint64_t fft_longest_in(uint64_t numbers);

// Columns that a team should have beside each other where memory runs across them, and the numbers that it
// should have of them.
inline constexpr uint64_t fft_neighbours = 4, fft_tile = 8192;
// What the lanes of a team have registers for; on an H200 1000 rows of 10000 took 88 us in two passes and 59
// us in one, 128 rows of 11025 26 and 16 us.
inline constexpr uint64_t fft_longest_row = 11520;
// Of a convolution in one kernel: longer columns would else take four passes.
inline constexpr uint64_t fft_longest_convolved = 8192;

}  // namespace adit::ops
