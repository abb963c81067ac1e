// Cholesky's factor by the lanes of a team, wherever the matrix lies: some columns at a time, so that what is
// read of those before them serves all of them. The house has this one for teams; rows in the registers of a
// subgroup (cholesky_rows.hpp) are what larger or many matrices are made of on devices with shuffles.
#pragma once

#include <functional>

#include <adit/kernel/builder.hpp>

#include "ops/number.hpp"

namespace adit::ops {

struct CholeskyBlocks {
  kernel::Builder& k;
  int64_t n = 0;
  bool complex = false;
  kernel::Type index = kernel::Type::u32;
  int64_t rows_together = 1;  // of a lane: two wait less for themselves than one, where lanes are few
  std::function<Number(kernel::Value row, kernel::Value column)> given = {};
  // The factor's memory, which is not the matrix's. While the work goes on, the columns that are done also
  // lie above the diagonal, turned: lanes read them side by side.
  std::function<Number(kernel::Value row, kernel::Value column)> get = {};
  std::function<void(kernel::Value row, kernel::Value column, Number)> put = {};
  // What is read inside stays inside.
  std::function<void(const std::function<void()>&)> scope = [](const auto& body) { body(); };
};

// Zeros above the diagonal; NaN from the first pivot on that is not positive.
void write_cholesky_blocks(const CholeskyBlocks& m);

// Back-edges of the busiest of `lanes` lanes at most.
uint64_t cholesky_blocks_trips(uint64_t n, uint64_t lanes);

}  // namespace adit::ops
