// How operands of elementwise operations come to one type and one shape.
#pragma once

#include <vector>

#include "graph/row.hpp"

namespace adit::graph {

// Trailing axes meet; an extent of 1 repeats. `argument` names b in the error.
Shape broadcast_shapes(std::string_view op, std::string_view argument, const Shape& a, const Shape& b);
// All with the shape that they broadcast to together.
std::vector<Tensor> broadcast_together(std::string_view op, std::vector<Tensor> operands);
// x, or x as f32 where it is an integer.
Tensor as_float(const Tensor& x);
// One type and one shape, then the node.
Tensor make_matched(Op op, const Tensor& a, const Tensor& b);

}  // namespace adit::graph
