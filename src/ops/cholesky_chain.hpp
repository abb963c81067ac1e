// Cholesky's factor in one launch, for devices whose teams may wait for each other.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops {

// Tensors as of cholesky_by_panels. It pays for devices that have hands, and matrices of many rows.
bool does_cholesky_chain_pay(const FactorPlan& plan, const Limits& limits);
Factor cholesky_chain(const FactorPlan& plan, const Limits& limits);

}  // namespace adit::ops
