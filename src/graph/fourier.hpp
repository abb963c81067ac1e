// Fourier transforms: what builders and lowering share.
#pragma once

#include "graph/node.hpp"

namespace adit::graph {

bool is_fourier(Op op);

// Transforms of real numbers, and back to `length` of them, by those of complex ones.
Tensor rfft_by_fft(const Tensor& x, int axis);
Tensor irfft_by_fft(const Tensor& x, int axis, int64_t length);

}  // namespace adit::graph
