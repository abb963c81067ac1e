// The kernels of transforms on a CPU by registers that every processor of its family has.
#include "ops/fft_host_runner.hpp"

namespace adit::ops::fft_host {
HostKernels plain_kernels() { return kernels_of<16>(); }
}  // namespace adit::ops::fft_host
