// argmax and argmin in terms of other operations.
#pragma once

#include "graph/node.hpp"

namespace adit::lower {

// The lowest (or highest) place where x equals its maximum, or is not a number.
Tensor argument_by_equality(const graph::Node& node, const Tensor& x);

// Long rows in two levels: which block has the maximum, and where it lies in there. Row by row that goes
// through memory once, and numbers places for one block alone. No tensor where rows are short or lie apart.
Tensor argument_by_blocks(const graph::Node& node, const Tensor& x);

}  // namespace adit::lower
