// QR of complex matrices on a GPU, by panels of columns: a team factors one in memory, and what is right of
// it is reflected by all of its reflections at once, 1 - v t v^H.
#pragma once

#include <adit/device.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops {

bool has_qr_by_columns(const FactorPlan& plan, const Limits& limits);
// The tensors of qr().
Factor qr_by_columns(const FactorPlan& plan, uint32_t columns, const Limits& limits);

}  // namespace adit::ops
