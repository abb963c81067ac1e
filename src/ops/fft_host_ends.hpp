// The first and the last stage of a block may read from memory and write to it themselves, where the numbers
// of its lanes lie in two vectors of pairs; fft_host_runner.hpp alone includes it.
#pragma once

#include "ops/fft_host_stages.hpp"

namespace adit::ops::fft_host {
namespace {

// The columns of a block: where each begins. Lanes beyond `there` repeat the last one.
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

// Pairs of lanes that follow each other fill two vectors. Of two lanes each fills one, wherever they lie; a
// lane that repeats another writes the same once more.
template <int width>
ADIT_INLINE bool are_two_vectors(const uint64_t (&offsets)[width], uint64_t there) {
  return width == 2 || (there == width && follow(offsets, 2));
}

// Blocks that are transformed together, each as far from the one before it as all others.
template <int width>
struct Bundle {
  const Block<width>* blocks;
  uint64_t count = 1;
  int64_t in = 0, out = 0, place_out = 0;
};

// Numbers as they lie in memory.
template <class V, class T, int width>
struct Source {
  static constexpr bool is_memory = true;
  struct Walk {
    const T* at;
    int64_t other, apart;
    ADIT_INLINE Number<V> get() {
      Number<V> x;
      load_pairs<width>(at, at + other, x);
      at += apart;
      hide(at);
      return x;
    }
  };
  const T* first;
  int64_t other, along, next;  // `other` vectors lie that far from the first ones

  ADIT_INLINE static bool serves(const HostPass<T>& pass, const Block<width>& block) {
    return pass.in_imag == 1 && !pass.times_in && pass.limit_in == ~uint64_t{0} &&
           are_two_vectors(block.in, block.there);
  }
  ADIT_INLINE Source(const HostPass<T>& pass, const Bundle<width>& bundle, const T* in)
      : first(in + bundle.blocks->in[0]),
        other(width == 2 ? bundle.blocks->in[1] - bundle.blocks->in[0] : width),
        along(pass.in_along),
        next(bundle.in) {}
  ADIT_INLINE Walk walk(int64_t block, int64_t j, int64_t apart) const {
    return {first + block * next + j * along, other, apart * along};
  }
};

// All results. Those of a single stage are scaled here.
template <class V, class T, int width, bool scales = false>
struct Sink {
  static constexpr bool is_memory = true;
  struct Walk {
    T *at, scale;
    int64_t other, apart;
    ADIT_INLINE void put(const Number<V>& x) {
      const Number<V> scaled{x.re * scale, x.im * scale};
      store_pairs<width>(scales ? scaled : x, at, at + other);
      at += apart;
      hide(at);
    }
  };
  T *first, scale;
  int64_t other, along, next;

  ADIT_INLINE static bool serves(const HostPass<T>& pass, const Block<width>& block) {
    return pass.out_imag == 1 && pass.limit_out == ~uint64_t{0} && pass.kept == pass.length &&
           are_two_vectors(block.out, block.there);
  }
  ADIT_INLINE Sink(const HostPass<T>& pass, const Bundle<width>& bundle, T* out)
      : first(out + bundle.blocks->out[0]),
        scale(pass.scale),
        other(width == 2 ? bundle.blocks->out[1] - bundle.blocks->out[0] : width),
        along(pass.out_along),
        next(bundle.out) {}
  ADIT_INLINE Walk walk(int64_t block, int64_t j, int64_t apart) const {
    return {first + block * next + j * along, scale, other, apart * along};
  }
};

// All results, each times that of a table at its place.
template <class V, class T, int width>
struct TurningSink {
  static constexpr bool is_memory = true;
  struct Walk {
    typename Sink<V, T, width>::Walk own;
    const T* at;
    int64_t other, apart;
    bool is_one;
    ADIT_INLINE void put(const Number<V>& x) {
      Number<V> by{V{} + at[0], V{} + at[1]};
      if (!is_one) load_pairs<width>(at, at + other, by);
      own.put(times(x, by.re, by.im));
      at += apart;
      hide(at);
    }
  };
  Sink<V, T, width> own;
  const T* first;
  int64_t other, along, next;
  bool is_one;  // for all lanes

  ADIT_INLINE static bool serves(const HostPass<T>& pass, const Block<width>& block) {
    return pass.times_out && Sink<V, T, width>::serves(pass, block) &&
           (width == 2 || follow(block.place_out, 0) || follow(block.place_out, 1));
  }
  ADIT_INLINE TurningSink(const HostPass<T>& pass, const Bundle<width>& bundle, T* out)
      : own(pass, bundle, out),
        first(reinterpret_cast<const T*>(pass.times_out->data()) + 2 * bundle.blocks->place_out[0]),
        other(width == 2 ? 2 * (bundle.blocks->place_out[1] - bundle.blocks->place_out[0]) : width),
        along(2 * pass.place_out_along),
        next(2 * bundle.place_out),
        is_one(follow(bundle.blocks->place_out, 0)) {}
  ADIT_INLINE Walk walk(int64_t block, int64_t j, int64_t apart) const {
    return {own.walk(block, j, apart), first + block * next + j * along, other, apart * along, is_one};
  }
};

// exp(-2 pi i p k / turns) of lanes with place p, by two tables of the block: every 16th k, and the steps
// from there.
template <class V, class T, int width>
struct Steps {
  static constexpr uint64_t apart = 16;
  ADIT_INLINE static int64_t cells(const HostPass<T>& pass) {
    return static_cast<int64_t>(2 * (apart + pass.kept / apart + 1));
  }

  ADIT_INLINE static void fill(const HostPass<T>& pass, const Block<width>& block, V* table) {
    fill_some(pass, block, 1, apart, table);
    fill_some(pass, block, apart, pass.kept / apart + 1, table + 2 * apart);
  }
  // Of k = 0, by, 2 by...
  ADIT_INLINE static void fill_some(const HostPass<T>& pass, const Block<width>& block, uint64_t by,
                                    uint64_t count, V* table) {
    const std::complex<T>*low = pass.low_turns->data(), *high = pass.high_turns->data();
    for (int lane = 0; lane < width; ++lane) {
      const uint64_t next = block.place_in[lane] * by % pass.turns;
      uint64_t step = 0;
      for (uint64_t i = 0; i < count; ++i) {
        const std::complex<T>&a = low[step & ((uint64_t{1} << pass.low_bits) - 1)],
              &b = high[step >> pass.low_bits];
        reinterpret_cast<T*>(table + 2 * i)[lane] = a.real() * b.real() - a.imag() * b.imag();
        reinterpret_cast<T*>(table + 2 * i + 1)[lane] = a.real() * b.imag() + a.imag() * b.real();
        step += next;
        if (step >= pass.turns) step -= pass.turns;
      }
    }
  }
  ADIT_INLINE static Number<V> at(const V* table, uint64_t k) {
    const V *some = table + 2 * (k % apart), *every = table + 2 * (apart + k / apart);
    return times(Number<V>{every[0], every[1]}, some[0], some[1]);
  }
};

// All results, each times the angle of its place; tables of a bundle's blocks lie `between` vectors apart.
template <class V, class T, int width>
struct SteppingSink {
  static constexpr bool is_memory = true;
  struct Walk {
    typename Sink<V, T, width>::Walk own;
    const V* table;
    int64_t k, apart;
    ADIT_INLINE void put(const Number<V>& x) {
      const Number<V> by = Steps<V, T, width>::at(table, k);
      own.put(times(x, by.re, by.im));
      k += apart;
      hide(k);
    }
  };
  Sink<V, T, width> own;
  const V* tables;
  int64_t between;

  ADIT_INLINE Walk walk(int64_t block, int64_t j, int64_t apart) const {
    return {own.walk(block, j, apart), tables + block * between, j, apart};
  }
};

}  // namespace
}  // namespace adit::ops::fft_host
