// The vector sort by registers of 128 bits.
#include "ops/vector_sort.hpp"

#if defined(__aarch64__)

#include <arm_neon.h>

#include "ops/vector_sort_parts.hpp"

namespace adit::ops::vector_sort_neon {
namespace {

#include "ops/vector_sort_body.hpp"

template <size_t lanes>
[[gnu::always_inline]] inline uint8x16_t in_order(uint8x16_t v, uint64_t below) {
  const uint8_t* order = vector_sort_parts::orders<lanes, 16>[below].data();  // loads are macros in clang
  return vqtbl1q_u8(v, vld1q_u8(order));
}

// What does not depend on how wide a key is.
template <class V, class K, int lanes>
struct Words : SplitByOrder<V, K, lanes> {
  using SplitByOrder<V, K, lanes>::width;
  static constexpr int rows = 16, rows_of_few_draws = 16 / lanes;

  static auto load_some(const K* from, int64_t count) {
    if (count >= width) return V::load(from);
    K some[width];
    for (int i = 0; i < width; ++i) some[i] = i < count ? from[i] : K(~K{0});
    return V::load(some);
  }
  static void store_some(K* to, int64_t count, auto v) {
    if (count >= width) return V::store(to, v);
    K some[width];
    V::store(some, v);
    for (int i = 0; i < count; ++i) to[i] = some[i];
  }
};

struct Words32 : Words<Words32, uint32_t, 4> {
  using Register = uint32x4_t;
  static Register load(const Key* from) { return vld1q_u32(from); }
  static void store(Key* to, Register v) { vst1q_u32(to, v); }
  static Register fill(Key key) { return vdupq_n_u32(key); }
  static Register min(Register a, Register b) { return vminq_u32(a, b); }
  static Register max(Register a, Register b) { return vmaxq_u32(a, b); }

  template <int m>
  static Register flip(Register v) {
    if constexpr ((m & 1) != 0) v = vrev64q_u32(v);
    if constexpr ((m & 2) != 0) v = vextq_u32(v, v, 2);
    return v;
  }
  template <int bit>
  static Register select(Register a, Register b) {
    if constexpr (bit == 1) return vbslq_u32(vreinterpretq_u32_u64(vdupq_n_u64(0xffffffff)), a, b);
    return vcombine_u32(vget_low_u32(a), vget_high_u32(b));
  }
  static void interleave(Register& a, Register& b) {
    const Register first = vzip1q_u32(a, b);
    b = vzip2q_u32(a, b);
    a = first;
  }
  static uint64_t below(Register v, Register pivots) {
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcltq_u32(v, pivots), bits));
  }
  static Register in_order(Register v, uint64_t mask) {
    return vreinterpretq_u32_u8(vector_sort_neon::in_order<4>(vreinterpretq_u8_u32(v), mask));
  }
};

// There is neither the less nor the greater of two: they are chosen by a comparison.
struct Words64 : Words<Words64, uint64_t, 2> {
  using Register = uint64x2_t;
  static Register load(const Key* from) { return vld1q_u64(from); }
  static void store(Key* to, Register v) { vst1q_u64(to, v); }
  static Register fill(Key key) { return vdupq_n_u64(key); }
  static Register min(Register a, Register b) { return vbslq_u64(vcgtq_u64(a, b), b, a); }
  static Register max(Register a, Register b) { return vbslq_u64(vcgtq_u64(a, b), a, b); }

  template <int m>
  static Register flip(Register v) {
    return vextq_u64(v, v, 1);
  }
  template <int bit>
  static Register select(Register a, Register b) {
    return vcombine_u64(vget_low_u64(a), vget_high_u64(b));
  }
  static void interleave(Register& a, Register& b) {
    const Register first = vzip1q_u64(a, b);
    b = vzip2q_u64(a, b);
    a = first;
  }
  static uint64_t below(Register v, Register pivots) {
    const uint64x2_t bits = {1, 2};
    return vaddvq_u64(vandq_u64(vcltq_u64(v, pivots), bits));
  }
  static Register in_order(Register v, uint64_t mask) {
    return vreinterpretq_u64_u8(vector_sort_neon::in_order<2>(vreinterpretq_u8_u64(v), mask));
  }
};

}  // namespace

VectorSorts vector_sorts() { return {functions_of<Words32>(), functions_of<Words64>()}; }

}  // namespace adit::ops::vector_sort_neon

#endif
