// Keys of elements on the CPU: whole numbers in the order of the elements, and what is seen of them on the
// way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace adit::ops::sorting_on_host {

constexpr uint64_t block = 512;  // elements that are looked at together

// How an element of a type becomes a key whose order as a whole number is the element's, and back.
struct Keys {
  bool is_float = false, is_signed = false, descending = false, same_zeros = false;
  uint64_t infinity = 0;  // the bits of the type's, of a float
};

// Without branches, so that it is done to vectors.
template <class K>
[[gnu::always_inline]] inline void put_keys(const K* x, uint64_t apart, uint64_t count, const Keys& keys,
                                            K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1)), all = K(~K(0));
  const K flip = keys.descending ? all : K(0);
  if (keys.is_float) {
    const auto infinity = static_cast<Signed>(keys.infinity);
    const K zero = keys.same_zeros ? K(top ^ flip) : K(0),
            negative_zero = keys.same_zeros ? zero : K(all ^ top ^ flip);
    const auto one = [=](K bits) {
      const auto size = static_cast<Signed>(bits & K(~top));
      const K sign = K(static_cast<Signed>(bits) >> (8 * sizeof(K) - 1));
      K key = K(K(bits ^ K(sign | top)) ^ flip);
      key = bits == top ? negative_zero : key;
      return size > infinity ? K(all ^ flip) : key;
    };
    if (apart == 1)
      for (uint64_t i = 0; i < count; ++i) to[i] = one(x[i]);
    else
      for (uint64_t i = 0; i < count; ++i) to[i] = one(x[i * apart]);
    return;
  }
  const K turn = K((keys.is_signed ? top : K(0)) ^ flip);
  for (uint64_t i = 0; i < count; ++i) to[i] = K(x[i * apart] ^ turn);
}

template <class K>
[[gnu::always_inline]] inline void put_bits(const K* from, uint64_t apart, uint64_t count, const Keys& keys,
                                            K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  const K flip = keys.descending ? K(~K(0)) : K(0), signs = keys.is_float ? K(~K(0)) : K(0);
  const K turn = keys.is_float || keys.is_signed ? top : K(0);
  const auto one = [=](K key) {
    key = K(key ^ flip);
    const K negative = K(K(~static_cast<Signed>(static_cast<Signed>(key) >> (8 * sizeof(K) - 1))) & signs);
    return K(key ^ K(negative | turn));
  };
  if (apart == 1)
    for (uint64_t i = 0; i < count; ++i) to[i] = one(from[i]);
  else
    for (uint64_t i = 0; i < count; ++i) to[i * apart] = one(from[i]);
}

// What is known of keys that follow each other.
template <class K>
struct Seen {
  K least = K(~K(0)), most = 0, first = 0, last = 0;
  bool rises = true, falls = true;  // equal ones may do either
};

// Writes keys and looks at them while they are near.
template <class K>
[[gnu::always_inline]] inline void look(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to,
                                        Seen<K>& seen) {
  for (uint64_t begin = 0; begin < count; begin += block) {
    const uint64_t some = std::min(block, count - begin);
    put_keys(x + begin * apart, apart, some, keys, to + begin);
    const K* now = to + begin;
    K least = seen.least, most = seen.most;
    for (uint64_t i = 0; i < some; ++i) least = std::min(least, now[i]), most = std::max(most, now[i]);
    seen.least = least, seen.most = most;
    if (!seen.rises && !seen.falls) continue;
    unsigned up = 0, down = 0;
    for (uint64_t i = begin == 0 ? 1 : 0; i < some; ++i) {
      up |= static_cast<unsigned>(now[i] > now[static_cast<int64_t>(i) - 1]);
      down |= static_cast<unsigned>(now[i] < now[static_cast<int64_t>(i) - 1]);
    }
    seen.rises = seen.rises && !down;
    seen.falls = seen.falls && !up;
  }
  seen.first = to[0], seen.last = to[count - 1];
}

// Where each key of a short row goes: by how many are less, or equal and before it. All pairs are compared,
// but many at once, and without a branch.
template <class K>
[[gnu::always_inline]] inline void put_ranks(const K* keys, uint64_t count, K* ranks) {
  for (uint64_t i = 0; i < count; ++i) ranks[i] = 0;
  for (uint64_t j = 0; j < count; ++j) {
    const K key = keys[j];
    for (uint64_t i = 0; i < j; ++i) ranks[i] = K(ranks[i] + K(key < keys[i]));
    for (uint64_t i = j + 1; i < count; ++i) ranks[i] = K(ranks[i] + K(key <= keys[i]));
  }
}

template <class K>
struct Loops {
  void (*put_ranks)(const K*, uint64_t, K*);
  void (*look)(const K*, uint64_t, uint64_t, const Keys&, K*, Seen<K>&);
  void (*put_keys)(const K*, uint64_t, uint64_t, const Keys&, K*);
  void (*put_bits)(const K*, uint64_t, uint64_t, const Keys&, K*);
};

#define ADIT_LOOPS(NAME, TARGET)                                                                          \
  struct NAME {                                                                                           \
    template <class K>                                                                                    \
    TARGET static void put_ranks(const K* keys, uint64_t count, K* ranks) {                               \
      sorting_on_host::put_ranks(keys, count, ranks);                                                     \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void look(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to,          \
                            Seen<K>& seen) {                                                              \
      sorting_on_host::look(x, apart, count, keys, to, seen);                                             \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void put_keys(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {    \
      sorting_on_host::put_keys(x, apart, count, keys, to);                                               \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void put_bits(const K* from, uint64_t apart, uint64_t count, const Keys& keys, K* to) { \
      sorting_on_host::put_bits(from, apart, count, keys, to);                                            \
    }                                                                                                     \
  };
ADIT_LOOPS(Plain, )
#if defined(__x86_64__)
ADIT_LOOPS(Avx2, [[gnu::target("avx2")]])
#endif
#undef ADIT_LOOPS

template <class K>
Loops<K> loops_of_this_cpu() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    return {Avx2::put_ranks<K>, Avx2::look<K>, Avx2::put_keys<K>, Avx2::put_bits<K>};
#endif
  return {Plain::put_ranks<K>, Plain::look<K>, Plain::put_keys<K>, Plain::put_bits<K>};
}

}  // namespace adit::ops::sorting_on_host
