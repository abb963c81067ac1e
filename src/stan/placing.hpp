// Rows that are put into a table.
#pragma once

#include <vector>

#include <adit/ops.hpp>

namespace adit::stan {

// Rows of `part` [count, block] at their places in `table` [rows, block]; the last one stays where several
// have the same.
Tensor rows_placed(const Tensor& table, const Tensor& part, const std::vector<int64_t>& places);

}  // namespace adit::stan
