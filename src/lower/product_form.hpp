// A dot as a batch of matrix products.
#pragma once

#include <optional>

#include "graph/node.hpp"

namespace adit::lower {

struct ProductForm {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  bool transpose_a = false, transpose_b = false;
};

// None where the axes are not [batch, rows, contracted] or [batch, contracted, rows] in this order.
std::optional<ProductForm> product_form(const graph::Node& node);
// The same dot whose operands are in that order: folds transposes into it, adds some where it must.
Tensor in_product_form(const graph::Node& node, const std::vector<Tensor>& operands);

}  // namespace adit::lower
