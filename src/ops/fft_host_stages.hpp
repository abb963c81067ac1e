// Stages of transforms on a CPU, over vectors of one kind of processor; fft_host_runner.hpp alone includes
// it. A buffer holds number j of all lanes as two vectors, their real parts and their imaginary ones.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/fft_host_pass.hpp"
#include "ops/target.hpp"

#if !defined(__clang__)
// Everything is inlined: no vector is handed over by a convention.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#define ADIT_INLINE [[gnu::always_inline]] inline

namespace adit::ops::fft_host {
namespace {

template <class T, int bytes>
struct Lanes {
  using Vector [[gnu::vector_size(bytes)]] = T;
  static constexpr int width = bytes / static_cast<int>(sizeof(T));
};

// --- Vectors in memory -------------------------------------------------------------------------------------
template <class V, class T>
ADIT_INLINE void load(V& v, const T* at) {
  std::memcpy(&v, at, sizeof v);
}
template <class V, class T>
ADIT_INLINE void store(const V& v, T* at) {
  std::memcpy(at, &v, sizeof v);
}

template <class V, size_t... j>
ADIT_INLINE void open_pairs(const V& a, const V& b, V& re, V& im, std::index_sequence<j...>) {
  re = __builtin_shufflevector(a, b, (2 * j)...);
  im = __builtin_shufflevector(a, b, (2 * j + 1)...);
}
template <class V, size_t... j>
ADIT_INLINE void close_pairs(const V& re, const V& im, V& a, V& b, std::index_sequence<j...>) {
  constexpr size_t n = sizeof...(j);
  a = __builtin_shufflevector(re, im, (j / 2 + j % 2 * n)...);
  b = __builtin_shufflevector(re, im, (n / 2 + j / 2 + j % 2 * n)...);
}

// One stage of a transposition: blocks of `half` change places between rows that are `half` apart.
template <int half, class V, size_t... j>
ADIT_INLINE void change_blocks(V& a, V& b, std::index_sequence<j...>) {
  constexpr size_t n = sizeof...(j), h = half;
  const V low = __builtin_shufflevector(a, b, ((j & h) ? n + j - h : j)...);
  b = __builtin_shufflevector(a, b, ((j & h) ? n + j : j + h)...);
  a = low;
}
template <int half, int width, class V>
ADIT_INLINE void turn_over(V (&rows)[width]) {
  if constexpr (half > 0) {
    ADIT_UNROLLED
    for (int i = 0; i < width; ++i)
      if ((i & half) == 0) change_blocks<half>(rows[i], rows[i + half], std::make_index_sequence<width>());
    turn_over<half / 2, width>(rows);
  }
}

// --- Complex numbers ---------------------------------------------------------------------------------------
template <class V>
struct Number {
  V re, im;
};
template <class V>
ADIT_INLINE Number<V> operator+(const Number<V>& a, const Number<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
ADIT_INLINE Number<V> operator-(const Number<V>& a, const Number<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class S>
ADIT_INLINE Number<V> times(const Number<V>& a, const S& re, const S& im) {
  return {a.re * re - a.im * im, a.re * im + a.im * re};
}
template <class V>
ADIT_INLINE Number<V> minus_i(const Number<V>& a) {
  return {a.im, -a.re};
}

// Two vectors of pairs.
template <int width, class V, class T>
ADIT_INLINE void load_pairs(const T* first, const T* second, Number<V>& x) {
  V a, b;
  load(a, first), load(b, second);
  open_pairs(a, b, x.re, x.im, std::make_index_sequence<width>());
}
template <int width, class V, class T>
ADIT_INLINE void store_pairs(const Number<V>& x, T* first, T* second) {
  V a, b;
  close_pairs(x.re, x.im, a, b, std::make_index_sequence<width>());
  store(a, first), store(b, second);
}

// --- Small transforms --------------------------------------------------------------------------------------
template <class V>
ADIT_INLINE void four(Number<V>& x0, Number<V>& x1, Number<V>& x2, Number<V>& x3) {
  const Number<V> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = minus_i(x1 - x3);
  x0 = a + c, x1 = b + d, x2 = a - c, x3 = b - d;
}

template <class T, class V>
ADIT_INLINE void three(Number<V>& x0, Number<V>& x1, Number<V>& x2) {
  const T half = T(0.5), root = static_cast<T>(0.86602540378443864676L);
  const Number<V> s = x1 + x2, d{(x1.re - x2.re) * root, (x1.im - x2.im) * root}, t = minus_i(d);
  const Number<V> e{x0.re - s.re * half, x0.im - s.im * half};
  x0 = x0 + s, x1 = e + t, x2 = e - t;
}

// By three and three.
template <class T, class V>
ADIT_INLINE void nine(Number<V> (&x)[9]) {
  three<T>(x[0], x[3], x[6]);
  three<T>(x[1], x[4], x[7]);
  three<T>(x[2], x[5], x[8]);
  const auto turn = [](Number<V> & y, long double c, long double s) __attribute__((always_inline)) {
    y = times(y, static_cast<T>(c), static_cast<T>(s));
  };
  turn(x[4], 0.76604444311897803520L, -0.64278760968653932632L);   // an angle of 1/9
  turn(x[5], 0.17364817766693034885L, -0.98480775301220805937L);   // 2/9
  turn(x[7], 0.17364817766693034885L, -0.98480775301220805937L);   // 2/9
  turn(x[8], -0.93969262078590838405L, -0.34202014332566873304L);  // 4/9
  three<T>(x[0], x[1], x[2]);
  three<T>(x[3], x[4], x[5]);
  three<T>(x[6], x[7], x[8]);
  std::swap(x[1], x[3]), std::swap(x[2], x[6]), std::swap(x[5], x[7]);
}

template <int radix, class V, class T>
ADIT_INLINE void small(Number<V> (&x)[radix], const T* roots) {
  if constexpr (radix == 2) {
    const Number<V> a = x[0];
    x[0] = a + x[1], x[1] = a - x[1];
  } else if constexpr (radix == 4) {
    four(x[0], x[1], x[2], x[3]);
  } else if constexpr (radix == 8) {
    four(x[0], x[2], x[4], x[6]);
    four(x[1], x[3], x[5], x[7]);
    const T root = static_cast<T>(0.70710678118654752440L);
    const Number<V> a{(x[3].re + x[3].im) * root, (x[3].im - x[3].re) * root};
    const Number<V> b = minus_i(x[5]);
    const Number<V> c{(x[7].im - x[7].re) * root, -((x[7].re + x[7].im) * root)};
    const Number<V> y0 = x[0], y1 = x[2], y2 = x[4], y3 = x[6], z = x[1];
    x[0] = y0 + z, x[4] = y0 - z;
    x[1] = y1 + a, x[5] = y1 - a;
    x[2] = y2 + b, x[6] = y2 - b;
    x[3] = y3 + c, x[7] = y3 - c;
  } else if constexpr (radix == 9) {
    nine<T>(x);
  } else {
    // Pairs x_j, x_(n-j) meet cosines by their sum and sines by their difference.
    constexpr int half = radix / 2;
    Number<V> sum[half], difference[half], first = x[0];
    ADIT_UNROLLED
    for (int j = 0; j < half; ++j) {
      sum[j] = x[j + 1] + x[radix - 1 - j];
      difference[j] = x[j + 1] - x[radix - 1 - j];
      x[0] = x[0] + sum[j];
    }
    ADIT_UNROLLED
    for (int k = 0; k < half; ++k) {
      const T* own = roots + 2 * half * k;
      Number<V> even = first, odd{V{}, V{}};
      ADIT_UNROLLED
      for (int j = 0; j < half; ++j) {
        even.re += sum[j].re * own[2 * j], even.im += sum[j].im * own[2 * j];
        odd.re += difference[j].re * own[2 * j + 1], odd.im += difference[j].im * own[2 * j + 1];
      }
      const Number<V> turned = minus_i(odd);
      x[k + 1] = even + turned, x[radix - 1 - k] = even - turned;
    }
  }
}

// --- Stages ------------------------------------------------------------------------------------------------
// The compiler would keep a pointer of its own for each number of a stage, more than there are registers.
template <class I>
ADIT_INLINE void hide(I& number) {
  asm("" : "+r"(number));
}

// Where a stage reads its numbers and writes its results: a buffer of all lanes. A walk gives number j of a
// block and then those that are `apart` from each other, backwards where that is negative. Blocks of a bundle
// lie `next` vectors apart.
template <class V>
struct Buffer {
  static constexpr bool is_memory = false;
  struct Walk {
    V* at;
    int64_t apart;
    ADIT_INLINE Number<V> get() {
      const Number<V> x{at[0], at[1]};
      at += apart;
      hide(at);
      return x;
    }
    ADIT_INLINE void put(const Number<V>& x) {
      at[0] = x.re, at[1] = x.im;
      at += apart;
      hide(at);
    }
  };
  V* begin;
  int64_t next = 0;
  ADIT_INLINE Walk walk(int64_t block, int64_t j, int64_t apart) const {
    return {begin + block * next + 2 * j, 2 * apart};
  }
};

// A number by one of a table, the same for all lanes.
template <class V, class T>
ADIT_INLINE Number<V> turned_by(const Number<V>& x, const T* turn) {
#if defined(__aarch64__)
  // Multiplications take a lane of a register as it is; a compiler that sees several of them copies it first.
  typename Lanes<T, 2 * sizeof(T)>::Vector by;
  load(by, turn);
  Number<V> y;
  if constexpr (sizeof(T) == 8) {
    asm("fmul %0.2d, %1.2d, %2.d[0]" : "=w"(y.re) : "w"(x.re), "w"(by));
    asm("fmul %0.2d, %1.2d, %2.d[0]" : "=w"(y.im) : "w"(x.im), "w"(by));
    asm("fmls %0.2d, %1.2d, %2.d[1]" : "+w"(y.re) : "w"(x.im), "w"(by));
    asm("fmla %0.2d, %1.2d, %2.d[1]" : "+w"(y.im) : "w"(x.re), "w"(by));
  } else {
    asm("fmul %0.4s, %1.4s, %2.s[0]" : "=w"(y.re) : "w"(x.re), "w"(by));
    asm("fmul %0.4s, %1.4s, %2.s[0]" : "=w"(y.im) : "w"(x.im), "w"(by));
    asm("fmls %0.4s, %1.4s, %2.s[1]" : "+w"(y.re) : "w"(x.im), "w"(by));
    asm("fmla %0.4s, %1.4s, %2.s[1]" : "+w"(y.im) : "w"(x.re), "w"(by));
  }
  return y;
#else
  return times(x, turn[0], turn[1]);
#endif
}

// Transforms of length `done` become ones of radix times it. The way back has the results of a radix in the
// other order, but for the first. Stages that reach memory go through the blocks of a bundle in turns, since
// these share lines of the cache there.
template <int radix, bool turns_first, class V, class T, class From, class To>
ADIT_INLINE void stage_of(const HostStage<T>& stage, uint64_t length, From from, To to, uint64_t bundle) {
  const uint64_t apart = length / radix, done = stage.done, blocks = apart / done;
  const T *turns = stage.turns.data(), *roots = stage.roots.data();
  const uint64_t second = stage.backward ? done * (radix - 1) : done;
  const int64_t next = stage.backward ? -static_cast<int64_t>(done) : static_cast<int64_t>(done);
  constexpr bool is_bundled = sizeof(V) == 16 && (From::is_memory || To::is_memory);
  const uint64_t count = is_bundled ? bundle : 1;
  for (uint64_t q = 0; q < done; ++q, turns += 2 * (radix - 1))
    for (uint64_t b = 0; b < blocks; ++b)
      for (uint64_t number = 0; number < count; ++number) {
        Number<V> x[radix];
        uint64_t block = number, start = b * done + q, result = b * done * radix + q;
        if (is_bundled) hide(block), hide(start), hide(result);
        auto reading = from.walk(block, start, apart);
        ADIT_UNROLLED
        for (int r = 0; r < radix; ++r) x[r] = reading.get();
        if constexpr (turns_first) {
          x[0] = {x[0].re * stage.scale, x[0].im * stage.scale};
          ADIT_UNROLLED
          for (int r = 1; r < radix; ++r) x[r] = turned_by(x[r], turns + 2 * r - 2);
        }
        small<radix>(x, roots);
        to.walk(block, result, 0).put(x[0]);
        auto writing = to.walk(block, result + second, next);
        ADIT_UNROLLED
        for (int r = 1; r < radix; ++r) writing.put(x[r]);
      }
}

// Any odd radix. Two results and their mirrors at a time.
template <class V, class T>
ADIT_INLINE void stage_of_prime(const HostStage<T>& stage, uint64_t length, const V* from, V* to) {
  const uint64_t radix = stage.radix, half = radix / 2;
  const uint64_t apart = length / radix, done = stage.done, blocks = apart / done;
  const T* turns = stage.turns.data();
  const uint64_t back = stage.backward ? done * radix : 0;
  const uint64_t step = stage.backward ? uint64_t{0} - done : done;
  Number<V> sum[most_host_radix / 2 + 1], difference[most_host_radix / 2 + 1];
  for (uint64_t q = 0; q < done; ++q, turns += 2 * (radix - 1))
    for (uint64_t b = 0; b < blocks; ++b) {
      const V* own = from + 2 * (b * done + q);
      V* result = to + 2 * (b * done * radix + q);
      const Number<V> first{own[0] * stage.scale, own[1] * stage.scale};
      Number<V> all = first;
      for (uint64_t j = 1; j <= half; ++j) {
        const uint64_t m = radix - j;
        Number<V> x{own[2 * apart * j], own[2 * apart * j + 1]};
        Number<V> y{own[2 * apart * m], own[2 * apart * m + 1]};
        if (done > 1) {
          x = times(x, turns[2 * j - 2], turns[2 * j - 1]);
          y = times(y, turns[2 * m - 2], turns[2 * m - 1]);
        }
        sum[j - 1] = x + y;
        difference[j - 1] = x - y;
        all = all + sum[j - 1];
      }
      result[0] = all.re, result[1] = all.im;
      for (uint64_t k = 0; k < half; k += 2) {
        const uint64_t next = std::min(k + 1, half - 1);
        const T *here = stage.roots.data() + 2 * half * k, *there = stage.roots.data() + 2 * half * next;
        Number<V> even[2] = {first, first}, odd[2] = {{V{}, V{}}, {V{}, V{}}};
        for (uint64_t j = 0; j < half; ++j) {
          even[0].re += sum[j].re * here[2 * j], even[0].im += sum[j].im * here[2 * j];
          even[1].re += sum[j].re * there[2 * j], even[1].im += sum[j].im * there[2 * j];
          odd[0].re += difference[j].re * here[2 * j + 1], odd[0].im += difference[j].im * here[2 * j + 1];
          odd[1].re += difference[j].re * there[2 * j + 1], odd[1].im += difference[j].im * there[2 * j + 1];
        }
        for (int i = 0; i < 2; ++i) {
          const uint64_t place = i == 0 ? k + 1 : next + 1;
          const Number<V> turned = minus_i(odd[i]), a = even[i] + turned, z = even[i] - turned;
          V *low = result + 2 * (back + step * place), *high = result + 2 * (back + step * (radix - place));
          low[0] = a.re, low[1] = a.im;
          high[0] = z.re, high[1] = z.im;
        }
      }
    }
}

// Longer vectors have fewer: each stage is a function that takes long to compile, once for each source and
// sink.
template <class V>
constexpr bool has_more_radices = sizeof(V) == 16;
template <class V>
bool is_written_out(uint64_t radix) {
  if (radix == 9 || radix == 11 || radix == 13) return has_more_radices<V>;
  return radix <= 5 || radix == 7 || radix == 8;
}

// A stage by itself has all registers.
template <int radix, bool turns_first, class V, class T, class From, class To>
[[gnu::noinline]] void run_stage(const HostStage<T>& stage, uint64_t length, const From& from, const To& to,
                                 uint64_t bundle) {
  stage_of<radix, turns_first, V>(stage, length, from, to, bundle);
}

template <bool turns_first, class V, class T, class From, class To>
ADIT_INLINE void run_written_out(const HostStage<T>& stage, uint64_t length, From from, To to,
                                 uint64_t bundle = 1) {
  if constexpr (has_more_radices<V>) switch (stage.radix) {
      case 9: return run_stage<9, turns_first, V>(stage, length, from, to, bundle);
      case 11: return run_stage<11, turns_first, V>(stage, length, from, to, bundle);
      case 13: return run_stage<13, turns_first, V>(stage, length, from, to, bundle);
      default: break;
    }
  switch (stage.radix) {
    case 2: return run_stage<2, turns_first, V>(stage, length, from, to, bundle);
    case 3: return run_stage<3, turns_first, V>(stage, length, from, to, bundle);
    case 4: return run_stage<4, turns_first, V>(stage, length, from, to, bundle);
    case 5: return run_stage<5, turns_first, V>(stage, length, from, to, bundle);
    case 7: return run_stage<7, turns_first, V>(stage, length, from, to, bundle);
    default: return run_stage<8, turns_first, V>(stage, length, from, to, bundle);
  }
}

}  // namespace
}  // namespace adit::ops::fft_host
