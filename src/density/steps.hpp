// What a step reads: operations that may answer a change of the last bit by a jump.
#pragma once

#include <span>
#include <unordered_set>

#include "graph/node.hpp"

namespace adit::sampling {

// All nodes of a graph, and of the functions inside of it, that a step depends on: roundings, remainders, and
// whatever makes conditions or whole numbers of numbers. Of a function with a step in it that is everything.
std::unordered_set<const graph::Node*> read_by_steps(std::span<const Tensor> roots);

}  // namespace adit::sampling
