// Discrete Fourier transforms of complex numbers along an axis, in either direction.
//
// A pass transforms columns: numbers that lie some stride apart, as many as a team of a GPU (or the lanes of
// a CPU's thread) can hold. Longer lengths n1 n2 ... take a pass a factor: each turns its results by the
// angles that join it to the passes after it, and the last one writes them in order. So numbers travel
// through memory once a pass, and no pass transposes anything by itself.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::ops {

struct FftPlan {
  kernel::Type type = kernel::Type::f32;      // of the parts of a number
  bool inverse = false;                       // divided by the length
  uint64_t outer = 1, length = 1, inner = 1;  // see has_fft
  bool by_teams = false;                      // a GPU's teams; else lanes that have a column each
  bool fused = false;                         // the device's fma is one operation
  uint32_t lanes = 1;                         // of a CPU's vectors, or the most of a team
  uint32_t shared_bytes = 0;                  // of a team
};

// Lengths with larger prime factors, where a team has room, are a convolution with a chirp in one kernel: a
// transform of a longer length, a product with the chirp's own transform, and a transform back. Others are
// for others to take apart. Lanes of a CPU have no shared memory for that, but room for longer sums: twice
// the work of a prime's own transform is less than the convolution's.
inline constexpr uint64_t fft_largest_prime = 13, fft_largest_prime_of_lanes = 31;
bool fft_is_smooth(uint64_t length, uint64_t largest_prime = fft_largest_prime);

bool has_fft(const FftPlan& plan);

// Buffers of a pass by number: 0 is x, 1 the result, 2 scratch.
struct FftLaunch {
  kernel::Program program;
  uint64_t teams = 0;
  uint8_t from = 0, to = 1, with = 0;  // the last: a third buffer, 0: none
};

struct Fft {
  uint64_t scratch = 0;  // numbers
  std::vector<FftLaunch> launches;
};

Fft fft(const FftPlan& plan);

}  // namespace adit::ops
