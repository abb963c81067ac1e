// The vector sort for the vectors V of one kind of processor, to be included where functions are compiled for
// it, in a namespace of its own, after vector_sort_parts.hpp. Of V:
//   Key, Register, width   how many keys a register holds
//   rows                   how many registers the largest network takes; rows_of_few_draws: of how many a
//                          pivot among few keys is the middle
//   load, store            and load_some, store_some: only so many, the rest are the largest keys
//   min, max, flip<m>      flip gives lane i the key of lane i ^ m
//   select<bit>(a, b)      lanes whose number has the bit from b
//   interleave(a, b)       both become the keys of both in turn
//   split(v, pivots, left, room)  stores the keys below the pivots at the begin of the room and the others at
//                          its end; how many were below. May write a whole register at either end

// split() of a V that has below(v, pivots), a bit a lane, and in_order(v, mask), those of the mask first.
template <class V, class K, int lanes>
struct SplitByOrder {
  using Key = K;
  static constexpr int width = lanes;

  [[gnu::always_inline]] static uint64_t split(auto v, auto pivots, K* left, int64_t room) {
    const auto mask = V::below(v, pivots);
    const auto ordered = V::in_order(v, mask);
    V::store(left, ordered);
    V::store(left + room - width, ordered);
    return static_cast<uint64_t>(__builtin_popcountll(mask));
  }
};

template <class V>
[[gnu::always_inline]] inline void exchange(typename V::Register& a, typename V::Register& b) {
  const typename V::Register low = V::min(a, b);
  b = V::max(a, b);
  a = low;
}

template <class V, int rows, size_t... i>
[[gnu::always_inline]] inline void sort_columns([[maybe_unused]] typename V::Register* v,
                                                std::index_sequence<i...>) {
  (exchange<V>(v[vector_sort_parts::network<rows>[i].low], v[vector_sort_parts::network<rows>[i].high]), ...);
}

// Lanes that differ in the bit, and then those of the bits below.
template <class V, int rows, int bit>
[[gnu::always_inline]] inline void merge_lanes(typename V::Register* v) {
  if constexpr (bit > 0) {
    ADIT_UNROLLED
    for (int i = 0; i < rows; ++i) {
      const typename V::Register other = V::template flip<bit>(v[i]);
      v[i] = V::template select<bit>(V::min(v[i], other), V::max(v[i], other));
    }
    merge_lanes<V, rows, bit / 2>(v);
  }
}

template <class V, int rows, int apart>
[[gnu::always_inline]] inline void merge_rows(typename V::Register* v) {
  if constexpr (apart > 0) {
    ADIT_UNROLLED
    for (int i = 0; i < rows; ++i)
      if ((i & apart) == 0) exchange<V>(v[i], v[i + apart]);
    merge_rows<V, rows, apart / 2>(v);
  }
}

// Keys are in order down the columns of half a group of lanes; after this in those of a whole one, and on to
// all lanes. The first half is compared with the second backwards (bitonic merging).
template <class V, int rows, int group>
[[gnu::always_inline]] inline void merge_columns(typename V::Register* v) {
  if constexpr (group <= V::width) {
    if constexpr (rows == 1) {
      const typename V::Register other = V::template flip<group - 1>(v[0]);
      v[0] = V::template select<group / 2>(V::min(v[0], other), V::max(v[0], other));
    }
    ADIT_UNROLLED
    for (int i = 0; i < rows / 2; ++i) {
      const typename V::Register other = V::template flip<group - 1>(v[rows - 1 - i]);
      const typename V::Register low = V::min(v[i], other), high = V::max(v[i], other);
      v[i] = V::template select<group / 2>(low, high);
      v[rows - 1 - i] = V::template flip<group - 1>(V::template select<group / 2>(high, low));
    }
    merge_lanes<V, rows, group / 4>(v);
    merge_rows<V, rows, rows / 2>(v);
    merge_columns<V, rows, group * 2>(v);
  }
}

// What stands in order down the columns, in order along the rows: shuffles of both halves.
template <class V, int rows, int times>
[[gnu::always_inline]] inline void turn_columns(typename V::Register* v) {
  if constexpr (times > 1) {
    typename V::Register from[rows];
    ADIT_UNROLLED
    for (int i = 0; i < rows; ++i) from[i] = v[i];
    ADIT_UNROLLED
    for (int i = 0; i < rows / 2; ++i) {
      V::interleave(from[i], from[i + rows / 2]);
      v[2 * i] = from[i];
      v[2 * i + 1] = from[i + rows / 2];
    }
    turn_columns<V, rows, times / 2>(v);
  }
}

// More than half of as many keys as the rows hold, or any number that one holds.
template <class V, int rows>
[[gnu::noinline]] void sort_in_registers(typename V::Key* keys, uint64_t count) {
  typename V::Register v[rows];
  const auto left_at = [count](int i) { return static_cast<int64_t>(count) - i * V::width; };
  ADIT_UNROLLED
  for (int i = 0; i < rows; ++i)
    v[i] = i < rows / 2 ? V::load(keys + i * V::width) : V::load_some(keys + i * V::width, left_at(i));
  sort_columns<V, rows>(v, std::make_index_sequence<vector_sort_parts::network<rows>.size()>());
  merge_columns<V, rows, 2>(v);
  turn_columns<V, rows, rows>(v);
  ADIT_UNROLLED
  for (int i = 0; i < rows; ++i)
    if (i < rows / 2)
      V::store(keys + i * V::width, v[i]);
    else
      V::store_some(keys + i * V::width, left_at(i), v[i]);
}

template <class V, int rows = V::rows>
void sort_few(typename V::Key* keys, uint64_t count) {
  if constexpr (rows > 1)
    if (count <= rows / 2 * V::width) return sort_few<V, rows / 2>(keys, count);
  sort_in_registers<V, rows>(keys, count);
}

// The middle of some keys, each at random from its share of them, so that no pattern is met in step.
template <class V, int rows>
typename V::Key middle_of(const typename V::Key* keys, uint64_t count) {
  typename V::Key drawn[rows * V::width];
  constexpr uint64_t draws = rows * V::width;
  const uint64_t share = count / draws;
  uint64_t state = count;
  for (uint64_t i = 0; i < draws; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    drawn[i] = keys[i * share + ((state >> 32) * share >> 32)];
  }
  sort_in_registers<V, rows>(drawn, draws);
  return drawn[draws / 2];
}

template <class V>
typename V::Key middle(const typename V::Key* keys, uint64_t count) {
  if (count < vector_sort_parts::many_draws) return middle_of<V, V::rows_of_few_draws>(keys, count);
  return middle_of<V, V::rows / 2>(keys, count);
}

template <class V>
[[gnu::always_inline]] inline void copy(const typename V::Key* from, int64_t count, typename V::Key* to) {
  for (int64_t i = 0; i + V::width < count; i += V::width) V::store(to + i, V::load(from + i));
  V::store(to + count - V::width, V::load(from + count - V::width));
}

// Registers that are read together and then split, one after the other.
template <class V>
struct Block {
  static constexpr int registers = V::rows / 2, size = registers * V::width;
  typename V::Register v[registers];

  [[gnu::always_inline]] void load(const typename V::Key* from) {
    ADIT_UNROLLED
    for (int i = 0; i < registers; ++i) v[i] = V::load(from + i * V::width);
  }
  [[gnu::always_inline]] typename V::Key* split(typename V::Register pivots, typename V::Key* left,
                                                int64_t room) const {
    ADIT_UNROLLED
    for (int i = 0; i < registers; ++i) left += V::split(v[i], pivots, left, room - i * V::width);
    return left;
  }
};

// From both ends: a block is read where less room is left, and one that was read before is written to both
// ends, so that there always is room for a block at either. A block from each end and what is no whole one
// wait aside until the end. At least two blocks of keys. Which end it is, is no branch, since none could be
// foretold; and the next block is read before this one is split, whose outcome it need not wait for.
template <class V>
uint64_t split(typename V::Key* keys, uint64_t count, typename V::Key pivot) {
  using Key = typename V::Key;
  constexpr int64_t block = Block<V>::size;
  const int64_t rest = static_cast<int64_t>(count % block), waiting = 2 * block + rest;
  int64_t first = block, last = static_cast<int64_t>(count) - block - rest;
  Key aside[3 * block];
  copy<V>(keys, block, aside);
  copy<V>(keys + last, block + rest, aside + block);
  const typename V::Register pivots = V::fill(pivot);
  Key* left = keys;
  if (first < last) {
    Block<V> now;
    now.load(keys + first);
    first += block;
    while (first < last) {
      const int64_t all = last - first + waiting + block, at_left = keys + first - left;
      const int64_t is_left = -static_cast<int64_t>(2 * at_left <= waiting + block);
      Block<V> next;
      next.load(keys + (((last - block) & ~is_left) | (first & is_left)));
      first += block & is_left;
      last -= block & ~is_left;
      left = now.split(pivots, left, all);
      now = next;
    }
    left = now.split(pivots, left, waiting + block);
  }
  int64_t room = waiting;
  int64_t i = 0;
  for (; (waiting - i) % V::width != 0; ++i) {
    const Key key = aside[i];
    --room;
    if (key < pivot)
      *left++ = key;
    else
      left[room] = key;
  }
  for (; room > 0; i += V::width, room -= V::width) left += V::split(V::load(aside + i), pivots, left, room);
  return static_cast<uint64_t>(left - keys);
}

// All keys are from low to high. Bad luck with many pivots ends in a sort that has none.
template <class V>
void quicksort(typename V::Key* keys, uint64_t count, typename V::Key low, typename V::Key high, int luck) {
  using Key = typename V::Key;
  while (count > static_cast<uint64_t>(V::rows) * V::width) {
    if (low == high) return;
    if (luck-- == 0) return vector_sort_parts::sort_slowly(keys, count);
    Key pivot = middle<V>(keys, count);
    if (pivot == low) ++pivot;  // those below are equal then, and done
    const uint64_t below = split<V>(keys, count, pivot);
    if (below <= count / 2) {
      quicksort<V>(keys, below, low, static_cast<Key>(pivot - 1), luck);
      keys += below, count -= below, low = pivot;
    } else {
      quicksort<V>(keys + below, count - below, pivot, high, luck);
      count = below, high = static_cast<Key>(pivot - 1);
    }
  }
  if (count > 1 && low != high) sort_few<V>(keys, count);
}

template <class V>
void sort_all(typename V::Key* keys, uint64_t count) {
  quicksort<V>(keys, count, 0, static_cast<typename V::Key>(~typename V::Key{0}),
               2 * static_cast<int>(std::bit_width(count)));
}

template <class V>
VectorSort<typename V::Key> functions_of() {
  return {sort_all<V>, split<V>, middle<V>};
}
