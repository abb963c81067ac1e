// Convolutions on a CPU whose windows are large and whose results are few, as the gradients of kernels: long
// sums, which threads share. Vectors hold images or filters of a group, and where those are few, neighbours
// along a line.
#pragma once

#include <memory>

#include "ops/conv_cut.hpp"

namespace adit::ops {

enum class SumLanes { images, filters };
template <class T>
std::unique_ptr<ConvWay<T>> conv_by_sums(const ConvShape& conv, SumLanes lanes);
// Null where the window goes in long steps.
template <class T>
std::unique_ptr<ConvWay<T>> conv_by_dots(const ConvShape& conv);

}  // namespace adit::ops
