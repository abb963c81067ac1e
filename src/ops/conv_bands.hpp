// Convolutions on a CPU, by bands of results: lines of x are put with their padding into a place where each
// step of the sums reads at one distance from the result, for all results of a line. Vectors hold filters, or
// neighbours along a line.
#pragma once

#include <memory>

#include "ops/conv_cut.hpp"

namespace adit::ops {

enum class Lanes { filters, columns, places };  // places: of lines one after the other, with their ends

// Null where it cannot be done so.
template <class T>
std::unique_ptr<ConvWay<T>> conv_by_bands(const ConvShape& conv, Lanes lanes);

}  // namespace adit::ops
