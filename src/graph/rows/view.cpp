// The rows of the index maps. A result's element is an element of an operand, so all types pass through and
// every result is exact.
#include "graph/rows/view.hpp"

#include <fmt/format.h>

#include "graph/op.hpp"
#include "graph/rows/first.hpp"

namespace adit::graph {

namespace {

using Operands = std::vector<Tensor>;

void expect_type(std::string_view op, std::string_view argument, const Tensor& x, DType type) {
  if (x.dtype() != type)
    fail(op, argument, fmt::format("expected {}, got {}", name_of(type), name_of(x.dtype())));
}

void expect_integers(std::string_view op, std::string_view argument, const Tensor& x) {
  if (!is_integer(x.dtype()))
    fail(op, argument, fmt::format("expected integers, got {}", name_of(x.dtype())));
}

DType slice_type(std::string_view op, const Operands& operands, const Attributes&) {
  expect_type(op, "piece", operands[1], operands[0].dtype());
  for (size_t k = 2; k < operands.size(); ++k) expect_integers(op, "starts", operands[k]);
  return operands[0].dtype();
}

DType pad_type(std::string_view op, const Operands& operands, const Attributes&) {
  expect_type(op, "value", operands[1], operands[0].dtype());
  return operands[0].dtype();
}

DType concatenate_type(std::string_view op, const Operands& operands, const Attributes&) {
  if (operands.empty()) fail(op, "parts", "expected at least one tensor, got none");
  for (const Tensor& part : operands) expect_type(op, "parts", part, operands[0].dtype());
  return operands[0].dtype();
}

DType indexed_type(std::string_view op, const Operands& operands, const Attributes&) {
  expect_integers(op, "indices", operands[1]);
  return operands[0].dtype();
}

Shape transpose_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const Axes& axes = std::get<AxisList>(attributes).axes;
  const Tensor& x = operands[0];
  if (axes.size() != x.rank())
    fail(op, "axes", fmt::format("expected {} axes, got {}", x.rank(), to_string(axes)));
  normal_axes(op, axes, x.rank());
  Shape shape;
  for (const int64_t axis : axes) shape.push_back(x.shape()[static_cast<int>(axis)]);
  return shape;
}

Shape put_slice_shape(std::string_view op, const Operands& operands, const Attributes&) {
  const Tensor &x = operands[0], &piece = operands[1];
  if (piece.rank() != x.rank())
    fail(op, "piece", fmt::format("expected rank {}, got {}", x.rank(), to_string(piece.shape())));
  for (int axis = 0; axis < x.rank(); ++axis)
    if (piece.shape()[axis] > x.shape()[axis])
      fail(op, "piece",
           fmt::format("expected extents of at most {}, got {}", to_string(x.shape()),
                       to_string(piece.shape())));
  return x.shape();
}

// low + the operand with `interior` places between its elements + high.
int64_t padded_extent(std::string_view op, int axis, int64_t extent, const PadAttributes& padding) {
  const int64_t low = padding.low[axis], high = padding.high[axis], interior = padding.interior[axis];
  if (interior < 0)
    fail(op, "padding",
         fmt::format("expected an interior of at least 0 along axis {}, got {}", axis, interior));
  int64_t padded = 0;
  const bool beyond = __builtin_mul_overflow(std::max<int64_t>(extent - 1, 0), interior, &padded) ||
                      __builtin_add_overflow(padded, extent, &padded) ||
                      __builtin_add_overflow(padded, low, &padded) ||
                      __builtin_add_overflow(padded, high, &padded);
  if (beyond || padded < 0)
    fail(op, "padding",
         fmt::format(
             "expected a result with elements along axis {}, got an extent of {} padded by {}, {} and {}",
             axis, extent, low, high, interior));
  return padded;
}

Shape pad_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  Shape shape = operands[0].shape();
  for (int axis = 0; axis < shape.size(); ++axis)
    shape[axis] = padded_extent(op, axis, shape[axis], std::get<PadAttributes>(attributes));
  return shape;
}

Shape concatenate_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const int axis = std::get<OneAxis>(attributes).axis;
  Shape shape = operands[0].shape();
  shape[axis] = 0;
  for (const Tensor& part : operands) {
    Shape others = part.shape();
    if (others.size() == shape.size()) others[axis] = shape[axis];
    if (others != shape)
      fail(op, "parts",
           fmt::format("expected shapes that differ only along axis {}, got {} and {}", axis,
                       to_string(operands[0].shape()), to_string(part.shape())));
    shape[axis] += part.shape()[axis];
  }
  return shape;
}

Shape take_along_axis_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const int axis = std::get<OneAxis>(attributes).axis;
  const Tensor &x = operands[0], &indices = operands[1];
  Shape expected = x.shape();
  if (indices.rank() == x.rank()) expected[axis] = indices.shape()[axis];
  if (indices.shape() != expected)
    fail(op, "indices",
         fmt::format("expected the shape {} except along axis {}, got {}", to_string(x.shape()), axis,
                     to_string(indices.shape())));
  if (x.shape()[axis] == 0 && indices.size() > 0)
    fail(op, "indices", fmt::format("expected none, since axis {} is empty, got {}", axis, indices.size()));
  return indices.shape();
}

Shape gather_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const Tensor &x = operands[0], &indices = operands[1];
  const Axes& axes = std::get<AxisList>(attributes).axes;
  check_coordinates(op, x, indices, axes);
  Shape shape = indices.shape();
  shape.erase(shape.size() - 1);
  for (const int64_t axis : other_axes(axes, x.rank())) shape.push_back(x.shape()[static_cast<int>(axis)]);
  return shape;
}

}  // namespace

void check_coordinates(std::string_view op, const Tensor& x, const Tensor& indices, const Axes& axes) {
  if (indices.rank() == 0 || indices.shape().back() == 0)
    fail(op, "indices",
         fmt::format("expected a last axis of coordinates, got {}", to_string(indices.shape())));
  if (axes.size() != indices.shape().back())
    fail(op, "axes",
         fmt::format("expected {} axes, one a coordinate, got {}", indices.shape().back(), to_string(axes)));
  if (normal_axes(op, axes, x.rank()) != axes)
    fail(op, "axes", fmt::format("expected axes in order, got {}", to_string(axes)));
  for (const int64_t axis : axes)
    if (x.shape()[static_cast<int>(axis)] == 0 && indices.size() > 0)
      fail(op, "indices",
           fmt::format("expected none, since axis {} is empty, got {}", axis, to_string(indices.shape())));
}

std::vector<Row> view_rows() {
  const auto row = [](Op op, std::string_view name, int arity, std::string_view types, TypeRule type,
                      ShapeRule shape, ViewMeaning view, Vjp vjp, Batch batch, int cost,
                      std::string_view doc) {
    return Row{.op = op,
               .name = name,
               .kind = Kind::view,
               .arity = arity,
               .types = types,
               .type = type,
               .shape = shape,
               .view = view,
               .vjp = vjp,
               .batch = batch,
               .cost = cost,
               .doc = doc};
  };
  namespace m = view_meaning;
  namespace v = view_vjp;
  namespace b = view_batch;
  constexpr std::string_view any = "any, the same", indexed = "any, the same; indices of any integer type";
  return {
      row(Op::reshape, "reshape", 1, any, type_of_first, nullptr, m::reshape, v::reshape, b::reshape, 0,
          "The same elements, in row-major order, in another shape."),
      row(Op::transpose, "transpose", 1, any, type_of_first, transpose_shape, m::transpose, v::transpose,
          b::transpose, 1, "Axes in another order: axis i of the result is axis axes[i] of x."),
      row(Op::broadcast, "broadcast", 1, any, type_of_first, nullptr, m::broadcast, v::broadcast,
          b::broadcast, 1, "Repeats x along new axes and along axes of extent 1."),
      row(Op::slice, "slice", 1, any, type_of_first, nullptr, m::slice, v::slice, b::slice, 2,
          "A box out of x, every stride-th element along each axis."),
      row(Op::dynamic_slice, "dynamic_slice", -1, indexed, nullptr, nullptr, m::dynamic_slice,
          v::dynamic_slice, b::dynamic_slice, 4,
          "A box out of x whose start is computed; it is clamped so that the box fits."),
      row(Op::put_slice, "put_slice", -1, indexed, slice_type, put_slice_shape, m::put_slice, v::put_slice,
          b::put_slice, 8, "x with a box replaced by a piece; the start is clamped so that the piece fits."),
      row(Op::pad, "pad", 2, any, pad_type, pad_shape, m::pad, v::pad, b::pad, 6,
          "x with a value before, behind and between its elements; negative numbers cut."),
      row(Op::concatenate, "concatenate", -1, any, concatenate_type, concatenate_shape, m::concatenate,
          v::concatenate, b::concatenate, 8, "Parts one behind the other along an axis."),
      row(Op::reverse, "reverse", 1, any, type_of_first, shape_of_first, m::reverse, v::reverse, b::reverse,
          1, "The elements along some axes in reverse order."),
      row(Op::take_along_axis, "take_along_axis", 2, indexed, indexed_type, take_along_axis_shape,
          m::take_along_axis, v::take_along_axis, b::take_along_axis, 6,
          "Along one axis, the element that an index of the same place names; indices are clamped."),
      row(Op::gather, "gather", 2, indexed, indexed_type, gather_shape, m::gather, v::gather, b::gather, 8,
          "Elements or slices at coordinates, which the last axis of the indices holds; they are clamped."),
  };
}

}  // namespace adit::graph
