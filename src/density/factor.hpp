// Cholesky factors and triangular systems in a chain's memory: matrices of a model are small.
#pragma once

#include <functional>

#include "density/chain.hpp"
#include "graph/node.hpp"

namespace adit::sampling {

using ReadElement = std::function<Value(Value)>;                    // by row-major number
using InScope = std::function<void(const std::function<void()>&)>;  // what is read inside stays inside

void write_cholesky(Chain& chain, const graph::Node& node, const ReadElement& x, const Vector& to,
                    const InScope& scope);
void write_triangular(Chain& chain, const graph::Node& node, const ReadElement& a, const ReadElement& b,
                      const Vector& to, const InScope& scope);

}  // namespace adit::sampling
