// The rows of what a graph begins with.
#include "graph/op.hpp"
#include "graph/rows/first.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph {

namespace {

using Operands = std::vector<Tensor>;

Operands pass_gradient(const Tensor&, const Operands&, const Tensor& g) { return {g}; }
Tensor batch_alias(const Node&, const Operands& operands, int64_t) { return make(Op::alias, operands); }

}  // namespace

std::vector<Row> leaf_rows() {
  return {
      {.op = Op::input,
       .name = "input",
       .kind = Kind::leaf,
       .arity = 0,
       .types = "any",
       .cost = 1,
       .doc = "A tensor in memory."},
      {.op = Op::number,
       .name = "number",
       .kind = Kind::leaf,
       .arity = 0,
       .types = "any",
       .cost = 0,
       .doc = "A scalar that the caller gave; another value needs no other kernel."},
      {.op = Op::constant,
       .name = "constant",
       .kind = Kind::leaf,
       .arity = 0,
       .types = "any",
       .cost = 0,
       .doc = "A scalar that is part of the graph."},
      {.op = Op::iota,
       .name = "iota",
       .kind = Kind::leaf,
       .arity = 0,
       .types = "any",
       .view = view_meaning::iota,
       .cost = 1,
       .doc = "0, 1, 2, ... along an axis, or over all elements; integers wrap."},
      {.op = Op::alias,
       .name = "alias",
       .kind = Kind::view,
       .arity = 1,
       .types = "any, the same",
       .type = type_of_first,
       .shape = shape_of_first,
       .view = view_meaning::pass,
       .vjp = pass_gradient,
       .batch = batch_alias,
       .cost = 0,
       .doc = "The same tensor under a new name."},
  };
}

}  // namespace adit::graph
