// Rewrites a graph before it is cut into kernels: equal work once, names away, some ops in terms of others.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// The same results from fewer nodes. Inputs and numbers keep their nodes.
std::vector<Tensor> simplify(std::span<const Tensor> roots);

}  // namespace adit::lower
