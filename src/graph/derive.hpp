// What grad, jvp and vmap are made of: walks over graphs that build other graphs.
#pragma once

#include <string_view>
#include <vector>

#include <adit/ops.hpp>

#include "graph/trace.hpp"

namespace adit::graph {

inline bool differentiable(DType type) { return is_float(type) || is_complex(type); }
// A fresh name for x: what a derivative is taken with respect to.
Tensor alias(const Tensor& x);
inline Tensor zeros_for(const Slot& slot) { return zeros(slot.shape, slot.type); }

// Gradients of `inputs` from the gradients of `results`; an empty Tensor is zero, on both sides.
Tensors pull_back(const Tensors& results, const Tensors& cotangents, const Tensors& inputs);
// The same; the results become other nodes of the same values where those share work with the gradients.
Tensors pull_back_sharing(Tensors& results, const Tensors& cotangents, const Tensors& inputs);
// Tangents of `results` from the tangents of `inputs`; an empty Tensor is zero, on both sides.
Tensors push_forward(const Tensors& results, const Tensors& inputs, const Tensors& tangents);

// The same for a function inside a graph.
// Gradients of those arguments that are wanted, in order; empty: zero.
Tensors pull_back(const Subgraph& f, const Tensors& arguments, const Tensors& cotangents,
                  const std::vector<bool>& wanted);
// The results, and their tangents.
std::pair<Tensors, Tensors> push_forward(const Subgraph& f, const Tensors& arguments,
                                         const Tensors& tangents);

// A value while a graph is rebuilt for many examples at once: with the batch as its leading axis, or the same
// for all.
struct Lane {
  Tensor value;
  bool batched = false;
};
using Lanes = std::vector<Lane>;
// The roots with `from` (placeholders, unbatched) replaced by lanes.
Lanes batch_graph(const Tensors& roots, const Tensors& from, const Lanes& to, int64_t size);
// x with a leading axis of `size`; x itself where it has one already.
Tensor with_batch(const Lane& x, int64_t size);
// x with axis `from` moved to place `to`.
Tensor move_axis(const Tensor& x, int from, int to);

// dot keeps an operand that is the same for all as it is: one larger product instead of many.
Tensor batch_dot(const Node& node, const Lane& a, const Lane& b, int64_t size);
// conv with a kernel that is the same for all has a larger batch, with such an x more filters.
Tensor batch_conv(const Node& node, const Lane& x, const Lane& w, int64_t size);

// --- Control nodes; they have several results, each picked by an `item` node ---------------------------
// Gradients of the operands from those of the results; empty: zero. Only wanted ones are computed.
struct ControlGradients {
  Tensors gradients;
  Tensors results;  // where it is not empty: the node's results once more, as a by-product of the gradients
};
ControlGradients control_vjp(const Tensor& node, const Tensors& operands, const Tensors& cotangents,
                             const std::vector<bool>& wanted);
// The results for operands of which some are batched.
Lanes control_batch(const Tensor& node, const Lanes& operands, int64_t size);
Tensors control_jvp(const Tensor& node, const Tensors& operands, const Tensors& tangents);

// The node behind the gradient of while_loop, in terms of functions; rows/control.cpp says what it computes.
Tensors while_vjp(const Function& condition, const Function& body, const Function& backward,
                  const Tensors& state, const Tensors& carry, int64_t length = 0);

}  // namespace adit::graph
