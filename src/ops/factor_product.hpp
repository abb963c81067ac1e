// Matrix products among the passes of a factorisation.
#pragma once

#include "ops/factor_passes.hpp"
#include "ops/matmul.hpp"

namespace adit::ops {

// Appends c = a b of matrices that lie one after the other, with scratch for its parts where the product is
// split; an operation with `own` tensors. `tensors`: a, b, c and those that the hooks declare.
void append_product(Factor& made, size_t own, MatmulShape of, const Limits& limits,
                    std::vector<uint8_t> tensors, const MatmulHooks& hooks = {});

}  // namespace adit::ops
