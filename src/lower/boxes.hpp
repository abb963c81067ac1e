// Parts of tensors, computed alone.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// The elements of a box: of operations on elements those on boxes of their operands, so that the numbers of
// one column, say, are a loop without choices between columns.
class Boxes {
 public:
  Tensor operator()(const Tensor& x, const Dims& starts, const Shape& lengths);
  // The same of what is a slice already, or a reshaped one; others as they are.
  Tensor of_slice(const Tensor& x);

 private:
  Tensor made(const Tensor& x, const Dims& starts, const Shape& lengths);
  Tensor of_broadcast(const Tensor& x, const Dims& starts, const Shape& lengths);
  Tensor of_joined(const Tensor& x, const Dims& starts, const Shape& lengths);
  Tensor of_reshaped(const Tensor& x, const Dims& starts, const Shape& lengths);

  struct Known {
    Tensor of, box;  // both are held: the place of a node that is gone may be another's
  };
  std::map<std::pair<const graph::Node*, std::vector<int64_t>>, Known> known_;
};

}  // namespace adit::lower
