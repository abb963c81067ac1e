// How a transform of some length is cut on a CPU: into passes of columns, and those into stages.
#pragma once

#include <cstdint>
#include <vector>

namespace adit::ops::fft_host {

// Numbers of a column that a block holds within a core's cache, a vector and its other half each.
inline constexpr uint64_t longest_column = 4096;
// About what a vector of numbers costs, in nanoseconds: to read and write, and to multiply by angles.
inline constexpr double pass_cost = 2, turn_cost = 1;

inline uint64_t up(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

// Radices, the largest first: the first stage turns nothing.
std::vector<uint64_t> radices_of(uint64_t n);
bool is_smooth_for_host(uint64_t n);
// Of a convolution that transforms n numbers.
uint64_t chirp_length(uint64_t n);

// How a block transforms a column, and what a number costs.
struct Column {
  enum class Way { stages, chirp, order };  // by its own, or in a convolution

  bool fits = false;
  Way way = Way::stages;
  uint64_t length = 0;  // of the stages
  double cost = 0;
};
Column column_of(uint64_t n);
// The powers of a primitive root of a prime, from 1 on.
std::vector<uint32_t> powers_of_root(uint64_t prime);

// A transform as passes of columns, with all that one after the other costs.
struct Cut {
  std::vector<uint64_t> lengths;  // none: there is no such cut
  double cost = 0;
};
Cut cut_for_host(uint64_t n, uint64_t inner, uint64_t lanes);

}  // namespace adit::ops::fft_host
