// Rewrites a graph before it is cut into kernels: equal work once, names away, some ops in terms of others.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// Whether the device has a kernel for a node that could be made of others too.
using HasKernel = std::function<bool(const graph::Node&)>;
// The same results from fewer nodes. Inputs and numbers keep their nodes.
std::vector<Tensor> simplify(std::span<const Tensor> roots, const HasKernel& has_kernel = {});

}  // namespace adit::lower
