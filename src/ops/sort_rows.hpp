// Sorting short rows in shared memory, one pass.
#pragma once

#include "ops/sort.hpp"

namespace adit::ops {

bool can_sort_in_shared(const SortPlan& plan, const Limits& limits);
Sort sort_in_shared(const SortPlan& plan, const Limits& limits);

}  // namespace adit::ops
