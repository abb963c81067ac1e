// Triangular systems with few right-hand sides in one launch, for devices whose teams may wait for each
// other.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops {

// Tensors as of triangular_by_panels.
bool has_triangular_chain(const TriangularPlan& plan, const Limits& limits);
Factor triangular_chain(const TriangularPlan& plan, const Limits& limits);

}  // namespace adit::ops
