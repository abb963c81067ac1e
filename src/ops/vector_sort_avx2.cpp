// The vector sort by registers of 256 bits.
#include "ops/vector_sort.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include "ops/vector_sort_parts.hpp"

ADIT_BEGIN_TARGET("avx2,bmi,bmi2,popcnt")
namespace adit::ops::vector_sort_avx2 {
namespace {

#include "ops/vector_sort_body.hpp"

template <size_t lanes>
[[gnu::always_inline]] inline __m256i ordered_by(__m256i v, uint32_t below) {
  const auto* order = reinterpret_cast<const __m128i*>(vector_sort_parts::orders<lanes, 8>[below].data());
  return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(_mm_loadl_epi64(order)));
}

struct Words32 : SplitByOrder<Words32, uint32_t, 8> {
  using Register = __m256i;
  static constexpr int rows = 8, rows_of_few_draws = 1;

  static Register first(int64_t count) {
    const auto some = static_cast<int>(std::clamp<int64_t>(count, 0, width));
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(some), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Register load(const Key* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  static void store(Key* to, Register v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v); }
  static Register load_some(const Key* from, int64_t count) {
    const Register mask = first(count),
                   some = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask);
    return _mm256_or_si256(some, _mm256_xor_si256(mask, _mm256_set1_epi32(-1)));
  }
  static void store_some(Key* to, int64_t count, Register v) {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), first(count), v);
  }
  static Register fill(Key key) { return _mm256_set1_epi32(static_cast<int>(key)); }
  static Register min(Register a, Register b) { return _mm256_min_epu32(a, b); }
  static Register max(Register a, Register b) { return _mm256_max_epu32(a, b); }

  template <int m>
  static Register flip(Register v) {
    if constexpr (m == 1) return _mm256_shuffle_epi32(v, 0xb1);
    if constexpr (m == 2) return _mm256_shuffle_epi32(v, 0x4e);
    if constexpr (m == 3) return _mm256_shuffle_epi32(v, 0x1b);
    if constexpr (m == 4) return _mm256_permute4x64_epi64(v, 0x4e);
    return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  }
  template <int bit>
  static Register select(Register a, Register b) {
    return _mm256_blend_epi32(a, b, bit == 1 ? 0xaa : bit == 2 ? 0xcc : 0xf0);
  }
  static void interleave(Register& a, Register& b) {
    const Register low = _mm256_unpacklo_epi32(a, b), high = _mm256_unpackhi_epi32(a, b);
    a = _mm256_permute2x128_si256(low, high, 0x20);
    b = _mm256_permute2x128_si256(low, high, 0x31);
  }

  static uint32_t below(Register v, Register pivots) {
    const Register equal = _mm256_cmpeq_epi32(_mm256_max_epu32(v, pivots), v);  // or above
    return 0xffU ^ static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
  }
  static Register in_order(Register v, uint32_t mask) { return ordered_by<8>(v, mask); }
};

// Only numbers with a sign can be compared: registers hold keys with the first bit turned.
struct Words64 : SplitByOrder<Words64, uint64_t, 4> {
  using Register = __m256i;
  static constexpr int rows = 8, rows_of_few_draws = 1;

  static Register turned(Register v) { return _mm256_xor_si256(v, _mm256_set1_epi64x(INT64_MIN)); }
  static Register first(int64_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  static Register load(const Key* from) {
    return turned(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void store(Key* to, Register v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), turned(v)); }
  static Register load_some(const Key* from, int64_t count) {
    const Register mask = first(count);
    const Register some = _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), mask);
    return turned(_mm256_or_si256(some, _mm256_xor_si256(mask, _mm256_set1_epi32(-1))));
  }
  static void store_some(Key* to, int64_t count, Register v) {
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), first(count), turned(v));
  }
  static Register fill(Key key) { return turned(_mm256_set1_epi64x(static_cast<int64_t>(key))); }
  static Register min(Register a, Register b) { return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b)); }
  static Register max(Register a, Register b) { return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)); }

  template <int m>
  static Register flip(Register v) {
    if constexpr (m == 1) return _mm256_shuffle_epi32(v, 0x4e);
    return _mm256_permute4x64_epi64(v, m == 2 ? 0x4e : 0x1b);
  }
  template <int bit>
  static Register select(Register a, Register b) {
    return _mm256_blend_epi32(a, b, bit == 1 ? 0xcc : 0xf0);
  }
  static void interleave(Register& a, Register& b) {
    const Register low = _mm256_unpacklo_epi64(a, b), high = _mm256_unpackhi_epi64(a, b);
    a = _mm256_permute2x128_si256(low, high, 0x20);
    b = _mm256_permute2x128_si256(low, high, 0x31);
  }

  static uint32_t below(Register v, Register pivots) {
    return static_cast<uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(pivots, v))));
  }
  static Register in_order(Register v, uint32_t mask) { return ordered_by<4>(v, mask); }
};

}  // namespace

VectorSorts vector_sorts() { return {functions_of<Words32>(), functions_of<Words64>()}; }

}  // namespace adit::ops::vector_sort_avx2
ADIT_END_TARGET

#endif
