// One pass of a transform on a CPU, as data: which columns there are, where their numbers lie, and what they
// are multiplied by. A block is as many columns as a vector has lanes; it is read into one lane each, goes
// through all stages there, and is written back.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace adit::ops {

// Radices that are written out; other ones are primes up to `most_host_radix`.
inline constexpr uint64_t most_host_radix = 127;

// Blocks that go together at most.
inline constexpr uint64_t host_bundle = 8;

template <class T>
struct HostStage {
  uint64_t radix = 1, done = 1;  // the product of those before
  bool backward = false;         // of an inverse transform, whose turns have the other sign
  T scale = 1;                   // of the results; `turns` have it
  std::vector<T> turns;          // (cos, sin) of number q of `done`, times 1 to radix - 1
  std::vector<T> roots;          // of an odd radix: cosines and sines of j k / radix, k by k
};

// Strides and offsets count real numbers; places count numbers of the whole transform.
struct HostAxis {
  uint64_t extent = 1, in = 0, out = 0, place_in = 0, place_out = 0;
};

// Numbers that those of a column are multiplied by, each by that of its place.
template <class T>
using HostTable = std::shared_ptr<const std::vector<std::complex<T>>>;

template <class T>
struct HostPass {
  enum class Real { no, join, split, mirror, two, two_back };

  uint64_t length = 1;                   // of the stages' transform
  uint64_t given = 1, kept = 1;          // numbers of a column that are read, and written
  uint64_t in_along = 0, out_along = 0;  // strides along a column
  uint64_t in_imag = 1, out_imag = 1;    // how far imaginary parts lie from real ones; 0: there are none
  T scale = 1;                           // of what is written, where no stage can have it
  std::vector<HostAxis> columns;         // fastest first
  uint64_t count = 1;                    // of columns
  uint64_t together = 1;                 // blocks of a bundle, which share lines of the cache in memory
  uint64_t ahead = 0;  // results of the next bundle whose lines are asked for, in real numbers
  std::vector<HostStage<T>> stages;

  // By places of the whole transform; those from a limit on are taken for 0, and not written.
  HostTable<T> times_in, times_out;
  uint64_t place_in_along = 0, place_out_along = 0, limit_in = ~uint64_t{0}, limit_out = ~uint64_t{0};

  // Angles of long transforms, exp(-2 pi i place k / turns), as products of two tables: the lower and the
  // higher half of a number of steps.
  HostTable<T> low_turns, high_turns;
  uint64_t turns = 0, low_bits = 0;

  // Columns that are convolved with a chirp in their block: the chirp, and between the stages and those of
  // the way back the transform of its conjugate.
  HostTable<T> chirp, kernel;
  std::vector<HostStage<T>> stages_back;

  // Columns of prime length in the order of powers of a primitive root, whose transform is a convolution with
  // `kernel`: number j + 1 is read from place order[j], and written to place order_back[j].
  std::shared_ptr<const std::vector<uint32_t>> order, order_back;

  // Half as many complex numbers as there are real ones, and the results of both halves (fft_host.hpp); or
  // two columns of real numbers as one, where the transform of the other one lies `other` numbers further on.
  Real real = Real::no;
  uint64_t half = 0;  // complex numbers of the halves, or all of what is mirrored or of two
  uint64_t other = 0;
  HostTable<T> halves;  // -i/2 exp(-2 pi i k / n)
};

struct HostKernels {
  int bytes = 16;  // of a vector
  // Blocks `begin` to `end`; `room` has the bytes that host_room says.
  void (*run_f32)(const HostPass<float>&, const float*, float*, uint64_t begin, uint64_t end, void* room);
  void (*run_f64)(const HostPass<double>&, const double*, double*, uint64_t begin, uint64_t end, void* room);
};
// Of the kinds of vectors, those with a name that the processors of its family may lack.
namespace fft_host {
HostKernels plain_kernels();
HostKernels avx2_kernels();
HostKernels avx512_kernels();
}  // namespace fft_host
// Those for the processor.
const HostKernels& host_fft_kernels();

template <class T>
size_t host_room(const HostPass<T>& pass);

}  // namespace adit::ops
