// The matrix product for GPUs, as kernels: c = a * b, in tiles that a team computes from shared memory.
//
// matmul_program() writes the kernel of one shape and one tiling; choose_tiling() picks the tiling. Where k
// is split among teams (split_k > 1) the first kernel leaves partial sums in a workspace and
// matmul_sum_program() adds them up, always in the same order. Both take hooks, by which a caller puts its
// own arithmetic between the sum and the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>

namespace adit::ops {

struct MatmulShape {
  kernel::Type type = kernel::Type::f32;    // of both operands
  kernel::Type result = kernel::Type::f32;  // floats for floats, integers for integers
  uint32_t m = 1, n = 1, k = 1, batch = 1;
  // All matrices are row major: a is m x k, or k x m where transposed; b is k x n, or n x k.
  bool transpose_a = false, transpose_b = false;
  uint32_t a_pitch = 0;  // elements from one row of a to the next, where that is not as long as a row
  // Elements from one matrix of the batch to the next; 0: all share one. The results lie one after the other.
  uint64_t a_stride = 0, b_stride = 0;
  // b is no matrix in memory: the hooks say where its elements are (tiled); lanes read it along k where it is
  // transposed.
  bool mapped = false;
  uint32_t alignment = 16;  // bytes that the addresses of all buffers are multiples of
};

enum class MatmulMethod : uint8_t {
  tiled,     // multiply and add, a small tile of results a lane
  matrices,  // cooperative matrices, a tile of results a subgroup
  vector     // m or n is 1; runs on a CPU as well
};

struct MatmulTiling {
  MatmulMethod method = MatmulMethod::tiled;
  uint32_t block_m = 64, block_n = 64, block_k = 16;  // of a team
  uint32_t part_m = 4, part_n = 4;                    // results of a lane (tiled) or of a subgroup (matrices)
  uint32_t stages = 2;  // tiles in shared memory: 2 need one barrier a step, 1 needs two
  // Elements between rows of a tile in shared memory, against bank conflicts; 0 (tiled): rows are turned
  // where they can be.
  uint32_t pad = 4;
  uint32_t group = 8;       // rows of tiles that are walked side by side, for the caches
  uint32_t split_k = 1;     // teams that share one tile's sum
  uint32_t across = 8;      // lanes side by side along n in a subgroup (tiled), lanes of a team (vector)
  uint32_t subgroup = 32;   // lanes
  bool fused = true;        // multiply-add with one rounding
  bool interleaved = true;  // tiled: lanes of a subgroup in a zigzag, else row by row
  bool ahead = false;       // operands of a step are read from shared memory during the step before
  bool early = false;       // tiles wait in registers for a step before they are put (tiled: two stages)
  bool linear = false;      // a lane reads its part of a tile at constants past one address, of 64 bits
  kernel::MatrixShape matrix{16, 16, 16, kernel::Type::f16, kernel::Type::f32};  // matrices: one product
};

// What happens to a sum before it is stored, in place of a plain conversion to the result's type.
struct MatmulHooks {
  // Declares more parameters, after those of the kernel itself.
  std::function<void(kernel::Builder&)> declare;
  // `sum` has the type that accumulator_type() tells; what it becomes is converted to the result's type.
  std::function<kernel::Value(kernel::Builder&, kernel::Value sum, kernel::Value batch, kernel::Value row,
                              kernel::Value column)>
      epilogue;

  // For a b that is mapped: of a column of the product, its element at step `tile * block_k + line` of k.
  // Called for a column once, and for its steps in the loop.
  struct Element {
    kernel::Value index;   // in the buffer b
    kernel::Value inside;  // where guarded: whether it is there; it is zero otherwise
    bool guarded = false;
  };
  using Column = std::function<Element(kernel::Value tile, kernel::Value line)>;
  std::function<Column(kernel::Builder&, kernel::Value batch, kernel::Value column)> column;
  uint32_t beside =
      1;  // columns, from each multiple of that on, whose elements lie side by side at every step
  // From an element to that of the next step of the same tile, which is there where this one is; 0: no one
  // distance.
  uint64_t apart = 0;
  // Where a result goes, in place of one matrix after the other, and how many columns, from each multiple of
  // that on, lie side by side there.
  std::function<kernel::Value(kernel::Builder&, kernel::Value batch, kernel::Value row, kernel::Value column)>
      place;
  uint32_t run = 0;

  // Whether anything is done at all, in a matrix of the batch; declared after all other parameters, also
  // where k is split.
  std::function<void(kernel::Builder&)> declare_condition;
  std::function<kernel::Value(kernel::Builder&, kernel::Value batch)> condition;
};

// Sums of f16, bf16 and f32 are f32, those of f64 are f64, those of integers have at least 32 bits.
kernel::Type accumulator_type(const MatmulShape& shape);

MatmulTiling choose_tiling(const MatmulShape& shape, const Limits& limits);
// The same by an estimate of the time that each takes: of sums of 32 bits, by multiplying and adding.
MatmulTiling tiling_by_estimate(const MatmulShape& shape, const Limits& limits);
// As many splits of k as the tiling has, but none without work.
uint32_t fitting_splits(const MatmulShape& shape, const MatmulTiling& tiling);

// Parameters: a, b, c and those of the hooks; with split_k > 1: a, b and the workspace, and no hooks but the
// condition.
// Throws bad_argument for a shape or a tiling that cannot work.
kernel::Program matmul_program(const MatmulShape& shape, const MatmulTiling& tiling,
                               const MatmulHooks& hooks = {});
uint64_t matmul_teams(const MatmulShape& shape, const MatmulTiling& tiling);

// For split_k > 1. Parameters: the workspace, c and those of the hooks.
kernel::Program matmul_sum_program(const MatmulShape& shape, const MatmulTiling& tiling,
                                   const MatmulHooks& hooks = {});
uint64_t matmul_sum_teams(const MatmulShape& shape);
uint64_t matmul_workspace_bytes(const MatmulShape& shape, const MatmulTiling& tiling);  // 0: none is needed

// "tiled:128x128x16:8x8:s2:p4:g8:k1:z8", and back; parse throws bad_argument. z is w where lanes are not
// interleaved; an a at the end is for `ahead`, an e for `early`, an l for `linear`.
std::string to_text(const MatmulTiling& tiling);
MatmulTiling tiling_from_text(const std::string& text);

}  // namespace adit::ops
