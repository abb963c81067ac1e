// Passes of transforms on a CPU, once for each kind of vectors. A buffer holds number j of all lanes as two
// vectors, their real parts and their imaginary ones.
#include <algorithm>
#include <cstring>
#include <utility>

#include "ops/fft_host_pass.hpp"

#if defined(__clang__)
#define ADIT_UNROLL _Pragma("unroll")
#else
#define ADIT_UNROLL _Pragma("GCC unroll 16")
// Everything is inlined: no vector is handed over by a convention.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#define ADIT_INLINE [[gnu::always_inline]] inline

namespace adit::ops {

namespace fft_host {
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
    ADIT_UNROLL
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

// --- Small transforms --------------------------------------------------------------------------------------
template <class V>
ADIT_INLINE void four(Number<V>& x0, Number<V>& x1, Number<V>& x2, Number<V>& x3) {
  const Number<V> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = minus_i(x1 - x3);
  x0 = a + c, x1 = b + d, x2 = a - c, x3 = b - d;
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
  } else {
    // Pairs x_j, x_(n-j) meet cosines by their sum and sines by their difference.
    constexpr int half = radix / 2;
    Number<V> sum[half], difference[half], first = x[0];
    ADIT_UNROLL
    for (int j = 0; j < half; ++j) {
      sum[j] = x[j + 1] + x[radix - 1 - j];
      difference[j] = x[j + 1] - x[radix - 1 - j];
      x[0] = x[0] + sum[j];
    }
    ADIT_UNROLL
    for (int k = 0; k < half; ++k) {
      const T* own = roots + 2 * half * k;
      Number<V> even = first, odd{V{}, V{}};
      ADIT_UNROLL
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
// Transforms of length `done` become ones of radix times it.
template <int radix, class V, class T>
ADIT_INLINE void stage_of(const HostStage<T>& stage, uint64_t length, const V* from, V* to) {
  const uint64_t apart = length / radix, done = stage.done, blocks = apart / done;
  const T *turns = stage.turns.data(), *roots = stage.roots.data();
  for (uint64_t q = 0; q < done; ++q, turns += 2 * (radix - 1))
    for (uint64_t b = 0; b < blocks; ++b) {
      Number<V> x[radix];
      const V* own = from + 2 * (b * done + q);
      ADIT_UNROLL
      for (int r = 0; r < radix; ++r) x[r] = {own[2 * apart * r], own[2 * apart * r + 1]};
      if (done > 1) {
        ADIT_UNROLL
        for (int r = 1; r < radix; ++r) x[r] = times(x[r], turns[2 * r - 2], turns[2 * r - 1]);
      }
      small<radix>(x, roots);
      V* result = to + 2 * (b * done * radix + q);
      ADIT_UNROLL
      for (int r = 0; r < radix; ++r) result[2 * done * r] = x[r].re, result[2 * done * r + 1] = x[r].im;
    }
}

// Any odd radix. Two results and their mirrors at a time.
template <class V, class T>
ADIT_INLINE void stage_of_prime(const HostStage<T>& stage, uint64_t length, const V* from, V* to) {
  const uint64_t radix = stage.radix, half = radix / 2;
  const uint64_t apart = length / radix, done = stage.done, blocks = apart / done;
  const T* turns = stage.turns.data();
  Number<V> sum[most_host_radix / 2 + 1], difference[most_host_radix / 2 + 1];
  for (uint64_t q = 0; q < done; ++q, turns += 2 * (radix - 1))
    for (uint64_t b = 0; b < blocks; ++b) {
      const V* own = from + 2 * (b * done + q);
      const Number<V> first{own[0], own[1]};
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
      V* result = to + 2 * (b * done * radix + q);
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
          result[2 * done * place] = a.re, result[2 * done * place + 1] = a.im;
          result[2 * done * (radix - place)] = z.re, result[2 * done * (radix - place) + 1] = z.im;
        }
      }
    }
}

template <class V, class T>
ADIT_INLINE void run_stage(const HostStage<T>& stage, uint64_t length, const V* from, V* to) {
  switch (stage.radix) {
    case 2: return stage_of<2>(stage, length, from, to);
    case 3: return stage_of<3>(stage, length, from, to);
    case 4: return stage_of<4>(stage, length, from, to);
    case 5: return stage_of<5>(stage, length, from, to);
    case 7: return stage_of<7>(stage, length, from, to);
    case 8: return stage_of<8>(stage, length, from, to);
    default: return stage_of_prime(stage, length, from, to);
  }
}

// --- A block -----------------------------------------------------------------------------------------------
// The columns of a block: where each begins. Lanes beyond `there` repeat the last one, and are not written.
template <int width>
struct Block {
  uint64_t in[width], out[width], place_in[width], place_out[width];
  uint64_t there = width;
};

// True where lanes lie `apart` numbers from each other.
template <int width>
ADIT_INLINE bool follow(const uint64_t (&offsets)[width], uint64_t apart) {
  for (int i = 1; i < width; ++i)
    if (offsets[i] != offsets[0] + apart * static_cast<uint64_t>(i)) return false;
  return true;
}

template <class T, int bytes>
struct Runner {
  using V = typename Lanes<T, bytes>::Vector;
  static constexpr int width = Lanes<T, bytes>::width;
  using Lane = std::make_index_sequence<static_cast<size_t>(width)>;
  using Pass = HostPass<T>;
  using Columns = Block<width>;

  ADIT_INLINE static void find(const Pass& pass, uint64_t number, Columns& block) {
    const uint64_t first = number * width;
    block.there = std::min<uint64_t>(width, pass.count - first);
    for (uint64_t lane = 0; lane < width; ++lane) {
      uint64_t column = first + std::min(lane, block.there - 1);
      block.in[lane] = block.out[lane] = block.place_in[lane] = block.place_out[lane] = 0;
      for (size_t i = 0; i < pass.columns.size(); ++i) {
        const HostAxis& axis = pass.columns[i];
        uint64_t own = column;
        if (i + 1 < pass.columns.size()) {
          // Most numbers of columns fit 32 bits, whose division is faster.
          const bool is_long = (column | axis.extent) >> 32;
          own = is_long ? column % axis.extent
                        : static_cast<uint32_t>(column) % static_cast<uint32_t>(axis.extent);
          column = is_long ? column / axis.extent
                           : static_cast<uint32_t>(column) / static_cast<uint32_t>(axis.extent);
        }
        block.in[lane] += own * axis.in;
        block.out[lane] += own * axis.out;
        block.place_in[lane] += own * axis.place_in;
        block.place_out[lane] += own * axis.place_out;
      }
    }
  }

  // --- From memory and back --------------------------------------------------------------------------------
  ADIT_INLINE static void read(const Pass& pass, const Columns& block, const T* in, V* to) {
    const int re = pass.swap_in ? 1 : 0, im = 1 - re;
    const uint64_t along = pass.in_along;
    if (pass.limit_in != ~uint64_t{0}) return read_singly(pass, block, in, to);
    if (pass.in_imag == 1 && along == 2 && 2 * pass.given >= width)
      return read_rows(pass, block, in, to, true);
    if (pass.in_imag == 0 && along == 1 && pass.given >= width) return read_rows(pass, block, in, to, false);
    if (pass.in_imag == 1 && block.there == width && follow(block.in, 2)) {
      const T* from = in + block.in[0];
      for (uint64_t j = 0; j < pass.given; ++j, from += along) {
        V a, b;
        load(a, from), load(b, from + width);
        open_pairs(a, b, to[2 * j + re], to[2 * j + im], Lane());
      }
    } else if (pass.in_imag != 1 && block.there == width && follow(block.in, 1)) {
      const T* from = in + block.in[0];
      for (uint64_t j = 0; j < pass.given; ++j, from += along) {
        load(to[2 * j + re], from);
        if (pass.in_imag)
          load(to[2 * j + im], from + pass.in_imag);
        else
          to[2 * j + im] = V{};
      }
    } else {
      read_singly(pass, block, in, to);
    }
  }
  ADIT_INLINE static void read_singly(const Pass& pass, const Columns& block, const T* in, V* to) {
    const int re = pass.swap_in ? 1 : 0, im = 1 - re;
    const bool follows =
        pass.in_imag == 1 && block.there == width && follow(block.in, 2) && follow(block.place_in, 1);
    for (uint64_t j = 0; j < pass.given; ++j) {
      const uint64_t place = j * pass.place_in_along;
      if (follows && block.place_in[width - 1] + place < pass.limit_in) {
        V a, b;
        load(a, in + block.in[0] + j * pass.in_along), load(b, in + block.in[0] + j * pass.in_along + width);
        open_pairs(a, b, to[2 * j + re], to[2 * j + im], Lane());
        continue;
      }
      // Not lane by lane in a vector, which would go through memory for each.
      T *reals = reinterpret_cast<T*>(to + 2 * j + re), *others = reinterpret_cast<T*>(to + 2 * j + im);
      for (int lane = 0; lane < width; ++lane) {
        const bool is_there = block.place_in[lane] + place < pass.limit_in;
        const T* at = in + block.in[lane] + j * pass.in_along;
        reals[lane] = is_there ? at[0] : T(0);
        others[lane] = is_there && pass.in_imag ? at[pass.in_imag] : T(0);
      }
    }
  }
  // Columns whose numbers follow each other: squares of them are turned over.
  ADIT_INLINE static void read_rows(const Pass& pass, const Columns& block, const T* in, V* to, bool pairs) {
    const uint64_t reals = pairs ? 2 * pass.given : pass.given;
    for (uint64_t j = 0; j < reals;) {
      V rows[width];
      ADIT_UNROLL
      for (int i = 0; i < width; ++i) load(rows[i], in + block.in[i] + j);
      turn_over<width / 2, width>(rows);
      V* own = to + (pairs ? j : 2 * j);
      ADIT_UNROLL
      for (int i = 0; i < width; ++i) {
        const int swapped = pass.swap_in ? 1 : 0;
        if (pairs)
          own[i ^ swapped] = rows[i];
        else
          own[2 * i + swapped] = rows[i], own[2 * i + 1 - swapped] = V{};
      }
      // The last square may overlap the one before it.
      if (j + width >= reals) break;
      j = std::min(j + width, reals - width);
    }
  }

  ADIT_INLINE static void write(const Pass& pass, const Columns& block, V* from, T* out) {
    const int re = pass.swap_out ? 1 : 0, im = 1 - re;
    if (pass.scale != 1)
      for (uint64_t j = 0; j < 2 * pass.kept; ++j) from[j] *= pass.scale;
    const uint64_t along = pass.out_along;
    if (pass.limit_out != ~uint64_t{0}) return write_singly(pass, block, from, out);
    if (pass.out_imag == 1 && along == 2 && 2 * pass.kept >= width)
      return write_rows(pass, block, from, out, true);
    if (pass.out_imag == 0 && along == 1 && pass.kept >= width)
      return write_rows(pass, block, from, out, false);
    if (pass.out_imag == 1 && block.there == width && follow(block.out, 2)) {
      T* to = out + block.out[0];
      for (uint64_t j = 0; j < pass.kept; ++j, to += along) {
        V a, b;
        close_pairs(from[2 * j + re], from[2 * j + im], a, b, Lane());
        store(a, to), store(b, to + width);
      }
    } else if (pass.out_imag != 1 && block.there == width && follow(block.out, 1)) {
      T* to = out + block.out[0];
      for (uint64_t j = 0; j < pass.kept; ++j, to += along) {
        store(from[2 * j + re], to);
        if (pass.out_imag) store(from[2 * j + im], to + pass.out_imag);
      }
    } else {
      write_singly(pass, block, from, out);
    }
  }
  ADIT_INLINE static void write_singly(const Pass& pass, const Columns& block, const V* from, T* out) {
    const int re = pass.swap_out ? 1 : 0, im = 1 - re;
    const bool follows =
        pass.out_imag == 1 && block.there == width && follow(block.out, 2) && follow(block.place_out, 1);
    for (uint64_t j = 0; j < pass.kept; ++j) {
      const uint64_t place = j * pass.place_out_along;
      if (follows && block.place_out[width - 1] + place < pass.limit_out) {
        V low, high;
        close_pairs(from[2 * j + re], from[2 * j + im], low, high, Lane());
        T* to = out + block.out[0] + j * pass.out_along;
        store(low, to), store(high, to + width);
        continue;
      }
      const T* reals = reinterpret_cast<const T*>(from + 2 * j + re);
      const T* others = reinterpret_cast<const T*>(from + 2 * j + im);
      for (uint64_t lane = 0; lane < block.there; ++lane) {
        if (block.place_out[lane] + place >= pass.limit_out) continue;
        T* at = out + block.out[lane] + j * pass.out_along;
        at[0] = reals[lane];
        if (pass.out_imag) at[pass.out_imag] = others[lane];
      }
    }
  }
  ADIT_INLINE static void write_rows(const Pass& pass, const Columns& block, const V* from, T* out,
                                     bool pairs) {
    const uint64_t reals = pairs ? 2 * pass.kept : pass.kept;
    for (uint64_t j = 0; j < reals;) {
      V rows[width];
      const V* own = from + (pairs ? j : 2 * j);
      const int swapped = pass.swap_out ? 1 : 0;
      ADIT_UNROLL
      for (int i = 0; i < width; ++i) rows[i] = own[pairs ? i ^ swapped : 2 * i + swapped];
      turn_over<width / 2, width>(rows);
      if (block.there == width) {
        ADIT_UNROLL
        for (int i = 0; i < width; ++i) store(rows[i], out + block.out[i] + j);
      } else {
        for (uint64_t i = 0; i < block.there; ++i) store(rows[i], out + block.out[i] + j);
      }
      if (j + width >= reals) break;
      j = std::min(j + width, reals - width);
    }
  }

  // --- Products --------------------------------------------------------------------------------------------
  // Number j of a lane by that of the table at its place, + j along; parts of the first change places before
  // it, or of the product after it.
  ADIT_INLINE static void multiply(V* x, uint64_t count, const std::vector<std::complex<T>>& table,
                                   const uint64_t (&places)[width], uint64_t along, bool swap_first,
                                   bool swap_result) {
    const T* numbers = reinterpret_cast<const T*>(table.data());
    const uint64_t end = table.size();
    const bool is_same = follow(places, 0), follows = follow(places, 1);
    const int re = swap_first ? 1 : 0, to = swap_result ? 1 : 0;
    for (uint64_t j = 0; j < count; ++j) {
      const Number<V> own{x[2 * j + re], x[2 * j + 1 - re]};
      Number<V> product;
      if (is_same) {
        const uint64_t place = places[0] + j * along;
        product = place < end ? times(own, numbers[2 * place], numbers[2 * place + 1]) : Number<V>{V{}, V{}};
      } else {
        Number<V> by{V{}, V{}};
        if (follows && places[0] + j * along + width <= end) {
          const T* at = numbers + 2 * (places[0] + j * along);
          V a, b;
          load(a, at), load(b, at + width);
          open_pairs(a, b, by.re, by.im, Lane());
        } else {
          for (int lane = 0; lane < width; ++lane) {
            const uint64_t place = places[lane] + j * along;
            if (place >= end) continue;
            by.re[lane] = numbers[2 * place], by.im[lane] = numbers[2 * place + 1];
          }
        }
        product = times(own, by.re, by.im);
      }
      x[2 * j + to] = product.re, x[2 * j + 1 - to] = product.im;
    }
  }

  // exp(-2 pi i p j / turns) of lanes with place p: every 16th by the tables, and 15 steps from there.
  ADIT_INLINE static void turn(const Pass& pass, const Columns& block, V* x) {
    constexpr uint64_t steps = 16;
    Number<V> own[steps] = {};
    const auto look = [&](uint64_t j, Number<V>& found) {
      T re[width], im[width];
      for (int lane = 0; lane < width; ++lane) {
        const uint64_t step = block.place_in[lane] * j % pass.turns;
        const std::complex<T>& a = (*pass.low_turns)[step & ((uint64_t{1} << pass.low_bits) - 1)];
        const std::complex<T>& b = (*pass.high_turns)[step >> pass.low_bits];
        re[lane] = a.real() * b.real() - a.imag() * b.imag();
        im[lane] = a.real() * b.imag() + a.imag() * b.real();
      }
      load(found.re, re), load(found.im, im);
    };
    for (uint64_t j = 1; j < steps; ++j) look(j, own[j]);
    for (uint64_t j = 0; j < pass.kept; j += steps) {
      Number<V> start{V{}, V{}};
      look(j, start);
      for (uint64_t i = 0; i < steps && j + i < pass.kept; ++i) {
        V* at = x + 2 * (j + i);
        const Number<V> by = i == 0 ? start : times(start, own[i].re, own[i].im);
        const Number<V> y = times(Number<V>{at[0], at[1]}, by.re, by.im);
        at[0] = y.re, at[1] = y.im;
      }
    }
  }

  // --- Real numbers ----------------------------------------------------------------------------------------
  // See fft_host.hpp. Numbers 0 to `half` from 0 to half - 1, or the other way, in place.
  ADIT_INLINE static void halves(const Pass& pass, V* x, uint64_t half, bool back) {
    const T* c = reinterpret_cast<const T*>(pass.halves->data());
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

  ADIT_INLINE static void run(const Pass& pass, const T* in, T* out, uint64_t begin, uint64_t end, V* room) {
    const uint64_t cells = 2 * (std::max({pass.length, pass.given, pass.kept, pass.half}) + 1);
    V *x = room, *y = room + cells;
    const uint64_t none[width] = {};
    Columns block;
    for (uint64_t number = begin; number < end; ++number) {
      find(pass, number, block);
      read(pass, block, in, x);
      uint64_t given = pass.given;
      if (pass.real == Pass::Real::split || pass.real == Pass::Real::mirror) {
        given = pass.half;
        pass.real == Pass::Real::split ? halves(pass, x, given, true) : mirror(x, given);
        for (uint64_t j = 0; j < given; ++j) std::swap(x[2 * j], x[2 * j + 1]);
      }
      if (pass.times_in)
        multiply(x, given, *pass.times_in, block.place_in, pass.place_in_along, false, false);
      const int rounds = pass.chirp ? 2 : 1;
      if (pass.chirp) {
        multiply(x, pass.chirp->size(), *pass.chirp, none, 1, false, false);
        for (uint64_t j = pass.chirp->size(); j < pass.length; ++j) x[2 * j] = x[2 * j + 1] = V{};
      }
      for (int round = 0; round < rounds; ++round) {
        if (round == 1) multiply(x, pass.length, *pass.kernel, none, 1, false, true);
        for (const HostStage<T>& stage : pass.stages) {
          run_stage(stage, pass.length, x, y);
          std::swap(x, y);
        }
      }
      if (pass.chirp) multiply(x, pass.chirp->size(), *pass.chirp, none, 1, true, false);
      if (pass.times_out)
        multiply(x, std::min(pass.kept, pass.length), *pass.times_out, block.place_out, pass.place_out_along,
                 pass.swap_before_times, false);
      if (pass.turns) turn(pass, block, x);
      if (pass.real == Pass::Real::join) halves(pass, x, pass.half, false);
      write(pass, block, x, out);
    }
  }
};

// --- For each kind of processor ----------------------------------------------------------------------------
#define ADIT_RUNS(NAME, TARGET, BYTES)                                                                \
  TARGET void NAME##_f32(const HostPass<float>& pass, const float* in, float* out, uint64_t begin,    \
                         uint64_t end, void* room) {                                                  \
    Runner<float, BYTES>::run(pass, in, out, begin, end,                                              \
                              static_cast<typename Runner<float, BYTES>::V*>(room));                  \
  }                                                                                                   \
  TARGET void NAME##_f64(const HostPass<double>& pass, const double* in, double* out, uint64_t begin, \
                         uint64_t end, void* room) {                                                  \
    Runner<double, BYTES>::run(pass, in, out, begin, end,                                             \
                               static_cast<typename Runner<double, BYTES>::V*>(room));                \
  }

ADIT_RUNS(plain, , 16)
#if defined(__x86_64__)
ADIT_RUNS(avx2, [[gnu::target("avx2,fma")]], 32)
ADIT_RUNS(avx512, [[gnu::target("avx512f,avx512dq")]], 64)
#endif

HostKernels chosen() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    return {64, avx512_f32, avx512_f64};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {32, avx2_f32, avx2_f64};
#endif
  return {16, plain_f32, plain_f64};
}

}  // namespace
}  // namespace fft_host

const HostKernels& host_fft_kernels() {
  static const HostKernels kernels = fft_host::chosen();
  return kernels;
}

template <class T>
size_t host_room(const HostPass<T>& pass) {
  const size_t numbers = std::max({pass.length, pass.given, pass.kept, pass.half}) + 1;
  return 2 * 2 * numbers * static_cast<size_t>(host_fft_kernels().bytes);
}
template size_t host_room(const HostPass<float>&);
template size_t host_room(const HostPass<double>&);

}  // namespace adit::ops
