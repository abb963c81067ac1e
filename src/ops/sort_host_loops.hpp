// What is done to many keys at once. The sources of the kinds of vectors include it, each in the target of
// its processor and after the headers of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/sort_host_keys.hpp"

namespace adit::ops::sorting_on_host {
namespace {

// The key of a whole number is this, exclusive or the number.
template <class K>
K turn_of_integers(const Keys& keys) {
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  return K((keys.is_signed ? top : K(0)) ^ (keys.descending ? K(~K(0)) : K(0)));
}

// Without branches, so that it is done to vectors.
template <class K>
void put_keys(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1)), all = K(~K(0));
  const K flip = keys.descending ? all : K(0);
  if (keys.is_float) {
    const auto infinity = static_cast<Signed>(keys.infinity);
    const K zero = keys.same_zeros ? K(top ^ flip) : K(0),
            negative_zero = keys.same_zeros ? zero : K(all ^ top ^ flip);
    const auto one = [=](K bits) __attribute__((always_inline)) {
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
  if (apart == 1)
    for (uint64_t i = 0; i < count; ++i) to[i] = K(x[i] ^ turn);
  else
    for (uint64_t i = 0; i < count; ++i) to[i] = K(x[i * apart] ^ turn);
}

template <class K>
void put_bits(const K* from, uint64_t apart, uint64_t count, const Keys& keys, K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K top = K(K(1) << (8 * sizeof(K) - 1));
  const K flip = keys.descending ? K(~K(0)) : K(0), signs = keys.is_float ? K(~K(0)) : K(0);
  const K turn = keys.is_float || keys.is_signed ? top : K(0);
  const auto one = [=](K key) __attribute__((always_inline)) {
    key = K(key ^ flip);
    const K negative = K(K(~static_cast<Signed>(static_cast<Signed>(key) >> (8 * sizeof(K) - 1))) & signs);
    return K(key ^ K(negative | turn));
  };
  if (apart == 1)
    for (uint64_t i = 0; i < count; ++i) to[i] = one(from[i]);
  else
    for (uint64_t i = 0; i < count; ++i) to[i * apart] = one(from[i]);
}

// Looks at a few first, since most rows that are in no order show it there, and from then on for the order
// that they have.
template <class K>
Order find_order(const K* x, uint64_t apart, uint64_t count, const Keys& keys) {
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

// Writes keys and looks at them while they are near; to null where only the range is wanted.
template <class K>
Range<K> look(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {
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
void put_same(const K* x, uint64_t apart, uint64_t count, const Keys& keys, K* to) {
  using Signed = std::make_signed_t<K>;
  constexpr K nan = K(K(~K(0)) >> 1);
  const auto infinity = static_cast<Signed>(keys.is_float ? keys.infinity : nan);
  const auto one = [=](K bits) __attribute__((always_inline)) {
    return static_cast<Signed>(bits & nan) > infinity ? nan : bits;
  };
  if (apart == 1)
    for (uint64_t i = 0; i < count; ++i) to[i] = one(x[i]);
  else
    for (uint64_t i = 0; i < count; ++i) to[i * apart] = one(x[i * apart]);
}

// The same as put_bits, where the keys stand.
template <class K>
void turn_to_bits(K* at, uint64_t count, const Keys& keys) {
  K aside[block];
  for (uint64_t begin = 0; begin < count; begin += block) {
    const uint64_t some = std::min(block, count - begin);
    for (uint64_t i = 0; i < some; ++i) aside[i] = at[begin + i];
    put_bits(aside, 1, some, keys, at + begin);
  }
}

template <class K, class P>
void pack(const K* x, uint64_t apart, uint64_t count, const Keys& keys, const Packing& packing,
          uint64_t place, P* to) {
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
void put_ranks(const K* keys, uint64_t count, K* ranks) {
  for (uint64_t i = 0; i < count; ++i) ranks[i] = 0;
  for (uint64_t j = 0; j < count; ++j) {
    const K key = keys[j];
    for (uint64_t i = 0; i < j; ++i) ranks[i] = K(ranks[i] + K(key < keys[i]));
    for (uint64_t i = j + 1; i < count; ++i) ranks[i] = K(ranks[i] + K(key <= keys[i]));
  }
}

// Keys of up to 16 bits have room beside places in 32.
template <class K>
constexpr auto pack_short_of() -> decltype(Loops<K>::pack_short) {
  if constexpr (sizeof(K) < sizeof(uint32_t))
    return pack<K, uint32_t>;
  else
    return nullptr;
}

template <class K>
Loops<K> loops_of() {
  return {put_ranks<K>, find_order<K>,   look<K>,           put_keys<K>,       put_bits<K>,
          put_same<K>,  turn_to_bits<K>, pack<K, uint64_t>, pack_short_of<K>()};
}

AllLoops all_loops() {
  return {loops_of<uint8_t>(), loops_of<uint16_t>(), loops_of<uint32_t>(), loops_of<uint64_t>()};
}

}  // namespace
}  // namespace adit::ops::sorting_on_host
