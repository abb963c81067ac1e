// What the rows of view.cpp are made of: meanings, derivatives and batching rules of the index maps.
//
// Operands that are scalars (starts of slices, the value of a padding) gain leading axes when a node is
// batched. Their shape is then a prefix of the result's shape, and they are read at the result's first
// coordinates.
#pragma once

#include "graph/row.hpp"

namespace adit::graph {

namespace view_meaning {
Scalar pass(Reader& reader, const Node& node, const Index& at);
Scalar iota(Reader& reader, const Node& node, const Index& at);
Scalar reshape(Reader& reader, const Node& node, const Index& at);
Scalar transpose(Reader& reader, const Node& node, const Index& at);
Scalar broadcast(Reader& reader, const Node& node, const Index& at);
Scalar slice(Reader& reader, const Node& node, const Index& at);
Scalar dynamic_slice(Reader& reader, const Node& node, const Index& at);
Scalar put_slice(Reader& reader, const Node& node, const Index& at);
Scalar pad(Reader& reader, const Node& node, const Index& at);
Scalar concatenate(Reader& reader, const Node& node, const Index& at);
Scalar reverse(Reader& reader, const Node& node, const Index& at);
Scalar take_along_axis(Reader& reader, const Node& node, const Index& at);
Scalar gather(Reader& reader, const Node& node, const Index& at);
}  // namespace view_meaning

namespace view_vjp {
using Operands = std::vector<Tensor>;
Operands reshape(const Tensor& result, const Operands& operands, const Tensor& g);
Operands transpose(const Tensor& result, const Operands& operands, const Tensor& g);
Operands broadcast(const Tensor& result, const Operands& operands, const Tensor& g);
Operands slice(const Tensor& result, const Operands& operands, const Tensor& g);
Operands dynamic_slice(const Tensor& result, const Operands& operands, const Tensor& g);
Operands put_slice(const Tensor& result, const Operands& operands, const Tensor& g);
Operands pad(const Tensor& result, const Operands& operands, const Tensor& g);
Operands concatenate(const Tensor& result, const Operands& operands, const Tensor& g);
Operands reverse(const Tensor& result, const Operands& operands, const Tensor& g);
Operands take_along_axis(const Tensor& result, const Operands& operands, const Tensor& g);
Operands gather(const Tensor& result, const Operands& operands, const Tensor& g);
}  // namespace view_vjp

namespace view_batch {
using Operands = std::vector<Tensor>;
Tensor reshape(const Node& node, const Operands& operands, int64_t size);
Tensor transpose(const Node& node, const Operands& operands, int64_t size);
Tensor broadcast(const Node& node, const Operands& operands, int64_t size);
Tensor slice(const Node& node, const Operands& operands, int64_t size);
Tensor dynamic_slice(const Node& node, const Operands& operands, int64_t size);
Tensor put_slice(const Node& node, const Operands& operands, int64_t size);
Tensor pad(const Node& node, const Operands& operands, int64_t size);
Tensor concatenate(const Node& node, const Operands& operands, int64_t size);
Tensor reverse(const Node& node, const Operands& operands, int64_t size);
Tensor take_along_axis(const Node& node, const Operands& operands, int64_t size);
Tensor gather(const Node& node, const Operands& operands, int64_t size);
}  // namespace view_batch

// Axes of the operands of a batched node.
Axes shifted(const Axes& axes);
// The axes from 0 to rank that `axes` leaves out.
Axes other_axes(const Axes& axes, int rank);
// Coordinates [..., k] of a batched node, with the number of the batch as one more coordinate in front.
Tensor with_batch_coordinate(const Tensor& indices);

// Checks that gather and indexed_* share: an integer tensor whose last axis holds coordinates along `axes`.
void check_coordinates(std::string_view op, const Tensor& x, const Tensor& indices, const Axes& axes);

}  // namespace adit::graph
