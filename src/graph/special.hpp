// Special functions that densities are made of.
#pragma once

#include <adit/tensor.hpp>

namespace adit {

Tensor erfcx(const Tensor& x);  // exp(x^2) erfc(x)

}  // namespace adit
