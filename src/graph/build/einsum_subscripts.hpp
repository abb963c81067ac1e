// The subscripts of einsum, read and held against shapes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <adit/shape.hpp>

#include "graph/build/einsum_order.hpp"

namespace adit::graph {

// Labels are numbers: 0 to 51 for A to Z and a to z, 52 on for the axes of "...", counted from the last one.
struct Subscripts {
  std::vector<std::vector<int>> operands;  // a label for each axis
  std::vector<int> result;
  std::vector<int64_t> extents;  // of all labels; 1 of those that do not occur
};

// Throws `[einsum] subscripts: ...` or names an operand.
Subscripts read_subscripts(std::string_view text, std::span<const Shape> shapes);

}  // namespace adit::graph
