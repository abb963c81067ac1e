// QR on a GPU, by panels of columns: a panel's rows lie in registers; what is right of it is
// reflected by all of its reflections at once.
#pragma once

#include <adit/device.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops {

bool has_qr_by_hand(const FactorPlan& plan, const Limits& limits);
// The tensors of qr(). `most_rows`: those of a block at most, a multiple of 32; 0: as many as are fast.
Factor qr_by_hand(const FactorPlan& plan, uint32_t columns, const Limits& limits, uint32_t most_rows = 0);

}  // namespace adit::ops
