// What the kernels of matrix products share: where a team stands, how tiles reach shared memory, how results
// leave.
#pragma once

#include <functional>
#include <vector>

#include "ops/matmul.hpp"

namespace adit::ops {

using kernel::Array;
using kernel::Builder;
using kernel::Type;
using kernel::Value;

constexpr uint32_t ceil_div(uint64_t a, uint64_t b) { return static_cast<uint32_t>((a + b - 1) / b); }

// By a number known here; shifts where it is a power of two.
Value quotient(Value a, uint32_t b);
Value rest(Value a, uint32_t b);

// Counts of tiles.
struct Grid {
  Grid(const MatmulShape& shape, const MatmulTiling& tiling);
  uint32_t tiles_m, tiles_n, tiles_k, tiles_k_each;  // the last: of one split
};

// The work of a team: a tile of results and a range of tiles along k.
struct TeamWork {
  Value batch, split, row, column;  // row and column: first of the tile
  Value first_k, end_k;             // tiles
};
TeamWork find_work(Builder& k, const MatmulShape& shape, const MatmulTiling& tiling);

// One operand: `extent` is m or n.
struct OperandShape {
  Type type;
  uint32_t extent, depth, block, block_k;
  bool along_k;  // elements of one row or column of the product lie side by side
  uint64_t batch_stride, batch;
  uint32_t alignment;
  uint32_t pitch = 0;  // from row to row, where a row is shorter; not along k

  uint32_t leading() const { return pitch > 0 ? pitch : along_k ? depth : extent; }
  bool is_wide() const;  // needs 64-bit indices
  // Whether every access of `width` elements is aligned, and inside or outside as a whole.
  bool allows_vectors(uint32_t width) const;
};
OperandShape operand_a(const MatmulShape& shape, const MatmulTiling& tiling);
OperandShape operand_b(const MatmulShape& shape, const MatmulTiling& tiling);

// One access of a lane to its operand's tile: `width` elements side by side in memory.
struct Slot {
  Value base;          // index in the buffer, in vectors, of the first tile
  Value line;          // which row (along_k) or step of k of the tile
  Value within;        // first element of the access in that line
  uint32_t below = 0;  // lines from `base` and `line` to the access, where a lane's accesses share those
};

// Spreads the accesses to a tile over the lanes. Rows past the end are taken for the last one, whose results
// nobody stores; steps of k past the end count as zeros. With `linear`, all accesses of a lane share one base
// where no row is past the end.
class Stager {
 public:
  Stager(Builder& k, const OperandShape& shape, uint32_t width, uint32_t lanes, Value first, Value batch,
         bool linear = false);
  const std::vector<Slot>& slots() const { return slots_; }
  uint32_t width() const { return width_; }
  // The index of a slot's access in tile `tile`, and whether it is inside; `inside` has no value where all
  // are.
  struct Access {
    Value index;
    Value inside;
    bool guarded;
  };
  Access access(const Slot& slot, Value tile) const;

 private:
  OperandShape shape_;
  uint32_t width_;
  Type index_type_;
  std::vector<Slot> slots_;
};

// Writes sums to c (or the workspace), through the hooks.
class Writer {
 public:
  Writer(Builder& k, const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks,
         const Array& to, const TeamWork& work);
  // Sums of neighbouring columns, as many as fill a vector store where the shape allows it.
  void store(Value row, Value column, const std::vector<Value>& sums) const;
  // Whether whole tiles may be stored as they are: no hooks, no rest, the accumulator's own type.
  bool is_plain() const;
  Value index(Value row, Value column) const;

 private:
  void store_inside(Value row, Value column, const std::vector<Value>& sums) const;
  Builder& k_;
  const MatmulShape& shape_;
  const MatmulHooks& hooks_;
  Array to_;
  TeamWork work_;
  Type type_, index_type_;
  bool partial_, ragged_;
};

// The value that is stored for a sum.
Value finish_sum(Builder& k, const MatmulHooks& hooks, Type result, Value sum, Value batch, Value row,
                 Value column);

// What a team does, where the hooks have it done.
void under_condition(Builder& k, const MatmulHooks& hooks, Value batch, const std::function<void()>& work);

kernel::Program tiled_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks);
kernel::Program matrices_program(const MatmulShape& shape, const MatmulTiling& tiling,
                                 const MatmulHooks& hooks);

kernel::Program vector_program(const MatmulShape& shape, const MatmulTiling& tiling,
                               const MatmulHooks& hooks);

[[noreturn]] void reject_matmul(const std::string& what);

}  // namespace adit::ops
