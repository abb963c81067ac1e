// Convolutions on a CPU whose filters are few, or whose results lie mostly in the padding, as gradients of
// convolutions with large windows: each place of x is multiplied by all elements of the window, as a matrix
// product over the channels, and the products are added to the results that they belong to.
#pragma once

#include <memory>

#include "ops/conv_cut.hpp"

namespace adit::ops {

// Null where windows go in steps.
template <class T>
std::unique_ptr<ConvWay<T>> conv_by_places(const ConvShape& conv);

}  // namespace adit::ops
