// Two rows of an odd number of real numbers as one of complex numbers, through memory: for rows of several
// passes. Each is scaled by a power of two first where they differ in size, so that neither loses digits to
// the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace adit::ops::fft_host {

// How large the numbers of a row are, by the bits of the largest without its sign.
template <class T>
struct RowSize {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  static constexpr int mantissa = std::numeric_limits<T>::digits - 1;
  static constexpr int most_exponent = 2 * std::numeric_limits<T>::max_exponent - 1;

  // `is_half`: of a transform, the imaginary part of whose first number nobody reads.
  RowSize(const T* x, uint64_t count, bool is_half) {
    largest = count ? bits_of(x[0]) : 0;
    for (uint64_t i = is_half ? 2 : 1; i < count; ++i) largest = std::max(largest, bits_of(x[i]));
  }
  static Bits bits_of(T number) {
    Bits own;
    std::memcpy(&own, &number, sizeof own);
    return own & (~Bits{0} >> 1);
  }
  int exponent() const { return static_cast<int>(largest >> mantissa); }
  bool is_finite() const { return exponent() < most_exponent; }
  // 2^e of the exponent, or 2^-e; 0 where all numbers are.
  T power(bool is_inverse) const {
    if (largest == 0) return 0;
    const int bounded = std::clamp(exponent(), 1, most_exponent - 2);
    const Bits bits = static_cast<Bits>(is_inverse ? most_exponent - 1 - bounded : bounded) << mantissa;
    T number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
  }

  Bits largest = 0;
};

template <class T>
struct PairOfRows {
  RowSize<T> a, b;
  bool is_finite() const { return a.is_finite() && b.is_finite(); }
  bool is_even() const {
    return a.largest != 0 && b.largest != 0 && std::abs(a.exponent() - b.exponent()) <= 2;
  }
  T scale_a(bool is_inverse) const { return is_even() ? T(1) : a.power(is_inverse); }
  T scale_b(bool is_inverse) const { return is_even() ? T(1) : b.power(is_inverse); }

  // z_j = a_j + i b_j
  void join(const T* x, const T* y, uint64_t begin, uint64_t end, T* z) const {
    const T p = scale_a(true), q = scale_b(true);
    for (uint64_t j = begin; j < end; ++j) z[2 * j] = x[j] * p, z[2 * j + 1] = y[j] * q;
  }
  void part(const T* z, uint64_t begin, uint64_t end, T* x, T* y) const {
    const T p = scale_a(false), q = scale_b(false);
    for (uint64_t j = begin; j < end; ++j) x[j] = z[2 * j] * p, y[j] = z[2 * j + 1] * q;
  }

  // Transforms: Z_k = A_k + i B_k and Z_(n-k) = conj A_k + i conj B_k; of k = 0 only real parts count.
  void join_transforms(const T* x, const T* y, uint64_t n, uint64_t begin, uint64_t end, T* z) const {
    const T p = scale_a(true), q = scale_b(true);
    for (uint64_t k = begin; k < end; ++k) {
      const T ar = x[2 * k] * p, ai = k ? x[2 * k + 1] * p : 0, br = y[2 * k] * q,
              bi = k ? y[2 * k + 1] * q : 0;
      z[2 * k] = ar - bi, z[2 * k + 1] = ai + br;
      if (k) z[2 * (n - k)] = ar + bi, z[2 * (n - k) + 1] = br - ai;
    }
  }
  void part_transforms(const T* z, uint64_t n, uint64_t begin, uint64_t end, T* x, T* y) const {
    // Halves first: the other row's share is gone before a large scale meets it.
    const T p = scale_a(false), q = scale_b(false), half = T(0.5);
    for (uint64_t k = begin; k < end; ++k) {
      const T *u = z + 2 * k, *v = z + 2 * (k ? n - k : 0);
      x[2 * k] = (u[0] * half + v[0] * half) * p, x[2 * k + 1] = (u[1] * half - v[1] * half) * p;
      y[2 * k] = (u[1] * half + v[1] * half) * q, y[2 * k + 1] = (v[0] * half - u[0] * half) * q;
    }
  }
};

}  // namespace adit::ops::fft_host
