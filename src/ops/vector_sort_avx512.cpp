// The vector sort by registers of 512 bits.
#include "ops/vector_sort.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include "ops/vector_sort_parts.hpp"

#if !defined(__clang__)  // it sees that its own header leaves registers open that masks then leave out
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

ADIT_BEGIN_TARGET("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt")
namespace adit::ops::vector_sort_avx512 {
namespace {

#include "ops/vector_sort_body.hpp"

struct Words32 {
  using Key = uint32_t;
  using Register = __m512i;
  static constexpr int width = 16, rows = 16, rows_of_few_draws = 1;

  static __mmask16 first(int64_t count) {
    return static_cast<__mmask16>(
        _bzhi_u32(0xffff, static_cast<uint32_t>(std::clamp<int64_t>(count, 0, width))));
  }
  static Register load(const Key* from) { return _mm512_loadu_si512(from); }
  static void store(Key* to, Register v) { _mm512_storeu_si512(to, v); }
  static Register load_some(const Key* from, int64_t count) {
    return _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), first(count), from);
  }
  static void store_some(Key* to, int64_t count, Register v) {
    _mm512_mask_storeu_epi32(to, first(count), v);
  }
  static Register fill(Key key) { return _mm512_set1_epi32(static_cast<int>(key)); }
  static Register min(Register a, Register b) { return _mm512_min_epu32(a, b); }
  static Register max(Register a, Register b) { return _mm512_max_epu32(a, b); }

  template <int m>
  static Register flip(Register v) {
    if constexpr (m == 1) return _mm512_shuffle_epi32(v, _MM_PERM_CDAB);
    if constexpr (m == 2) return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
    if constexpr (m == 3) return _mm512_shuffle_epi32(v, _MM_PERM_ABCD);
    if constexpr (m == 4) return _mm512_shuffle_i32x4(v, v, 0xb1);
    if constexpr (m == 8) return _mm512_shuffle_i32x4(v, v, 0x4e);
    const Register lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32(m)), v);
  }
  template <int bit>
  static Register select(Register a, Register b) {
    constexpr int mask = bit == 1 ? 0xaaaa : bit == 2 ? 0xcccc : bit == 4 ? 0xf0f0 : 0xff00;
    return _mm512_mask_mov_epi32(a, static_cast<__mmask16>(mask), b);
  }
  static void interleave(Register& a, Register& b) {
    const Register low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const Register high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const Register first = _mm512_permutex2var_epi32(a, low, b);
    b = _mm512_permutex2var_epi32(a, high, b);
    a = first;
  }

  static uint64_t split(Register v, Register pivots, Key* left, int64_t room) {
    const __mmask16 below = _mm512_cmplt_epu32_mask(v, pivots);
    const auto count = static_cast<uint32_t>(_mm_popcnt_u32(below));
    _mm512_storeu_si512(left, _mm512_maskz_compress_epi32(below, v));
    _mm512_mask_storeu_epi32(left + count + room - width, static_cast<__mmask16>(0xffffU >> count),
                             _mm512_maskz_compress_epi32(_knot_mask16(below), v));
    return count;
  }
};

struct Words64 {
  using Key = uint64_t;
  using Register = __m512i;
  static constexpr int width = 8, rows = 16, rows_of_few_draws = 1;

  static __mmask8 first(int64_t count) {
    return static_cast<__mmask8>(
        _bzhi_u32(0xff, static_cast<uint32_t>(std::clamp<int64_t>(count, 0, width))));
  }
  static Register load(const Key* from) { return _mm512_loadu_si512(from); }
  static void store(Key* to, Register v) { _mm512_storeu_si512(to, v); }
  static Register load_some(const Key* from, int64_t count) {
    return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), first(count), from);
  }
  static void store_some(Key* to, int64_t count, Register v) {
    _mm512_mask_storeu_epi64(to, first(count), v);
  }
  static Register fill(Key key) { return _mm512_set1_epi64(static_cast<int64_t>(key)); }
  static Register min(Register a, Register b) { return _mm512_min_epu64(a, b); }
  static Register max(Register a, Register b) { return _mm512_max_epu64(a, b); }

  template <int m>
  static Register flip(Register v) {
    if constexpr (m == 1) return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
    if constexpr (m == 2) return _mm512_permutex_epi64(v, 0x4e);
    if constexpr (m == 3) return _mm512_permutex_epi64(v, 0x1b);
    if constexpr (m == 4) return _mm512_shuffle_i64x2(v, v, 0x4e);
    return _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), v);
  }
  template <int bit>
  static Register select(Register a, Register b) {
    constexpr int mask = bit == 1 ? 0xaa : bit == 2 ? 0xcc : 0xf0;
    return _mm512_mask_mov_epi64(a, static_cast<__mmask8>(mask), b);
  }
  static void interleave(Register& a, Register& b) {
    const Register low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const Register high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const Register first = _mm512_permutex2var_epi64(a, low, b);
    b = _mm512_permutex2var_epi64(a, high, b);
    a = first;
  }

  static uint64_t split(Register v, Register pivots, Key* left, int64_t room) {
    const __mmask8 below = _mm512_cmplt_epu64_mask(v, pivots);
    const auto count = static_cast<uint32_t>(_mm_popcnt_u32(below));
    _mm512_storeu_si512(left, _mm512_maskz_compress_epi64(below, v));
    _mm512_mask_storeu_epi64(left + count + room - width, static_cast<__mmask8>(0xffU >> count),
                             _mm512_maskz_compress_epi64(_knot_mask8(below), v));
    return count;
  }
};

}  // namespace

VectorSorts vector_sorts() { return {functions_of<Words32>(), functions_of<Words64>()}; }

}  // namespace adit::ops::vector_sort_avx512
ADIT_END_TARGET

#endif
