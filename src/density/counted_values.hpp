// Rows of data that differ.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::sampling {

// The first row of each kind, and how many of them there are; more than `most` are not looked for. Rows are
// those of all columns side by side, and differ where a bit does.
struct DistinctRow {
  size_t first = 0;
  int64_t count = 0;
};
std::vector<DistinctRow> distinct_rows(std::span<const Tensor> columns, int64_t most);

}  // namespace adit::sampling
