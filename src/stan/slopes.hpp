// Slopes of functions of a vector, and inverses of small matrices whose diagonal leads.
#pragma once

#include <functional>

#include <adit/ops.hpp>

namespace adit::stan {

// df/dy [n, n] of f [n] at y [n]; of each lane [lanes, n, n] where y leads with lanes, none of which depends
// on another's.
Tensor slopes_of(const std::function<Tensor(const Tensor& y)>& f, const Tensor& y);

Tensor identity_of(int64_t n);
// Gauss and Jordan without a search for pivots: for matrices whose diagonal leads, and positive definite
// ones.
Tensor leading_inverse(const Tensor& matrices);

}  // namespace adit::stan
