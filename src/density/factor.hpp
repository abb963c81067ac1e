// Cholesky factors and triangular systems in a chain's memory: matrices of a model are small.
#pragma once

#include <functional>

#include "density/chain.hpp"
#include "graph/node.hpp"

namespace adit::sampling {

using ReadElement = std::function<Value(Value)>;                    // by row-major number
using InScope = std::function<void(const std::function<void()>&)>;  // what is read inside stays inside

// The factor of one matrix of n rows where there is no memory beside it; a team leaves what lies above the
// diagonal as it is.
void write_cholesky(Chain& chain, int64_t n, const ReadElement& x, const Vector& to);
// `turned`: memory for one matrix of the node, where a team wants it.
bool wants_turned(const graph::Node& node);
void write_cholesky(Chain& chain, const graph::Node& node, const ReadElement& x, const Vector& to,
                    const Vector& turned, bool on_cpu, const InScope& scope);
// One of its matrices by a CPU's team (factor_blocks.cpp).
void write_cholesky_by_blocks(Chain& chain, int64_t n, Value first, const ReadElement& x, const Vector& to,
                              const Vector& turned, const InScope& scope);
// The gradient of the matrix from the factor l and its gradient g, of which lower triangles are read
// (factor_vjp.cpp).
void write_cholesky_vjp(Chain& chain, const graph::Node& node, const ReadElement& l, const ReadElement& g,
                        const Vector& to, const InScope& scope);
void write_triangular(Chain& chain, const graph::Node& node, const ReadElement& a, const ReadElement& b,
                      const Vector& to, bool on_cpu, const InScope& scope);

}  // namespace adit::sampling
