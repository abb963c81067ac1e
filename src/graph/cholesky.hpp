// The gradient of cholesky, for who has no kernel of it.
#pragma once

#include <adit/tensor.hpp>

namespace adit::graph {

// Of the matrix, from its factor and the factor's gradient.
Tensor cholesky_vjp_by_solves(const Tensor& l, const Tensor& g);

}  // namespace adit::graph
