// The first and the last stage of a block may read from memory and write to it themselves, where the numbers
// of its lanes lie in two vectors of pairs; fft_host_kernels.cpp alone includes it.
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

// Numbers as they lie in memory.
template <class V, class T, int width>
struct Source {
  struct Walk {
    const T *first, *second;
    uint64_t at, apart;
    ADIT_INLINE Number<V> get() {
      Number<V> x;
      load_pairs<width>(first + at, second + at, x);
      at += apart;
      hide(at);
      return x;
    }
  };
  const T *first, *second;
  uint64_t along;

  ADIT_INLINE static bool serves(const HostPass<T>& pass, const Block<width>& block) {
    return pass.in_imag == 1 && !pass.times_in && pass.limit_in == ~uint64_t{0} &&
           are_two_vectors(block.in, block.there);
  }
  ADIT_INLINE Source(const HostPass<T>& pass, const Block<width>& block, const T* in)
      : first(in + block.in[0]),
        second(width == 2 ? in + block.in[1] : first + width),
        along(pass.in_along) {}
  ADIT_INLINE Walk walk(uint64_t j, uint64_t apart) const {
    return {first, second, j * along, apart * along};
  }
};

// All results, times a number.
template <class V, class T, int width>
struct Sink {
  struct Walk {
    T *first, *second, scale;
    uint64_t at, apart;
    ADIT_INLINE void put(const Number<V>& x) {
      store_pairs<width>(Number<V>{x.re * scale, x.im * scale}, first + at, second + at);
      at += apart;
      hide(at);
    }
  };
  T *first, *second, scale;
  uint64_t along;

  ADIT_INLINE static bool serves(const HostPass<T>& pass, const Block<width>& block) {
    return pass.out_imag == 1 && pass.limit_out == ~uint64_t{0} && pass.kept == pass.length &&
           are_two_vectors(block.out, block.there);
  }
  ADIT_INLINE Sink(const HostPass<T>& pass, const Block<width>& block, T* out)
      : first(out + block.out[0]),
        second(width == 2 ? out + block.out[1] : first + width),
        scale(pass.scale),
        along(pass.out_along) {}
  ADIT_INLINE Walk walk(uint64_t j, uint64_t apart) const {
    return {first, second, scale, j * along, apart * along};
  }
};

// All results, each times that of a table at its place.
template <class V, class T, int width>
struct TurningSink {
  struct Walk {
    typename Sink<V, T, width>::Walk own;
    const T *first, *second;
    uint64_t at, apart;
    bool is_one;
    ADIT_INLINE void put(const Number<V>& x) {
      Number<V> by{V{} + first[at], V{} + first[at + 1]};
      if (!is_one) load_pairs<width>(first + at, second + at, by);
      own.put(times(x, by.re, by.im));
      at += apart;
      hide(at);
    }
  };
  Sink<V, T, width> own;
  const T *first, *second;
  uint64_t along;
  bool is_one;  // for all lanes

  ADIT_INLINE static bool serves(const HostPass<T>& pass, const Block<width>& block) {
    return pass.times_out && Sink<V, T, width>::serves(pass, block) &&
           (width == 2 || follow(block.place_out, 0) || follow(block.place_out, 1));
  }
  ADIT_INLINE TurningSink(const HostPass<T>& pass, const Block<width>& block, T* out)
      : own(pass, block, out),
        first(reinterpret_cast<const T*>(pass.times_out->data()) + 2 * block.place_out[0]),
        second(width == 2 ? first + 2 * (block.place_out[1] - block.place_out[0]) : first + width),
        along(2 * pass.place_out_along),
        is_one(follow(block.place_out, 0)) {}
  ADIT_INLINE Walk walk(uint64_t j, uint64_t apart) const {
    return {own.walk(j, apart), first, second, j * along, apart * along, is_one};
  }
};

}  // namespace
}  // namespace adit::ops::fft_host
