// Running results of short rows, some lanes of a subgroup each.
#pragma once

#include "ops/cumulative.hpp"

namespace adit::ops {

// Whether a lane has few enough elements of such rows.
bool is_short_row(uint64_t length, uint32_t subgroup);

CumulativePass short_rows(const CumulativePlan& plan);

}  // namespace adit::ops
