#include "ops/conv_copy.hpp"

#include "ops/conv_lines.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace adit::ops {

namespace conv_copy {
namespace {

namespace plain {

template <class T>
void copy(const CopyLines<T>& c) {
  const T* from = c.from;
  T* to = c.to;
  for (int64_t l = 0; l < c.lines; ++l, from += c.from_row, to += c.to_row) {
    conv_lines::put_zeros(to, c.begin);
    const int64_t inside = c.end - c.begin;
    if (c.step == 1)
      conv_lines::copy_run(to + c.begin, from, inside);
    else if (c.step == 2)
      conv_lines::copy_every_second(to + c.begin, from, inside);
    else
      for (int64_t i = 0; i < inside; ++i) to[c.begin + i] = from[i * c.step];
    conv_lines::put_zeros(to + c.end, c.count - c.end);
  }
}

template <class T>
void join(const JoinLines<T>& j) {
  for (int64_t l = 0; l < j.lines; ++l)
    for (int64_t i = 0; i < j.count; ++i) j.to[l * j.to_row + i] = j.from[i % 2][l * j.from_row + i / 2];
}

}  // namespace plain

#if defined(__x86_64__)
// Ends of lines by masks, so that a line of up to a vector is one read and one write.
namespace avx512 {

#define ADIT_WIDE [[gnu::target("avx512f")]] static inline

template <class T>
struct Wide;

template <>
struct Wide<float> {
  using Vector = __m512;
  static constexpr int64_t width = 16;
  ADIT_WIDE Vector load_all(const float* from) { return _mm512_loadu_ps(from); }
  ADIT_WIDE void store_all(float* to, Vector v) { _mm512_storeu_ps(to, v); }
  ADIT_WIDE Vector load(uint32_t mask, const float* from) {
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from);
  }
  ADIT_WIDE void store(float* to, uint32_t mask, Vector v) {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), v);
  }
  ADIT_WIDE Vector gather(uint32_t mask, const float* from, int64_t step) {
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), static_cast<__mmask16>(mask),
                                    _mm512_mullo_epi32(lanes, _mm512_set1_epi32(static_cast<int>(step))),
                                    from, 4);
  }
  ADIT_WIDE Vector even(Vector a, Vector b) {
    const __m512i at = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_permutex2var_ps(a, at, b);
  }
  ADIT_WIDE Vector joined(Vector a, Vector b, bool high) {
    const __m512i at = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutex2var_ps(a, _mm512_add_epi32(at, _mm512_set1_epi32(high ? 8 : 0)), b);
  }
};

template <>
struct Wide<double> {
  using Vector = __m512d;
  static constexpr int64_t width = 8;
  ADIT_WIDE Vector load_all(const double* from) { return _mm512_loadu_pd(from); }
  ADIT_WIDE void store_all(double* to, Vector v) { _mm512_storeu_pd(to, v); }
  ADIT_WIDE Vector load(uint32_t mask, const double* from) {
    return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
  }
  ADIT_WIDE void store(double* to, uint32_t mask, Vector v) {
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), v);
  }
  ADIT_WIDE Vector gather(uint32_t mask, const double* from, int64_t step) {
    const __m512i at = _mm512_set_epi64(7 * step, 6 * step, 5 * step, 4 * step, 3 * step, 2 * step, step, 0);
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), static_cast<__mmask8>(mask), at, from, 8);
  }
  ADIT_WIDE Vector even(Vector a, Vector b) {
    return _mm512_permutex2var_pd(a, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), b);
  }
  ADIT_WIDE Vector joined(Vector a, Vector b, bool high) {
    const __m512i at = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
    return _mm512_permutex2var_pd(a, _mm512_add_epi64(at, _mm512_set1_epi64(high ? 4 : 0)), b);
  }
};

// The first `count` lanes; none where it is below zero.
template <class T>
uint32_t first_lanes(int64_t count) {
  constexpr int64_t width = Wide<T>::width;
  return (1u << std::clamp<int64_t>(count, 0, width)) - 1;
}

// Every second lane, as many as the mask has in a half.
uint32_t apart(uint32_t half) {
  uint32_t mask = half & 0xff;
  mask = (mask | mask << 4) & 0x0f0f;
  mask = (mask | mask << 2) & 0x3333;
  return (mask | mask << 1) & 0x5555;
}

template <class T>
[[gnu::target("avx512f")]] inline typename Wide<T>::Vector read(const T* from, uint32_t mask, int64_t step) {
  using W = Wide<T>;
  if (step == 1) return W::load(mask, from);
  if (step > 2) return W::gather(mask, from, step);
  constexpr int64_t half = W::width / 2;
  return W::even(W::load(apart(mask & ((1u << half) - 1)), from),
                 W::load(apart(mask >> half), from + W::width));
}

// A vector of a line, from element i on.
template <class T>
[[gnu::target("avx512f")]] inline void copy_some(const CopyLines<T>& c, const T* from, T* to, int64_t i) {
  const uint32_t inside = first_lanes<T>(c.end - i) & ~first_lanes<T>(c.begin - i);
  Wide<T>::store(to + i, first_lanes<T>(c.count - i), read(from + i * c.step, inside, c.step));
}

template <class T>
[[gnu::target("avx512f")]] void copy(const CopyLines<T>& c) {
  using W = Wide<T>;
  constexpr int64_t many = 256;  // elements, for which the library's copy is faster
  const T* from = c.from - c.begin * c.step;
  if (c.count <= W::width) {
    const uint32_t inside = first_lanes<T>(c.end) & ~first_lanes<T>(c.begin), all = first_lanes<T>(c.count);
    T* to = c.to;
    for (int64_t l = 0; l < c.lines; ++l, from += c.from_row, to += c.to_row)
      W::store(to, all, read(from, inside, c.step));
    return;
  }
  const int64_t whole = std::min((c.begin + W::width - 1) / W::width * W::width, c.count);
  for (int64_t l = 0; l < c.lines; ++l) {
    const T* own = from + l * c.from_row;
    T* to = c.to + l * c.to_row;
    int64_t i = 0;
    for (; i < whole; i += W::width) copy_some(c, own, to, i);
    if (c.step == 1 && c.end - i > many) {
      std::memcpy(to + i, own + i, static_cast<size_t>(c.end - i) * sizeof(T));
      i += (c.end - i) / W::width * W::width;
    } else if (c.step == 1)
      for (; i + W::width <= c.end; i += W::width) W::store_all(to + i, W::load_all(own + i));
    else
      for (; i + W::width <= c.end; i += W::width)
        W::store_all(to + i, read(own + i * c.step, first_lanes<T>(W::width), c.step));
    for (; i < c.count; i += W::width) copy_some(c, own, to, i);
  }
}

template <class T>
[[gnu::target("avx512f")]] void join(const JoinLines<T>& j) {
  using W = Wide<T>;
  for (int64_t l = 0; l < j.lines; ++l) {
    const T *even = j.from[0] + l * j.from_row, *odd = j.from[1] + l * j.from_row;
    T* to = j.to + l * j.to_row;
    for (int64_t i = 0; 2 * i < j.count; i += W::width) {
      const int64_t left = j.count - 2 * i;
      const auto a = W::load(first_lanes<T>((left + 1) / 2), even + i),
                 b = W::load(first_lanes<T>(left / 2), odd + i);
      W::store(to + 2 * i, first_lanes<T>(left), W::joined(a, b, false));
      W::store(to + 2 * i + W::width, first_lanes<T>(left - W::width), W::joined(a, b, true));
    }
  }
}
#undef ADIT_WIDE

}  // namespace avx512
#endif

template <class T>
LineKernels<T> best_of_this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {avx512::copy<T>, avx512::join<T>};
#endif
  return {plain::copy<T>, plain::join<T>};
}

}  // namespace
}  // namespace conv_copy

template <class T>
const LineKernels<T>& line_kernels() {
  static const LineKernels<T> kernels = conv_copy::best_of_this_cpu<T>();
  return kernels;
}

template const LineKernels<float>& line_kernels<float>();
template const LineKernels<double>& line_kernels<double>();

}  // namespace adit::ops
