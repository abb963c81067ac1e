// Keys of elements on the CPU: whole numbers in the order of the elements, and the loops over many of them,
// which each kind of processor has for its vectors (sort_host_loops.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/vector_sort.hpp"

namespace adit::ops::sorting_on_host {

constexpr uint64_t block = 512;  // elements that are looked at together

// How an element of a type becomes a key whose order as a whole number is the element's, and back.
struct Keys {
  bool is_float = false, is_signed = false, descending = false, same_zeros = false;
  uint64_t infinity = 0;  // the bits of the type's, of a float
};

// How keys that follow each other stand.
struct Order {
  bool rises = true, falls = true;  // equal ones may do either
  bool sinks = true;                // no two are equal, and it falls
};

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

// A key and its place in one number: the key above, less the least of all and without its lowest bits where
// they have no room.
struct Packing {
  uint64_t least = 0;
  int drop = 0, place_bits = 32;
  uint64_t place(uint64_t packed) const { return packed & ((uint64_t{1} << place_bits) - 1); }
};
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

// Of keys of 8, 16, 32 and 64 bits.
struct AllLoops {
  Loops<uint8_t> of_8;
  Loops<uint16_t> of_16;
  Loops<uint32_t> of_32;
  Loops<uint64_t> of_64;
};
// Of the kinds of vectors, each in a source of its own.
AllLoops plain_loops();
AllLoops avx2_loops();
AllLoops avx512_loops();

template <class K>
Loops<K> loops_for(VectorKind kind);

}  // namespace adit::ops::sorting_on_host
