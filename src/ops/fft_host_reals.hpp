// Real numbers in the blocks of transforms on a CPU: halves of a column and two columns as one
// (fft_host.hpp).
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ops/fft_host_pass.hpp"
#include "ops/fft_host_stages.hpp"

namespace adit::ops::fft_host {
namespace {

template <class T, int bytes>
struct BitsOf {
  using One = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  using Vector = typename Lanes<One, bytes>::Vector;
};

template <class T, int bytes>
struct Reals {
  using V = typename Lanes<T, bytes>::Vector;
  static constexpr int width = Lanes<T, bytes>::width;

  // Numbers 0 to `half` from 0 to half - 1, or the other way, in place.
  ADIT_INLINE static void halves(const HostTable<T>& table, V* x, uint64_t half, bool back) {
    const T* c = reinterpret_cast<const T*>(table->data());
    const T part = T(0.5);
    if (!back) x[2 * half] = x[0], x[2 * half + 1] = x[1];
    if (back) x[1] = x[2 * half + 1] = V{};  // of the ends only real parts count
    for (uint64_t k = 0; 2 * k <= half; ++k) {
      const uint64_t m = half - k;
      const Number<V> a{x[2 * k], x[2 * k + 1]}, b{x[2 * m], -x[2 * m + 1]};
      const Number<V> s = a + b, d = a - b, even{s.re * part, s.im * part};
      const Number<V> odd = times(d, c[2 * k], back ? -c[2 * k + 1] : c[2 * k + 1]);
      x[2 * k] = even.re + odd.re, x[2 * k + 1] = even.im + odd.im;
      x[2 * m] = even.re - odd.re, x[2 * m + 1] = odd.im - even.im;
    }
  }

  // All `count` numbers of a transform of real ones, from the first half.
  ADIT_INLINE static void mirror(V* x, uint64_t count) {
    x[1] = V{};
    for (uint64_t k = 1; 2 * k < count; ++k) {
      x[2 * (count - k)] = x[2 * k];
      x[2 * (count - k) + 1] = -x[2 * k + 1];
    }
  }

  // Two columns of `count` real numbers, an odd number, are the parts of one of complex ones: their
  // transforms are what is even and what is odd in its, Z_k = A_k + i B_k and Z_(n-k) = conj A_k + i conj
  // B_k.
  ADIT_INLINE static void separate(const V* z, uint64_t count, V* a, V* b) {
    const T part = T(0.5);
    for (uint64_t k = 0; 2 * k < count; ++k) {
      const uint64_t m = k == 0 ? 0 : count - k;
      const Number<V> x{z[2 * k] * part, z[2 * k + 1] * part}, y{z[2 * m] * part, z[2 * m + 1] * part};
      a[2 * k] = x.re + y.re, a[2 * k + 1] = x.im - y.im;
      b[2 * k] = x.im + y.im, b[2 * k + 1] = y.re - x.re;
    }
  }
  // And back, to where b was.
  ADIT_INLINE static void combine(const V* a, V* b, uint64_t count) {
    b[1] = b[0], b[0] = a[0];  // of these only real parts count
    for (uint64_t k = 1; 2 * k < count; ++k) {
      const Number<V> x{a[2 * k], a[2 * k + 1]}, y{b[2 * k], b[2 * k + 1]};
      V* mirrored = b + 2 * (count - k);
      b[2 * k] = x.re - y.im, b[2 * k + 1] = x.im + y.re;
      mirrored[0] = x.re + y.im, mirrored[1] = y.re - x.im;
    }
  }

  // --- How large columns are -------------------------------------------------------------------------------
  using Bits = typename BitsOf<T, bytes>::Vector;
  static constexpr int mantissa = sizeof(T) == 8 ? 52 : 23, most_exponent = sizeof(T) == 8 ? 2047 : 255;

  // The bits of each lane's largest number, without its sign.
  ADIT_INLINE static Bits largest(const V* x, uint64_t count, uint64_t step) {
    Bits most[4] = {};  // none waits for the one before it
    const auto look = [&](uint64_t j, Bits& so_far) {
      Bits own;
      std::memcpy(&own, x + step * j, sizeof own);
      own &= Bits{} + std::numeric_limits<typename BitsOf<T, bytes>::One>::max();  // without their signs
      so_far = own > so_far ? own : so_far;
    };
    uint64_t j = 0;
    for (; j + 4 <= count; j += 4)
      look(j, most[0]), look(j + 1, most[1]), look(j + 2, most[2]), look(j + 3, most[3]);
    for (; j < count; ++j) look(j, most[0]);
    for (int i = 1; i < 4; ++i) most[0] = most[i] > most[0] ? most[i] : most[0];
    return most[0];
  }
  // 2^-e of such numbers' exponents, or 2^e: 0 where all are 0.
  ADIT_INLINE static V power(const Bits& number, bool is_inverse) {
    const Bits bias = Bits{} + most_exponent / 2, least = Bits{} + 1, most = Bits{} + (most_exponent - 2);
    const Bits exponent = number >> mantissa;
    Bits own = exponent < least ? least : exponent > most ? most : exponent;
    if (is_inverse) own = 2 * bias - own;
    own = number == 0 ? Bits{} : own << mantissa;
    V result;
    std::memcpy(&result, &own, sizeof result);
    return result;
  }
  ADIT_INLINE static void scale(V* x, uint64_t count, uint64_t step, const V& by) {
    for (uint64_t j = 0; j < count; ++j) x[step * j] *= by;
  }
  ADIT_INLINE static bool any(const Bits& lanes) {
    typename BitsOf<T, bytes>::One all = 0;
    for (int i = 0; i < width; ++i) all |= lanes[i];
    return all != 0;
  }
};

}  // namespace
}  // namespace adit::ops::fft_host
