// Keys of elements on the CPU: whole numbers in the order of the elements, and what is done to many of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/vector_sort.hpp"

namespace adit::ops::sorting_on_host {

constexpr uint64_t block = 512;  // elements that are looked at together

// How an element of a type becomes a key whose order as a whole number is the element's, and back.
struct Keys {
  bool is_float = false, is_signed = false, descending = false, same_zeros = false;
  uint64_t infinity = 0;  // the bits of the type's, of a float
};

// The key of a whole number is this, exclusive or the number.
template <class K>
[[gnu::always_inline]] inline K turn_of_integers(const Keys& keys) {
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  return K((keys.is_signed ? top : K(0)) ^ (keys.descending ? K(~K(0)) : K(0)));
}

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
  const K turn = turn_of_integers<K>(keys);
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

// How keys that follow each other stand.
struct Order {
  bool rises = true, falls = true;  // equal ones may do either
  bool sinks = true;                // no two are equal, and it falls
};

// Looks at a few first, since most rows that are in no order show it there, and from then on for the order
// that they have.
template <class K>
[[gnu::always_inline]] inline Order find_order(const K* x, uint64_t apart, uint64_t count, const Keys& keys) {
  constexpr uint64_t few = 16;
  const bool as_they_lie = !keys.is_float && apart == 1;
  const K turn = as_they_lie ? turn_of_integers<K>(keys) : K(0);
  Order found;
  K aside[block + 1];
  for (uint64_t begin = 0, some = 0; begin + 1 < count && (found.rises || found.falls); begin += some - 1) {
    some = std::min(begin == 0 ? few : block + 1, count - begin);
    if (!as_they_lie) put_keys(x + begin * apart, apart, some, keys, aside);
    const K* now = as_they_lie ? x + begin : aside;
    K up = 0, down = 0, equal = 0;
    if (found.rises)
      for (uint64_t i = 1; i < some; ++i) down = K(down | K(K(now[i] ^ turn) < K(now[i - 1] ^ turn)));
    if (found.falls)
      for (uint64_t i = 1; i < some; ++i) {
        up = K(up | K(K(now[i] ^ turn) > K(now[i - 1] ^ turn)));
        equal = K(equal | K(now[i] == now[i - 1]));
      }
    found.rises = found.rises && !down;
    found.falls = found.falls && !up;
    found.sinks = found.sinks && !equal;
  }
  found.sinks = found.sinks && found.falls;
  return found;
}

// What numbers keys are.
template <class K>
struct Range {
  K least = K(~K(0)), most = 0;
  K any = 0, all = K(~K(0));  // the bits that some have, and those that all have
  void join(const Range& other) {
    least = std::min(least, other.least), most = std::max(most, other.most);
    any = K(any | other.any), all = K(all & other.all);
  }
};

// Writes keys and looks at them while they are near; to null where only the range is wanted.
template <class K>
[[gnu::always_inline]] inline Range<K> look(const K* x, uint64_t apart, uint64_t count, const Keys& keys,
                                            K* to) {
  Range<K> seen;
  K aside[block];
  for (uint64_t begin = 0; begin < count; begin += block) {
    const uint64_t some = std::min(block, count - begin);
    K* now = to ? to + begin : aside;
    put_keys(x + begin * apart, apart, some, keys, now);
    Range<K> here = seen;
    for (uint64_t i = 0; i < some; ++i) {
      here.least = std::min(here.least, now[i]), here.most = std::max(here.most, now[i]);
      here.any = K(here.any | now[i]), here.all = K(here.all & now[i]);
    }
    seen = here;
  }
  return seen;
}

// What put_bits makes of put_keys: the same elements, but one kind of NaN.
template <class K>
[[gnu::always_inline]] inline void put_same(const K* x, uint64_t apart, uint64_t count, const Keys& keys,
                                            K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K nan = K(K(~K(0)) >> 1);
  const auto infinity = static_cast<Signed>(keys.is_float ? keys.infinity : nan);
  const auto one = [=](K bits) { return static_cast<Signed>(bits & nan) > infinity ? nan : bits; };
  if (apart == 1)
    for (uint64_t i = 0; i < count; ++i) to[i] = one(x[i]);
  else
    for (uint64_t i = 0; i < count; ++i) to[i * apart] = one(x[i * apart]);
}

// The same as put_bits, where the keys stand.
template <class K>
[[gnu::always_inline]] inline void turn_to_bits(K* at, uint64_t count, const Keys& keys) {
  K aside[block];
  for (uint64_t begin = 0; begin < count; begin += block) {
    const uint64_t some = std::min(block, count - begin);
    for (uint64_t i = 0; i < some; ++i) aside[i] = at[begin + i];
    put_bits(aside, 1, some, keys, at + begin);
  }
}

// A key and its place in one number: the key above, less the least of all and without its lowest bits where
// they have no room.
struct Packing {
  uint64_t least = 0;
  int drop = 0, place_bits = 32;
  uint64_t place(uint64_t packed) const { return packed & ((uint64_t{1} << place_bits) - 1); }
};
template <class K, class P>
[[gnu::always_inline]] inline void pack(const K* x, uint64_t apart, uint64_t count, const Keys& keys,
                                        const Packing& packing, uint64_t place, P* to) {
  K now[block];
  const P least = static_cast<P>(packing.least);
  const int drop = packing.drop, bits = packing.place_bits;
  for (uint64_t begin = 0; begin < count; begin += block) {
    const uint64_t some = std::min(block, count - begin);
    put_keys(x + begin * apart, apart, some, keys, now);
    for (uint64_t i = 0; i < some; ++i)
      to[begin + i] = (P{now[i]} - least) >> drop << bits | static_cast<P>(place + begin + i);
  }
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
  Order (*find_order)(const K*, uint64_t, uint64_t, const Keys&);
  Range<K> (*look)(const K*, uint64_t, uint64_t, const Keys&, K*);
  void (*put_keys)(const K*, uint64_t, uint64_t, const Keys&, K*);
  void (*put_bits)(const K*, uint64_t, uint64_t, const Keys&, K*);
  void (*put_same)(const K*, uint64_t, uint64_t, const Keys&, K*);
  void (*turn_to_bits)(K*, uint64_t, const Keys&);
  void (*pack)(const K*, uint64_t, uint64_t, const Keys&, const Packing&, uint64_t, uint64_t*);
  void (*pack_short)(const K*, uint64_t, uint64_t, const Keys&, const Packing&, uint64_t, uint32_t*);
};

#define ADIT_LOOPS(NAME, TARGET)                                                                          \
  struct NAME {                                                                                           \
    template <class K>                                                                                    \
    TARGET static void put_ranks(const K* keys, uint64_t count, K* ranks) {                               \
      sorting_on_host::put_ranks(keys, count, ranks);                                                     \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static Order find_order(const K* x, uint64_t apart, uint64_t count, const Keys& keys) {        \
      return sorting_on_host::find_order(x, apart, count, keys);                                          \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static Range<K> look(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {    \
      return sorting_on_host::look(x, apart, count, keys, to);                                            \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void put_keys(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {    \
      sorting_on_host::put_keys(x, apart, count, keys, to);                                               \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void put_bits(const K* from, uint64_t apart, uint64_t count, const Keys& keys, K* to) { \
      sorting_on_host::put_bits(from, apart, count, keys, to);                                            \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void put_same(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {    \
      sorting_on_host::put_same(x, apart, count, keys, to);                                               \
    }                                                                                                     \
    template <class K>                                                                                    \
    TARGET static void turn_to_bits(K* at, uint64_t count, const Keys& keys) {                            \
      sorting_on_host::turn_to_bits(at, count, keys);                                                     \
    }                                                                                                     \
    template <class K, class P>                                                                           \
    TARGET static void pack(const K* x, uint64_t apart, uint64_t count, const Keys& keys,                 \
                            const Packing& packing, uint64_t place, P* to) {                              \
      sorting_on_host::pack(x, apart, count, keys, packing, place, to);                                   \
    }                                                                                                     \
  };
ADIT_LOOPS(Plain, )
#if defined(__x86_64__)
ADIT_LOOPS(Avx2, [[gnu::target("avx2")]])
ADIT_LOOPS(Avx512, [[gnu::target(ADIT_LONG_VECTORS)]])
#endif
#undef ADIT_LOOPS

// Keys of up to 16 bits have room beside places in 32.
template <class Kind, class K>
constexpr auto pack_short_of() -> decltype(Loops<K>::pack_short) {
  if constexpr (sizeof(K) < sizeof(uint32_t))
    return Kind::template pack<K, uint32_t>;
  else
    return nullptr;
}

template <class Kind, class K>
Loops<K> loops_of() {
  return {Kind::template put_ranks<K>,    Kind::template find_order<K>,     Kind::template look<K>,
          Kind::template put_keys<K>,     Kind::template put_bits<K>,       Kind::template put_same<K>,
          Kind::template turn_to_bits<K>, Kind::template pack<K, uint64_t>, pack_short_of<Kind, K>()};
}

template <class K>
Loops<K> loops_for([[maybe_unused]] VectorKind kind) {
#if defined(__x86_64__)
  if (kind == VectorKind::avx512) return loops_of<Avx512, K>();
  if (kind == VectorKind::avx2) return loops_of<Avx2, K>();
#endif
  return loops_of<Plain, K>();
}

}  // namespace adit::ops::sorting_on_host
