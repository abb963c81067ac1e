// The kernels of transforms on a CPU by registers of 512 bits.
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

ADIT_BEGIN_TARGET("avx512f,avx512dq")
#include "ops/fft_host_runner.hpp"

namespace adit::ops::fft_host {
HostKernels avx512_kernels() { return kernels_of<64>(); }
}  // namespace adit::ops::fft_host
ADIT_END_TARGET

#endif
