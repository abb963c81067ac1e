// sort: the elements along an axis in order, and where each came from.
#include <fmt/format.h>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "graph/trace.hpp"

namespace adit::graph {

namespace sorting {
namespace {

using Operands = std::vector<Tensor>;

std::vector<Slot> results(std::string_view op, const Operands& x, const Attributes&) {
  if (is_complex(x[0].dtype()))
    fail(op, "x", fmt::format("expected numbers with an order, got {}", name_of(x[0].dtype())));
  return {{x[0].dtype(), x[0].shape()}, {DType::i64, x[0].shape()}};
}

// An element's gradient is that of the place it went to: what came from place[i] was sent to i.
Operands vjp(const Operands& parts, const Operands&, const Operands& g) {
  if (!g[0]) return {Tensor()};
  const int axis = node_of(node_of(parts[0]).operands[0]).as<SortAttributes>().axis;
  // Sorting the places themselves gives the way back, without one lane writing where another does.
  const Tensor back = make_several(Op::sort, {parts[1]}, SortAttributes{axis, false})[1];
  return {take_along_axis(g[0], back, axis)};
}

Tensor batch(const Node& node, const Operands& operands, int64_t) {
  SortAttributes attributes = node.as<SortAttributes>();
  ++attributes.axis;
  return node_of(make_several(node.op, operands, attributes)[0]).operands[0];
}

}  // namespace
}  // namespace sorting

std::vector<Row> sort_rows() {
  Row row{.op = Op::sort,
          .name = "sort",
          .kind = Kind::kernel,
          .arity = 1,
          .types = "integer, float: same, and i64",
          .batch = sorting::batch,
          .cost = 100,
          .doc =
              "Elements along an axis in order, and their places before. Equal ones keep their order; NaN is "
              "larger than any number, -0 equals 0 (of values alone it stands on the side of the negative "
              "ones)."};
  row.results = sorting::results;
  row.several_vjp = sorting::vjp;
  return {row};
}

}  // namespace adit::graph
