// The rows of updates at coordinates. Their kernels are in src/ops; here are the rules.
//
// Operands: x, indices [n, k] of any integer type with coordinates along `axes` (in order), updates [n, ...]
// of x's type, whose other axes are the axes of x that are not indexed. Coordinates outside are clamped.
// Updates count in order: repeated places add up, or the last one stays.
#include <fmt/format.h>
#include <limits>

#include "graph/lone_update.hpp"
#include "graph/op.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph {

namespace {

using Operands = std::vector<Tensor>;

DType updated_type(std::string_view op, const Operands& operands, const Attributes&) {
  const DType type = operands[0].dtype();
  if (!is_integer(operands[1].dtype()))
    fail(op, "indices", fmt::format("expected integers, got {}", name_of(operands[1].dtype())));
  if (operands[2].dtype() != type)
    fail(op, "updates", fmt::format("expected {}, got {}", name_of(type), name_of(operands[2].dtype())));
  return type;
}

Shape indexed_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const Tensor &x = operands[0], &indices = operands[1], &updates = operands[2];
  const Axes& axes = std::get<AxisList>(attributes).axes;
  if (indices.rank() != 2)
    fail(op, "indices", fmt::format("expected two axes, got {}", to_string(indices.shape())));
  check_coordinates(op, x, indices, axes);
  Shape expected{indices.shape()[0]};
  for (const int64_t axis : other_axes(axes, x.rank())) expected.push_back(x.shape()[static_cast<int>(axis)]);
  if (updates.shape() != expected)
    fail(op, "updates", fmt::format("expected {}, got {}", to_string(expected), to_string(updates.shape())));
  return x.shape();
}

Operands indexed_add_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  return {g, {}, gather(g, operands[1], node_of(result).as<AxisList>().axes)};
}

// An update that a later one replaced has no influence. Who came last is found by putting the numbers of the
// updates where they go and looking which number stayed.
Operands indexed_put_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Tensor &x = operands[0], &indices = operands[1], &updates = operands[2];
  const Axes& axes = node_of(result).as<AxisList>().axes;
  const int64_t count = indices.shape()[0];
  const Tensor to_x = indexed_put(g, indices, zeros_like(updates), axes);
  if (lone_update(node_of(result))) return {to_x, {}, gather(g, indices, axes)};

  Shape places;
  for (const int64_t axis : axes) places.push_back(x.shape()[static_cast<int>(axis)]);
  const DType type = count > std::numeric_limits<int32_t>::max() ? DType::i64 : DType::i32;
  const Tensor numbers = iota({count}, type);
  const Tensor last = gather(indexed_put(zeros(places, type), indices, numbers), indices);
  const Tensor stayed = broadcast_in(equal(last, numbers), updates.shape(), {0});
  return {to_x, {}, select(stayed, gather(g, indices, axes), zeros_like(updates))};
}

// All updates of all batches in one list, with the number of the batch as a coordinate.
Tensor batch_indexed(const Node& node, const Operands& operands, int64_t size) {
  const Tensor &x = operands[0], &indices = operands[1], &updates = operands[2];
  const int64_t count = size * indices.dim(1);
  Shape flat = updates.shape();
  flat.erase(0);
  flat[0] = count;
  Axes axes = shifted(node.as<AxisList>().axes);
  axes.insert(0, 0);
  return make(
      node.op,
      {x, reshape(with_batch_coordinate(indices), {count, indices.dim(2) + 1}), reshape(updates, flat)},
      AxisList{axes});
}

}  // namespace

std::optional<LoneUpdate> lone_update(const Node& updates) {
  const Tensor &x = updates.operands[0], &indices = updates.operands[1];
  const Axes& axes = updates.as<AxisList>().axes;
  if (indices.rank() != 2) return {};
  const int64_t count = indices.shape()[0];
  if (count == 1) return LoneUpdate{};
  const Node& columns = node_of(indices);
  if (columns.op != Op::concatenate || columns.computed || columns.as<OneAxis>().axis != 1) return {};
  int column = 0;
  for (const Tensor& next : columns.operands) {
    const Node& numbers = node_of(next);
    const bool counts = numbers.op == Op::iota && !numbers.computed && numbers.as<OneAxis>().axis == 0 &&
                        size_of(next.dtype()) >= 4;
    const auto axis = static_cast<int>(axes[column]);
    if (counts && count <= x.shape()[axis]) return LoneUpdate{axis};
    column += static_cast<int>(next.shape()[1]);
  }
  return {};
}

std::vector<Row> index_rows() {
  const auto row = [](Op op, std::string_view name, Vjp vjp, Bound bound, std::string_view doc) {
    return Row{.op = op,
               .name = name,
               .kind = Kind::kernel,
               .arity = 3,
               .types = "any, the same; indices of any integer type",
               .type = updated_type,
               .shape = indexed_shape,
               .vjp = vjp,
               .batch = batch_indexed,
               .bound = bound,
               .cost = 16,
               .doc = doc};
  };
  return {
      row(Op::indexed_add, "indexed_add", indexed_add_vjp, {.note = "one rounding an update"},
          "x with updates added at coordinates; repeated places add up."),
      row(Op::indexed_put, "indexed_put", indexed_put_vjp, {},
          "x with updates put at coordinates; at repeated places the last one stays."),
  };
}

}  // namespace adit::graph
