// eigh: to tridiagonal form (tridiagonal.hpp), by division (tridiagonal_merge.hpp), and
// back.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops {

// Tensors as of eigh_by_rotations.
bool has_eigh_tridiagonal(const FactorPlan& plan, const Limits& limits);
Factor eigh_tridiagonal(const FactorPlan& plan, const Limits& limits);

}  // namespace adit::ops
