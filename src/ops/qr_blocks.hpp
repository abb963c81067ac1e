// The kernels of QR by blocks, on a GPU. Reflections of `width` columns are taken together,
// 1 - v t v^H with v's diagonal ones and t upper triangular. A block is so many rows as a team holds in
// registers; where a panel has more, each block is factored on its own, and then their triangles, one below
// the other, are a shorter panel: a tree, as stable as the reflections of the whole panel are.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops {

// How a team holds a block: lane (g, h) of a subgroup has columns g, g + groups, ... of rows h, h + across,
// ...
struct QrTeam {
  kernel::Type type{};
  bool complex = false;
  uint32_t width = 0;                // columns of a panel
  uint32_t subgroup = 0;             // lanes
  uint32_t groups = 0, across = 0;   // of the lanes of a subgroup: side by side along a row, and down
  uint32_t each = 0;                 // columns of a lane
  uint32_t rows = 0, subgroups = 0;  // rows of a lane; subgroups of the team
  uint32_t step() const { return across * subgroups; }  // from a lane's row to its next
  uint32_t capacity() const { return step() * rows; }
  uint32_t lanes() const { return subgroup * subgroups; }
  uint32_t parts() const { return complex ? 2 : 1; }  // of a number
};

// Columns of a panel of a matrix with so many.
uint32_t qr_width(const FactorPlan& plan);
// Of the smallest team that holds so many rows; with no rows where none does.
QrTeam qr_team(const FactorPlan& plan, uint32_t width, uint32_t rows, const Limits& limits);

// Kernels know no shape, so that all matrices of a type share them; these are the first numbers of each.
struct QrShape {
  uint32_t m = 0, columns = 0;       // of the matrices that a kernel changes
  uint32_t v_rows = 0, t_count = 0;  // of a matrix: of all blocks of all panels
};

// Row r of a block is row `start + (block * rows / width + r / width) * stride + r % width` of the matrix:
// neighbours where the stride is the width, else what the level before made of each of its blocks.
struct QrLevel {
  uint32_t start = 0, stride = 0;
  uint32_t rows = 0, blocks = 0;      // a multiple of 32, of a block; v has zeros where the matrix ends
  uint32_t v_first = 0, t_first = 0;  // of block 0
};

inline std::vector<uint32_t> qr_numbers(const QrShape& shape, const QrLevel& level) {
  return {shape.m,      shape.columns, shape.v_rows, shape.t_count, level.start,
          level.stride, level.rows,    level.blocks, level.v_first, level.t_first};
}

// Buffers from, to (they may be one), v, t; the numbers above. A team a block. The first `width` rows of the
// block become r in `to`, the rest is not written.
kernel::Program qr_panel(const QrTeam& team);
// Buffers from, q, r; the numbers above and q's columns, at most `width`: a matrix that is one block.
kernel::Program qr_whole(const QrTeam& team);

// The same buffers and numbers, and two more: first, tiles. Columns from `first` on become (1 - v t v^H) x,
// or with t^H; a team has a tile of columns of a block. Without t^H two more, for x is the identity to begin
// with and none but these are read: the first `seen` rows of a block, and what is right of and below `known`.
constexpr uint32_t qr_tile = 8;
bool can_apply_qr(const FactorPlan& plan, uint32_t width, const Limits& limits);
kernel::Program qr_apply(const FactorPlan& plan, uint32_t width, bool transposed, const Limits& limits);

}  // namespace adit::ops
