#include "ops/vector_sort.hpp"

namespace adit::ops {

VectorKind vectors_of_this_cpu() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt")) return VectorKind::none;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return VectorKind::avx512;
  return __builtin_cpu_supports("avx2") ? VectorKind::avx2 : VectorKind::none;
#elif defined(__aarch64__)
  return VectorKind::neon;
#else
  return VectorKind::none;
#endif
}

namespace {

VectorSorts vector_sorts([[maybe_unused]] VectorKind kind) {
#if defined(__x86_64__)
  if (kind == VectorKind::avx512) return vector_sort_avx512::vector_sorts();
  if (kind == VectorKind::avx2) return vector_sort_avx2::vector_sorts();
#elif defined(__aarch64__)
  if (kind == VectorKind::neon) return vector_sort_neon::vector_sorts();
#endif
  return {};
}

}  // namespace

template <>
VectorSort<uint32_t> vector_sort(VectorKind kind) {
  return vector_sorts(kind).of_32;
}
template <>
VectorSort<uint64_t> vector_sort(VectorKind kind) {
  return vector_sorts(kind).of_64;
}

}  // namespace adit::ops
