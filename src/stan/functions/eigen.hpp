// Eigenvalues of symmetric matrices, for what is made of them.
#pragma once

#include "stan/functions/lanes.hpp"

namespace adit::stan {

// [..., n] ascending, with derivatives.
Tensor symmetric_eigenvalues(const Tensor& matrices);

}  // namespace adit::stan
