// Eigenvalues and eigenvectors of symmetric matrices, for what is made of them.
#pragma once

#include "stan/functions/lanes.hpp"

namespace adit::stan {

// [..., n] ascending, with derivatives.
Tensor symmetric_eigenvalues(const Tensor& matrices);
// [..., n, n] as columns in the same order, with derivatives; of equal values none are taken.
Tensor symmetric_eigenvectors(const Tensor& matrices);

}  // namespace adit::stan
