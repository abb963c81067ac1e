// Sums that are only added to each other, as one sum: a + b of sum(x) + sum(y) is made element by element.
// The derivative with respect to a number that many terms share is a sum for each of them; one pass of lanes
// then joins one total instead of thirty. Rounds differently, so it is for densities, not for all graphs.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

std::vector<Tensor> join_sums(std::span<const Tensor> roots);

}  // namespace adit::lower
