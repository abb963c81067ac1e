// Rewrites a graph before it is cut into kernels: equal work once, names away, some ops in terms of others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// Attention by products, for who has no kernel of it.
Tensor lowered_attention(const graph::Node& node, const std::vector<Tensor>& operands);
// What becomes of a node that could be made of others too, a convolution or attention: nothing (no tensor)
// where it has a kernel of its own.
using Lowering = std::function<Tensor(const graph::Node& node, const std::vector<Tensor>& operands)>;
// The same results from fewer nodes. Inputs and numbers keep their nodes. Without a lowering, convolutions
// become dots over windows, and attention products.
std::vector<Tensor> simplify(std::span<const Tensor> roots, const Lowering& lowering = {});

}  // namespace adit::lower
