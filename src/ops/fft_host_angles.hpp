// Angles of transforms on a CPU, to the last bit.
#pragma once

#include <complex>
#include <cstdint>

namespace adit::ops::fft_host {

// exp(-2 pi i step / turns)
std::complex<double> turn_of(uint64_t step, uint64_t turns);
// The same of a transform, or of the way back.
std::complex<double> turn_of(uint64_t step, uint64_t turns, bool backward);
// exp(-pi i j^2 / n)
std::complex<double> chirp_of(uint64_t j, uint64_t n, bool backward);

}  // namespace adit::ops::fft_host
