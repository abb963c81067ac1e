// Fourier transforms: what builders and lowering share.
#pragma once

#include "graph/node.hpp"

namespace adit::graph {

// Lengths with larger prime factors than kernels know (src/ops/fft.hpp) are one operation up to this: a GPU's
// team has room for the convolution that they become.
inline constexpr int64_t longest_whole_fft = 2048;

// A transform along an axis, of any length, by a circular convolution of a length without large primes.
Tensor fft_by_convolution(const Tensor& x, int axis, bool inverse);

}  // namespace adit::graph
