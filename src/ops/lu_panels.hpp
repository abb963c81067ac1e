// How wide the panels of an LU factorisation are, and who factors them.
#pragma once

#include <adit/device.hpp>

#include "ops/factor_passes.hpp"

namespace adit::ops {

struct LuPanels {
  uint32_t columns = 0;  // 0: not by hand
  uint32_t lanes = 0, subgroup = 0;
};
LuPanels lu_panels_by_hand(const FactorPlan& plan, const Limits& limits);
// The same buffers and numbers as the panel of lu.cpp.
kernel::Program lu_panel_by_hand(const FactorPlan& plan, const LuPanels& panels);

}  // namespace adit::ops
