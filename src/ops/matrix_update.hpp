// c = from - a b on parts of matrices: what is left of a factorisation or of right-hand sides after a block
// of columns or rows. All places are arguments of the kernel, so that one serves every block of every size.
#pragma once

#include <cstdint>

#include <adit/device.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops {

struct UpdatePlan {
  kernel::Type type = kernel::Type::f32;  // f32 or f64, or of the parts of complex numbers
  bool complex = false;
  bool turned_a = false, turned_b = false;  // a matrix lies transposed in memory
  bool hermitian = false;  // b is a's conjugate transpose, and the lower triangle is what is wanted
  bool listed = false;     // a list tells which rows of `a` and `c` the rows are
  // Rows of all matrices and all ranges begin and end at multiples of 16 bytes.
  bool by_vectors = false;
};

// For what is left of a factorisation: its triangle (hermitian), or rows that a list names (listed).
UpdatePlan update_of(const FactorPlan& plan, bool UpdatePlan::*kind);

// Tiles of results, of a team and of a lane.
struct UpdateTiles {
  uint32_t part_m = 0, part_n = 0, lanes_m = 0, lanes_n = 0, depth = 0;
  uint32_t subgroup = 32;
  uint32_t block_m() const { return part_m * lanes_m; }
  uint32_t block_n() const { return part_n * lanes_n; }
  uint32_t lanes() const { return lanes_m * lanes_n; }
};

// Ranges of rows and columns of c, and of the sum, whose length is a multiple of update_depth.
struct UpdateRanges {
  uint32_t first_row = 0, end_row = 0, first_column = 0, end_column = 0, first_step = 0, end_step = 0;
};
// Rows and columns of a matrix in memory.
struct UpdateMatrix {
  uint32_t rows = 0, columns = 0;
};
struct UpdateMatrices {
  UpdateMatrix a, b, c;
};
constexpr uint32_t update_depth = 16;

// The kernels of a plan: one with large tiles and one with small ones, for few results.
class Updates {
 public:
  // Programs go to `made`.
  Updates(Factor& made, const UpdatePlan& plan, const Limits& limits);
  static bool has(const UpdatePlan& plan, const Limits& limits);
  // A pass with buffers a, b, from, c and, where listed, the list.
  void append(Factor& made, const UpdateMatrices& matrices, const UpdateRanges& ranges, uint64_t batch,
              std::vector<uint8_t> buffers) const;

 private:
  bool hermitian_;
  UpdateTiles large_, small_;
  uint32_t first_program_;
};

}  // namespace adit::ops
