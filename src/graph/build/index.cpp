// Builders of reads and updates at indices that are tensors.
#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/rows/view.hpp"

namespace adit {

using namespace graph;

namespace {

// None named: the first ones, as many as there are coordinates.
Axes coordinate_axes(const char* op, const Tensor& x, const Tensor& indices, const Axes& axes) {
  expect_tensor(op, "x", x);
  expect_integers(op, "indices", indices);
  if (indices.rank() == 0) fail(op, "indices", "expected a last axis of coordinates, got a scalar");
  const int64_t count = indices.shape().back();
  if (count > x.rank())
    fail(op, "indices", fmt::format("expected at most {} coordinates, got {}", x.rank(), count));
  Axes normal = axes.empty() ? Axes::counted(static_cast<int>(count)) : axes;
  for (int64_t& axis : normal) axis = normal_axis(op, axis, x.rank());
  return normal;
}

Shape without_last(Shape shape) {
  shape.erase(shape.size() - 1);
  return shape;
}

// Updates [n, ...] for indices [n, k]; where updates are smaller than the axes of x that are not indexed,
// they reach its first elements along them, as in Nx.
Tensor update(Op op, const char* name, const Tensor& x, const Tensor& indices, const Tensor& updates,
              const Axes& axes) {
  expect_tensor(name, "updates", updates);
  const Axes along = coordinate_axes(name, x, indices, axes);
  const Shape leading = without_last(indices.shape());
  const Axes others = other_axes(along, x.rank());
  Shape flat{element_count(leading)}, window = x.shape(), expected = leading;
  for (const int64_t axis : others) expected.push_back(x.shape()[static_cast<int>(axis)]);
  bool fits = updates.rank() == expected.size();
  for (int axis = 0; fits && axis < expected.size(); ++axis) {
    const int64_t extent = updates.shape()[axis];
    fits = axis < leading.size() ? extent == expected[axis] : extent <= expected[axis];
    if (axis < leading.size()) continue;
    flat.push_back(extent);
    window[static_cast<int>(others[axis - leading.size()])] = extent;
  }
  if (!fits)
    fail(name, "updates",
         fmt::format("expected the shape {}, got {}", to_string(expected), to_string(updates.shape())));

  const DType type = promote(x.dtype(), updates.dtype());
  const Tensor target = as_type(x, type);
  const Dims start = Dims::filled(x.rank(), 0);
  const Tensor changed = make(op,
                              {slice(target, start, window), reshape(indices, {flat[0], along.size()}),
                               reshape(as_type(updates, type), flat)},
                              AxisList{along});
  if (updates.size() == 0) return target;
  return window == x.shape() ? changed : put_slice(target, changed, start);
}

}  // namespace

Tensor gather(const Tensor& x, const Tensor& indices, const Axes& axes) {
  return make(Op::gather, {x, indices}, AxisList{coordinate_axes("gather", x, indices, axes)});
}

// The axes of the indices stand where the axis of x was.
Tensor take(const Tensor& x, const Tensor& indices, int axis) {
  expect_tensor("take", "x", x);
  expect_integers("take", "indices", indices);
  const int along = normal_axis("take", axis, x.rank());
  if (x.shape()[along] == 0 && indices.size() > 0)
    fail("take", "indices",
         fmt::format("expected none, since axis {} is empty, got {}", along, indices.size()));
  const Tensor taken = gather(x, expand_dims(indices, -1), {along});
  Axes order;
  for (int i = 0; i < along; ++i) order.push_back(indices.rank() + i);
  for (int i = 0; i < indices.rank(); ++i) order.push_back(i);
  for (int i = along; i < x.rank() - 1; ++i) order.push_back(indices.rank() + i);
  return order.empty() ? taken : transpose(taken, order);
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int axis) {
  expect_tensor("take_along_axis", "x", x);
  expect_integers("take_along_axis", "indices", indices);
  return make(Op::take_along_axis, {x, indices}, OneAxis{normal_axis("take_along_axis", axis, x.rank())});
}

Tensor indexed_add(const Tensor& x, const Tensor& indices, const Tensor& updates, const Axes& axes) {
  return update(Op::indexed_add, "indexed_add", x, indices, updates, axes);
}

Tensor indexed_put(const Tensor& x, const Tensor& indices, const Tensor& updates, const Axes& axes) {
  return update(Op::indexed_put, "indexed_put", x, indices, updates, axes);
}

}  // namespace adit
