// Long rows by digits of their keys; sort.hpp says how.
#pragma once

#include "ops/sort.hpp"

namespace adit::ops {

bool can_sort_by_digits(const Limits& limits);
Sort sort_by_digits(const SortPlan& plan, const Limits& limits);

}  // namespace adit::ops
