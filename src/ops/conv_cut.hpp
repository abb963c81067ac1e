// How sums are cut into tiles of vectors by scalars, and what operands look like that are packed for them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/conv.hpp"
#include "ops/conv_tile.hpp"

namespace adit::ops::conv_cut {

inline int64_t parts_of(int64_t count, int64_t each) { return (count + each - 1) / each; }
inline int64_t rounded_up(int64_t count, int64_t unit) { return parts_of(count, unit) * unit; }

// A block of a packed operand: for each step, `width` elements beside each other, of which `count` count.
struct Block {
  int64_t first = 0, count = 0, width = 0;
  int kind = 0;  // of the tiles, where they are vectors
};

// Cycles of a tile's step: two products at a time, a vector a cycle, since they come from the second cache as
// often as not, and two scalars; a step itself takes as long as four of those.
inline double cycles_of(int64_t vectors, int64_t scalars) {
  return static_cast<double>(std::max(vectors * scalars, 2 * vectors + scalars + 4)) / 2;
}

struct Cut {
  int kind = 0;
  int64_t scalars = 1;  // of a tile at most
  double cycles = 0;    // of a step
};

// The best cut of so many vectors by so many scalars.
template <class T>
Cut best_cut(int64_t vectors, int64_t scalars) {
  const ConvKernels<T>& kernels = conv_kernels<T>();
  Cut best;
  best.cycles = std::numeric_limits<double>::infinity();
  for (int kind = 0; kind < ConvKernels<T>::kinds; ++kind) {
    const int64_t tiles = parts_of(scalars, kernels.most[static_cast<size_t>(kind)]);
    const int64_t each = parts_of(scalars, tiles);
    double cycles = 0;
    int64_t left = vectors;
    for (int smaller = kind; smaller >= 0; --smaller) {
      const int64_t wide = int64_t{1} << smaller, count = left / wide;
      cycles += static_cast<double>(count * tiles) * cycles_of(wide, each);
      left -= count * wide;
    }
    if (cycles < best.cycles) best = {kind, each, cycles};
  }
  return best;
}

// Vectors of `count` elements, as many at a time as the cut has, and fewer at the end.
template <class T>
std::vector<Block> vector_blocks(const Cut& cut, int64_t count) {
  const int64_t width = conv_kernels<T>().width;
  std::vector<Block> blocks;
  int kind = cut.kind;
  for (int64_t first = 0; first < count;) {
    while (kind > 0 && first + (width << kind) > rounded_up(count, width)) --kind;
    const int64_t wide = width << kind;
    blocks.push_back({first, std::min(count - first, wide), wide, kind});
    first += wide;
  }
  return blocks;
}

inline std::vector<Block> scalar_blocks(const Cut& cut, int64_t count) {
  std::vector<Block> blocks;
  for (int64_t first = 0; first < count; first += cut.scalars) {
    const int64_t each = std::min(count - first, cut.scalars);
    blocks.push_back({first, each, each, 0});
  }
  return blocks;
}

// 0, by, 2 by, ...
inline std::vector<int32_t> steps_by(int64_t by, int64_t count) {
  std::vector<int32_t> at(static_cast<size_t>(count));
  for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int32_t>(static_cast<int64_t>(i) * by);
  return at;
}

// `columns` steps of the block's elements, whose rows are `row` apart.
template <class T>
void pack(const T* from, int64_t row, int64_t columns, const Block& block, T* to) {
  if (block.count < block.width) std::fill(to, to + columns * block.width, T{});
  conv_kernels<T>().turn({from, row, to, block.width, block.count, columns});
}

constexpr int64_t alignment = 64;  // bytes: a line of the cache
template <class T>
constexpr int64_t aligned(int64_t count) {
  return rounded_up(count, alignment / static_cast<int64_t>(sizeof(T)));
}
template <class T>
T* aligned(T* pointer) {
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(pointer) + alignment - 1) / alignment * alignment);
}

}  // namespace adit::ops::conv_cut

namespace adit::ops {

// A way to compute a convolution on the host.
template <class T>
struct ConvWay {
  virtual ~ConvWay() = default;
  virtual double cycles() const = 0;    // about, of one thread
  virtual int64_t scratch() const = 0;  // elements
  virtual void run(const T* x, const T* w, T* result, T* scratch) const = 0;
};

}  // namespace adit::ops
