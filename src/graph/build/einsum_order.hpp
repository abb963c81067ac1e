// In which order a product of many tensors is best made.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace adit::graph {

// A set of labels, of which there are at most 64: a bit each.
using Labels = uint64_t;

// Pairs of places: the product of both stands at the end of the list, and they leave it. `extents` are of the
// labels; what is neither in the result nor in another operand is summed by the product that sees it last.
std::vector<std::pair<size_t, size_t>> contraction_order(std::span<const Labels> operands, Labels result,
                                                         std::span<const int64_t> extents);

}  // namespace adit::graph
