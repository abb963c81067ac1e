// Discrete Fourier transforms of complex numbers along an axis, in either direction, on a GPU; a CPU has its
// own (fft_host.hpp).
//
// A pass transforms columns: numbers that lie some stride apart, as many as a team can hold. Longer lengths
// n1 n2 ... take a pass a factor: each turns its results by the angles that join it to the passes after it,
// and the last one writes them in order. So numbers travel through memory once a pass, and no pass transposes
// anything by itself.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::ops {

struct FftPlan {
  kernel::Type type = kernel::Type::f32;      // of the parts of a number
  bool inverse = false;                       // divided by the length
  uint64_t outer = 1, length = 1, inner = 1;  // rows of `length` numbers that are `inner` apart
  bool fused = false;                         // the device's fma is one operation
  uint32_t lanes = 1;                         // the most of a team
  uint32_t shared_bytes = 0;                  // of a team
  bool short_kernels = false;                 // its compiler takes minutes for those with large primes twice
};

// Lengths with larger prime factors are a convolution with a chirp: a transform of a longer length, a product
// with the chirp's own transform, and a transform back. Where a team has room that is one kernel; else the
// passes of both transforms multiply by the way.
// The largest prime that a lane transforms by itself. Primes above 31 take kernels so long that few numbers
// are done before a multiprocessor has read them: 100 x 59 x 61 numbers took 36 us on an H200, 22 us by
// chirps.
uint64_t fft_largest_prime(const FftPlan& plan);
bool fft_is_smooth(uint64_t length, uint64_t largest_prime);

// Buffers of a pass by number: 0 is x, 1 the result, and then scratch.
struct FftLaunch {
  kernel::Program program;
  uint64_t teams = 0;
  uint8_t from = 0, to = 1, with = 0;  // the last: a third buffer, 0: none
  bool reads = true;                   // else only `to` is there
};

struct Fft {
  std::vector<uint64_t> scratch;  // numbers of each
  std::vector<FftLaunch> launches;
};

Fft fft(const FftPlan& plan);
// Of rows of 2 plan.length real numbers, which are the parts of as many complex ones, or back to them where
// it is an inverse one; plan.inner is 1.
Fft fft_of_real(const FftPlan& plan);

}  // namespace adit::ops
