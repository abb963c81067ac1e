// What matrices are divided by before they are factored, so that no square of theirs overflows or vanishes.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops {

// A team a row: its largest number, of those up to the diagonal where `lower`, infinity where one is none.
// Buffers: x [m, n], largest.
kernel::Program largest_of_rows(const FactorPlan& plan, bool lower);

// A team a matrix: what it is divided by, NaN where a number is not finite. Buffers: largest, scale.
kernel::Program scale_of(const FactorPlan& plan);

}  // namespace adit::ops
