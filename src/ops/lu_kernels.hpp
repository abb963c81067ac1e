// Kernels of LU with row exchanges on a GPU; lu_rows.cpp tells how they go together.
#pragma once

#include "ops/factor_passes.hpp"
#include "ops/number_vectors.hpp"

namespace adit::ops::lu_rows {

struct PanelSizes {
  uint32_t columns = 0, subgroup = 0, lanes = 0, each = 0;  // each: rows of a lane
  bool alone = false;                                       // a panel that is the whole matrix
  // That share a matrix's rows: an argument, and the most of all panels, which the kernel has room for.
  uint32_t teams = 1, most_teams = 1;
  uint32_t subgroups() const { return lanes / subgroup; }
};
// Buffers from, to, permutation, sign, the list of rows left, the next such list; numbers start, n. A team a
// matrix, or some, which have further arguments (lu_told.hpp).
kernel::Program panel_program(const FactorPlan& plan, const PanelSizes& sizes);
uint64_t panel_shared_bytes(const FactorPlan& plan, const PanelSizes& sizes);

struct RestSizes {
  uint32_t columns = 0;  // of the panel
  uint32_t tile = 0;     // rows and columns of a team
  uint32_t lanes() const { return tile * tile / 16; }
};
// Buffers from, work, factors, permutation, the list; numbers the panel's start, the wide panel's end, n.
kernel::Program rest_program(const FactorPlan& plan, const RestSizes& sizes);
uint64_t rest_teams(const RestSizes& sizes, uint32_t n, uint32_t end,
                    uint32_t wide_end);  // `end`: the panel's
uint64_t rest_shared_bytes(const FactorPlan& plan, const RestSizes& sizes);

struct UpperSizes {
  uint32_t rows = 0, columns = 0;  // of a tile
  uint32_t lanes() const { return rows * columns / 16; }
};
// Rows of u right of a wide panel. Buffers from, work, factors, permutation; numbers the wide panel's start
// and end, n. A team some columns of a matrix.
kernel::Program upper_program(const FactorPlan& plan, const UpperSizes& sizes);

// A matrix of n columns in memory, in vectors where its rows begin at a multiple of those.
struct RowAccess {
  kernel::Value first, n;
  kernel::Value at(kernel::Value row, kernel::Value column) const {
    return first + wide(row) * wide(n) + wide(column);
  }
  static kernel::Value wide(kernel::Value x) { return kernel::convert(x, kernel::Type::u64); }
};

}  // namespace adit::ops::lu_rows
