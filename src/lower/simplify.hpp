// Rewrites a graph before it is cut into kernels: equal work once, names away, some ops in terms of others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// What becomes of a node that could be made of others too, a convolution, say: nothing (no tensor) where it
// has a kernel of its own.
using Lowering = std::function<Tensor(const graph::Node& node, const std::vector<Tensor>& operands)>;
// For who has no such kernels: convolutions become dots over windows, attention products, the gradient of
// cholesky triangular systems.
Tensor lowered(const graph::Node& node, const std::vector<Tensor>& operands);
// The same results from fewer nodes. Inputs and numbers keep their nodes. Without a lowering by `lowered`.
std::vector<Tensor> simplify(std::span<const Tensor> roots, const Lowering& lowering = {});

}  // namespace adit::lower
