// Rewrites a graph before it is cut into kernels: equal work once, names away, some ops in terms of others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// What becomes of a convolution with these operands: nothing (no tensor) where it has a kernel of its own.
using ConvRule = std::function<Tensor(const graph::Node& node, const std::vector<Tensor>& operands)>;
// The same results from fewer nodes. Inputs and numbers keep their nodes. Without a rule, convolutions become
// dots over windows.
std::vector<Tensor> simplify(std::span<const Tensor> roots, const ConvRule& rule = {});

}  // namespace adit::lower
