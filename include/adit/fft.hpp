// Discrete Fourier transforms along axes, as NumPy's: forward ones are sums, inverse ones are divided by the
// length. Any length from 1 on; a length that is given crops an axis or pads it with zeros at its end.
// Results are c64, or c128 of f64 and c128; those of irfft f32 or f64.
#pragma once

#include <optional>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

Tensor fft(const Tensor& x, int axis = -1, std::optional<int64_t> length = std::nullopt);
Tensor ifft(const Tensor& x, int axis = -1, std::optional<int64_t> length = std::nullopt);
// Of real numbers: the results 0 to n / 2, which the others mirror.
Tensor rfft(const Tensor& x, int axis = -1, std::optional<int64_t> length = std::nullopt);
// Back from those to `length` real numbers; without one there are 2 (extent - 1).
Tensor irfft(const Tensor& x, int axis = -1, std::optional<int64_t> length = std::nullopt);

// Along several axes; `lengths` has one for each of them or none. No axes named: as many of the last as there
// are lengths, else all.
Tensor fft2(const Tensor& x, const Axes& axes = {-2, -1}, const Dims& lengths = {});
Tensor ifft2(const Tensor& x, const Axes& axes = {-2, -1}, const Dims& lengths = {});
Tensor fftn(const Tensor& x, const Axes& axes = {}, const Dims& lengths = {});
Tensor ifftn(const Tensor& x, const Axes& axes = {}, const Dims& lengths = {});

}  // namespace adit
#pragma GCC visibility pop
