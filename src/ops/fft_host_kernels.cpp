// Which kernels of transforms on a CPU serve this one.
#include <algorithm>

#include "ops/fft_host_pass.hpp"

namespace adit::ops {

namespace {

HostKernels chosen() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return fft_host::avx512_kernels();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fft_host::avx2_kernels();
#endif
  return fft_host::plain_kernels();
}

}  // namespace

const HostKernels& host_fft_kernels() {
  static const HostKernels kernels = chosen();
  return kernels;
}

template <class T>
size_t host_room(const HostPass<T>& pass) {
  const size_t numbers = std::max({pass.length, pass.given, pass.kept, pass.half}) + 1;
  const size_t tables = pass.turns ? 2 * (17 + pass.kept / 16) : 0;  // `Steps` of a block
  const size_t aside = pass.real == HostPass<T>::Real::two_back ? numbers : 0;
  return ((pass.together + 1) * 2 * numbers + pass.together * tables + aside) *
         static_cast<size_t>(host_fft_kernels().bytes);
}
template size_t host_room(const HostPass<float>&);
template size_t host_room(const HostPass<double>&);

}  // namespace adit::ops
