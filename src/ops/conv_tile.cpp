#include "ops/conv_tile.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__clang__)
#define ADIT_UNROLLED _Pragma("unroll")
#else
#define ADIT_UNROLLED _Pragma("GCC unroll 16")
#endif

namespace adit::ops {

namespace conv_tile {
namespace {

template <class T, int bytes>
struct Vectors {
  using Type [[gnu::vector_size(bytes)]] = T;
  static constexpr int width = bytes / static_cast<int>(sizeof(T));
};

// sum + x * with[lane]: a processor of aarch64 reads several scalars at once and multiplies by any of them.
#if defined(__aarch64__)
template <int lane>
[[gnu::always_inline]] inline float32x4_t plus_by_lane(float32x4_t sum, float32x4_t x, float32x4_t with) {
  return vfmaq_laneq_f32(sum, x, with, lane);
}
template <int lane>
[[gnu::always_inline]] inline float64x2_t plus_by_lane(float64x2_t sum, float64x2_t x, float64x2_t with) {
  return vfmaq_laneq_f64(sum, x, with, lane);
}
#endif

// sums[j][v] += x[v] * with[j]
template <class T, class Vector, int width, int J, int V, size_t... j>
[[gnu::always_inline]] inline void add_products(Vector (&sums)[J][V], const Vector (&x)[V], const T* with,
                                                std::index_sequence<j...>) {
#if defined(__aarch64__)
  constexpr int by_lanes = J / width * width;
  Vector lanes[J / width + 1];
  ADIT_UNROLLED
  for (int i = 0; i < by_lanes; i += width) std::memcpy(&lanes[i / width], with + i, sizeof(Vector));
  const auto add = [&]<int i>(std::integral_constant<int, i>) __attribute__((always_inline)) {
    ADIT_UNROLLED
    for (int v = 0; v < V; ++v)
      if constexpr (i < by_lanes)
        sums[i][v] = plus_by_lane<i % width>(sums[i][v], x[v], lanes[i / width]);
      else
        sums[i][v] += x[v] * with[i];
  };
  (add(std::integral_constant<int, static_cast<int>(j)>()), ...);
#else
  ADIT_UNROLLED
  for (int i = 0; i < J; ++i) ADIT_UNROLLED
  for (int v = 0; v < V; ++v) sums[i][v] += x[v] * with[i];
#endif
}

// Sums that are added to at the same time: as many as keep a processor's two units busy, which take four
// cycles for each. Few results have several sums each, of every second or fourth step.
constexpr int sums_at_once = 8;

template <class T, int bytes, int V, int J>
[[gnu::always_inline]] inline void tile(const ConvTile<T>& t) {
  using Vector = typename Vectors<T, bytes>::Type;
  constexpr int width = Vectors<T, bytes>::width;
  constexpr int S = V * J >= sums_at_once ? 1 : 2 * V * J >= sums_at_once ? 2 : 4;
  Vector total[S][J][V] = {};
  const auto step = [&](int64_t at, Vector(&sums)[J][V]) __attribute__((always_inline)) {
    const T *from = t.vectors + t.vector_at[at], *with = t.scalars + t.scalar_at[at];
    Vector x[V];
    ADIT_UNROLLED
    for (int v = 0; v < V; ++v) std::memcpy(&x[v], from + v * width, bytes);
    add_products<T, Vector, width>(sums, x, with, std::make_index_sequence<J>());
  };
  if (t.adds) ADIT_UNROLLED
  for (int j = 0; j < J; ++j) ADIT_UNROLLED
  for (int v = 0; v < V; ++v) std::memcpy(&total[0][j][v], t.sums + j * t.row + v * width, bytes);
  int64_t at = 0;
  const int64_t steps = t.steps;
  for (; at + S <= steps; at += S) ADIT_UNROLLED
  for (int s = 0; s < S; ++s) step(at + s, total[s]);
  if constexpr (S > 1)
    for (; at < steps; ++at) step(at, total[0]);
  ADIT_UNROLLED
  for (int j = 0; j < J; ++j) ADIT_UNROLLED
  for (int v = 0; v < V; ++v) {
    ADIT_UNROLLED
    for (int s = 1; s < S; ++s) total[0][j][v] += total[s][j][v];
    std::memcpy(t.sums + j * t.row + v * width, &total[0][j][v], bytes);
  }
}

// A vector that several products share is read once: g++ would make it an operand in memory of each,
// and those of x lie across two lines of the cache.
template <class Vector>
[[gnu::always_inline]] inline void keep_in_register(Vector& vector) {
#if defined(__x86_64__) && !defined(__clang__)
  asm("" : "+v"(vector));
#else
  static_cast<void>(vector);
#endif
}

// All of a vector's elements to its first.
template <int half, class Vector, size_t... i>
[[gnu::always_inline]] inline void fold(Vector& v, std::index_sequence<i...> lanes) {
  if constexpr (half > 0) {
    v += __builtin_shufflevector(v, v, (i ^ static_cast<size_t>(half))...);
    fold<half / 2>(v, lanes);
  }
}

template <class T, int bytes, int J, int K>
[[gnu::always_inline]] inline void dots(const ConvDots<T>& d) {
  using Vector = typename Vectors<T, bytes>::Type;
  constexpr int width = Vectors<T, bytes>::width;
  Vector total[J][K] = {};
  const T* from[K];
  ADIT_UNROLLED
  for (int k = 0; k < K; ++k) from[k] = d.from + d.offsets[k];
  for (int64_t i = 0, count = d.count; i < count; i += width) {
    Vector with[J];
    ADIT_UNROLLED
    for (int j = 0; j < J; ++j) std::memcpy(&with[j], d.with + j * d.with_row + i, bytes);
    ADIT_UNROLLED
    for (int k = 0; k < K; ++k) {
      Vector x;
      std::memcpy(&x, from[k] + i, bytes);
      keep_in_register(x);
      ADIT_UNROLLED
      for (int j = 0; j < J; ++j) total[j][k] += with[j] * x;
    }
  }
  ADIT_UNROLLED
  for (int j = 0; j < J; ++j) ADIT_UNROLLED
  for (int k = 0; k < K; ++k) {
    fold<width / 2>(total[j][k], std::make_index_sequence<width>());
    d.sums[j * d.row + k] += total[j][k][0];
  }
}

// One stage of a transposition: blocks of `half` change places between rows that are `half` apart.
template <int half, class Vector, size_t... j>
[[gnu::always_inline]] inline void exchange(Vector& a, Vector& b, std::index_sequence<j...>) {
  constexpr size_t n = sizeof...(j), h = half;
  const Vector low = __builtin_shufflevector(a, b, ((j & h) ? n + j - h : j)...);
  b = __builtin_shufflevector(a, b, ((j & h) ? n + j : j + h)...);
  a = low;
}

template <int half, int width, class Vector>
[[gnu::always_inline]] inline void turn_square(Vector (&rows)[width]) {
  if constexpr (half > 0) {
    ADIT_UNROLLED
    for (int i = 0; i < width; ++i)
      if ((i & half) == 0) exchange<half>(rows[i], rows[i + half], std::make_index_sequence<width>());
    turn_square<half / 2, width>(rows);
  }
}

template <class T, int bytes>
[[gnu::always_inline]] inline void turn(const Turn<T>& t) {
  using Vector = typename Vectors<T, bytes>::Type;
  constexpr int width = Vectors<T, bytes>::width;
  int64_t r = 0;
  for (; r + width <= t.rows; r += width) {
    int64_t c = 0;
    for (; c + width <= t.columns; c += width) {
      Vector rows[width];
      ADIT_UNROLLED
      for (int i = 0; i < width; ++i) std::memcpy(&rows[i], t.from + (r + i) * t.from_row + c, bytes);
      turn_square<width / 2, width>(rows);
      ADIT_UNROLLED
      for (int i = 0; i < width; ++i) std::memcpy(t.to + (c + i) * t.to_row + r, &rows[i], bytes);
    }
    for (; c < t.columns; ++c)
      for (int i = 0; i < width; ++i) t.to[c * t.to_row + r + i] = t.from[(r + i) * t.from_row + c];
  }
  for (; r < t.rows; ++r)
    for (int64_t c = 0; c < t.columns; ++c) t.to[c * t.to_row + r] = t.from[r * t.from_row + c];
}

// --- For each kind of processor ----------------------------------------------------------------------------
// Sums and what is multiplied stay in registers: 32 of them, or 16 of some x86 processors. Those of aarch64
// hold scalars as well.
[[maybe_unused]] constexpr std::array<int, 4> of_32_registers = {14, 14, 6, 3};
[[maybe_unused]] constexpr std::array<int, 4> of_32_with_lanes = {14, 12, 6, 3};
constexpr std::array<int, 5> dots_of_32 = {0, 10, 10, 9, 6};
[[maybe_unused]] constexpr std::array<int, 4> of_16_registers = {6, 6, 2, 1};
[[maybe_unused]] constexpr std::array<int, 5> dots_of_16 = {0, 10, 6, 4, 0};

#define ADIT_KERNELS(NAME, TARGET, BYTES, SCALARS, DOTS)    \
  struct NAME {                                             \
    static constexpr int bytes = BYTES;                     \
    static constexpr std::array<int, 4> most = SCALARS;     \
    static constexpr std::array<int, 5> dots_beside = DOTS; \
    template <class T, int V, int J>                        \
    TARGET static void tile(const ConvTile<T>& t) {         \
      conv_tile::tile<T, BYTES, V, J>(t);                   \
    }                                                       \
    template <class T, int J, int K>                        \
    TARGET static void dots(const ConvDots<T>& d) {         \
      conv_tile::dots<T, BYTES, J, K>(d);                   \
    }                                                       \
    template <class T>                                      \
    TARGET static void turn(const Turn<T>& t) {             \
      conv_tile::turn<T, (BYTES < 32 ? BYTES : 32)>(t);     \
    }                                                       \
  };

#if defined(__x86_64__)
ADIT_KERNELS(Avx512, [[gnu::target("avx512f")]], 64, of_32_registers, dots_of_32)
ADIT_KERNELS(Avx2, [[gnu::target("avx2,fma")]], 32, of_16_registers, dots_of_16)
ADIT_KERNELS(Plain, , 16, of_16_registers, dots_of_16)
#else
ADIT_KERNELS(Plain, , 16, of_32_with_lanes, dots_of_32)
#endif
#undef ADIT_KERNELS

template <class Kind, class T, int V, size_t... j>
void put_tiles(ConvKernels<T>& kernels, int kind, std::index_sequence<j...>) {
  ((kernels.tile[kind][j + 1] = Kind::template tile<T, V, static_cast<int>(j) + 1>), ...);
}
template <class Kind, class T, int J, size_t... k>
void put_dots(ConvKernels<T>& kernels, std::index_sequence<k...>) {
  ((kernels.dots[J][k + 1] = Kind::template dots<T, J, static_cast<int>(k) + 1>), ...);
}

template <class Kind, class T>
ConvKernels<T> kernels_of() {
  ConvKernels<T> kernels;
  kernels.width = Kind::bytes / static_cast<int64_t>(sizeof(T));
  kernels.most = Kind::most;
  put_tiles<Kind, T, 1>(kernels, 0, std::make_index_sequence<Kind::most[0]>());
  put_tiles<Kind, T, 2>(kernels, 1, std::make_index_sequence<Kind::most[1]>());
  put_tiles<Kind, T, 4>(kernels, 2, std::make_index_sequence<Kind::most[2]>());
  put_tiles<Kind, T, 8>(kernels, 3, std::make_index_sequence<Kind::most[3]>());
  kernels.dots_beside = Kind::dots_beside;
  put_dots<Kind, T, 1>(kernels, std::make_index_sequence<Kind::dots_beside[1]>());
  put_dots<Kind, T, 2>(kernels, std::make_index_sequence<Kind::dots_beside[2]>());
  put_dots<Kind, T, 3>(kernels, std::make_index_sequence<Kind::dots_beside[3]>());
  put_dots<Kind, T, 4>(kernels, std::make_index_sequence<Kind::dots_beside[4]>());
  kernels.turn = Kind::template turn<T>;
  return kernels;
}

template <class T>
ConvKernels<T> best_of_this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return kernels_of<Avx512, T>();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kernels_of<Avx2, T>();
#endif
  return kernels_of<Plain, T>();
}

}  // namespace
}  // namespace conv_tile

template <class T>
const ConvKernels<T>& conv_kernels() {
  static const ConvKernels<T> kernels = conv_tile::best_of_this_cpu<T>();
  return kernels;
}

template const ConvKernels<float>& conv_kernels<float>();
template const ConvKernels<double>& conv_kernels<double>();

}  // namespace adit::ops
