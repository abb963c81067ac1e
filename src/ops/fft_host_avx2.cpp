// The kernels of transforms on a CPU by registers of 256 bits.
#include "ops/fft_host_pass.hpp"

#if defined(__x86_64__)

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/target.hpp"

ADIT_BEGIN_TARGET("avx2,fma")
#include "ops/fft_host_runner.hpp"

namespace adit::ops::fft_host {
HostKernels avx2_kernels() { return kernels_of<32>(); }
}  // namespace adit::ops::fft_host
ADIT_END_TARGET

#endif
