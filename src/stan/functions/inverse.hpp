// Inverses of general square matrices, which other functions need.
#pragma once

#include <adit/tensor.hpp>

namespace adit::stan {

// [..., n, n], without derivatives; a singular one's is no number.
Tensor inverse_of(const Tensor& matrices);

}  // namespace adit::stan
