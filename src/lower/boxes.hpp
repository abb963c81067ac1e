// Parts of tensors, computed alone.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

struct Box {
  Tensor of;
  Dims starts;
  Shape lengths;
  std::pair<const graph::Node*, std::vector<int64_t>> key() const;
};
bool operator<(const Box& a, const Box& b);

// The elements of a box: of operations on elements those on boxes of their operands, so that the numbers of
// one column, say, are a loop without choices between columns.
class Boxes {
 public:
  Tensor operator()(const Tensor& x, const Dims& starts, const Shape& lengths);
  // The same of what is a slice already, or a reshaped one; others as they are.
  Tensor of_slice(const Tensor& x);

 private:
  Tensor made_of_parts(const Box& box);
  std::map<Box, Tensor>
      known_;  // boxes hold their tensors: the place of a node that is gone may be another's
};

}  // namespace adit::lower
