// Cholesky factors and triangular systems in a chain's memory: matrices of a model are small.
#pragma once

#include <functional>

#include "density/chain.hpp"
#include "graph/node.hpp"

namespace adit::sampling {

using ReadElement = std::function<Value(Value)>;                    // by row-major number
using InScope = std::function<void(const std::function<void()>&)>;  // what is read inside stays inside

// The factor of one matrix of n rows, in memory of its own where a team makes it.
void write_cholesky(Chain& chain, int64_t n, const ReadElement& x, const Vector& to);
// The lanes of a team share each matrix of the node, not the matrices.
bool shares_out_rows(const graph::Node& node);
void write_cholesky(Chain& chain, const graph::Node& node, const ReadElement& x, const Vector& to,
                    bool on_cpu, const InScope& scope);
// The gradient of the matrix from the factor l and its gradient g, of which lower triangles are read
// (factor_vjp.cpp).
void write_cholesky_vjp(Chain& chain, const graph::Node& node, const ReadElement& l, const ReadElement& g,
                        const Vector& to, const InScope& scope);
void write_triangular(Chain& chain, const graph::Node& node, const ReadElement& a, const ReadElement& b,
                      const Vector& to, bool on_cpu, const InScope& scope);

}  // namespace adit::sampling
