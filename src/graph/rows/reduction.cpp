// The rows of the reductions. They drop the axes they reduce; an empty set of elements never arrives here
// where the result is known (the builders return it).
#include <fmt/format.h>
#include <limits>
#include <unordered_map>

#include <adit/control.hpp>

#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph {

namespace {

using Operands = std::vector<Tensor>;

// --- Types -------------------------------------------------------------------------------------------------

DType same_type(std::string_view, const Operands& operands, const Attributes&) { return operands[0].dtype(); }

void expect_order(std::string_view op, const Tensor& x) {
  if (is_complex(x.dtype()))
    fail(op, "x", fmt::format("expected numbers that have an order, got {}", name_of(x.dtype())));
}

DType ordered_type(std::string_view op, const Operands& operands, const Attributes&) {
  expect_order(op, operands[0]);
  return operands[0].dtype();
}

DType place_type(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const Tensor& x = operands[0];
  expect_order(op, x);
  for (const int64_t axis : std::get<ReduceAttributes>(attributes).axes)
    if (x.shape()[static_cast<int>(axis)] > std::numeric_limits<int32_t>::max()) return DType::i64;
  return DType::i32;
}

DType truth_type(std::string_view op, const Operands& operands, const Attributes&) {
  if (operands[0].dtype() != DType::u8)
    fail(op, "x", fmt::format("expected u8, got {}", name_of(operands[0].dtype())));
  return DType::u8;
}

DType reduce_type(std::string_view op, const Operands& operands, const Attributes&) {
  if (operands.size() < 2) fail(op, "operands", fmt::format("expected at least 2, got {}", operands.size()));
  if (operands[1].dtype() != operands[0].dtype())
    fail(op, "initial",
         fmt::format("expected {}, got {}", name_of(operands[0].dtype()), name_of(operands[1].dtype())));
  return operands[0].dtype();
}

// --- Shapes ------------------------------------------------------------------------------------------------

Shape reduced_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const Axes& axes = std::get<ReduceAttributes>(attributes).axes;
  const Tensor& x = operands[0];
  if (normal_axes(op, axes, x.rank()) != axes)
    fail(op, "axes", fmt::format("expected axes in order, got {}", to_string(axes)));
  Shape shape;
  for (const int64_t axis : other_axes(axes, x.rank())) shape.push_back(x.shape()[static_cast<int>(axis)]);
  return shape;
}

// For what no elements have no value of.
Shape chosen_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  for (const int64_t axis : std::get<ReduceAttributes>(attributes).axes)
    if (operands[0].dim(static_cast<int>(axis)) == 0)
      fail(op, "x",
           fmt::format("expected elements along axis {}, got the shape {}", axis,
                       to_string(operands[0].shape())));
  return reduced_shape(op, operands, attributes);
}

// The first accumulator and what the function captured have the result's shape: they are read at its place.
Shape reduce_shape(std::string_view op, const Operands& operands, const Attributes& attributes) {
  const Shape shape = reduced_shape(op, operands, attributes);
  for (size_t k = 1; k < operands.size(); ++k)
    if (operands[k].shape() != shape)
      fail(op, k == 1 ? "initial" : "combine",
           fmt::format("expected the shape {}, got {}", to_string(shape), to_string(operands[k].shape())));
  return shape;
}

// --- Derivatives -------------------------------------------------------------------------------------------

// A result or its gradient at every element that it came from.
Tensor spread(const Tensor& reduced, const Tensor& result, const Tensor& x) {
  return broadcast_in(reduced, x.shape(), other_axes(node_of(result).as<ReduceAttributes>().axes, x.rank()));
}

Operands sum_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  return {spread(g, result, operands[0])};
}

// For every element of x [outer, n], the product of all others of its row. No division, so zeros are no
// exception, and the derivative of this is as good. Products of blocks keep the work at 16 n.
Tensor product_of_others(const Tensor& x) {
  constexpr int64_t block = 16;
  const int64_t outer = x.dim(0), n = x.dim(1);
  if (n <= block) {
    const Shape pairs{outer, n, n};
    const Tensor itself = equal(iota(pairs, DType::i32, 1), iota(pairs, DType::i32, 2));
    return product(select(itself, ones(pairs, x.dtype()), broadcast_in(x, pairs, {0, 2})), {2});
  }
  const int64_t blocks = (n + block - 1) / block;
  const std::vector<Padding> padding{{}, {0, blocks * block - n, 0}};
  const Tensor parts = reshape(pad(x, constant(x.dtype(), 1), padding), {outer, blocks, block});
  const Tensor inside = reshape(product_of_others(reshape(parts, {outer * blocks, block})), parts.shape());
  const Tensor outside = product_of_others(product(parts, {2}));
  const Tensor all = inside * broadcast_in(outside, parts.shape(), {0, 1});
  return slice(reshape(all, {outer, blocks * block}), {0, 0}, {outer, n});
}

Operands product_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Tensor& x = operands[0];
  const Axes& axes = node_of(result).as<ReduceAttributes>().axes;
  Axes order = other_axes(axes, x.rank());
  for (const int64_t axis : axes) order.push_back(axis);
  Axes back = order;
  for (int axis = 0; axis < order.size(); ++axis) back[static_cast<int>(order[axis])] = axis;

  const Tensor moved = transpose(x, order);
  const int64_t outer = result.size();
  const Tensor others = product_of_others(reshape(moved, {outer, outer ? x.size() / outer : 0}));
  return {spread(g, result, x) * transpose(reshape(others, moved.shape()), back)};
}

// The row-major number of an element among the axes that are reduced.
Tensor number_among(const Shape& shape, const Axes& axes, DType type) {
  Tensor number;
  for (const int64_t axis : axes) {
    const auto along = static_cast<int>(axis);
    const Tensor own = iota(shape, type, along);
    number = number ? number * constant_integer(type, shape[along]) + own : own;
  }
  return number;
}

// Elements that share the place at the top share the gradient, or the last of them has it.
Operands chosen_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const Tensor& x = operands[0];
  const auto& attributes = node_of(result).as<ReduceAttributes>();
  if (attributes.high_tie) {
    const Op place_of = node_of(result).op == Op::reduce_max ? Op::argmax : Op::argmin;
    const Tensor place = make(place_of, {x}, attributes);
    const Tensor chosen =
        equal(number_among(x.shape(), attributes.axes, place.dtype()), spread(place, result, x));
    return {select(chosen, spread(g, result, x), zeros_like(x))};
  }
  const DType counts = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor chosen = as_type(equal(x, spread(result, result, x)), counts);
  const Tensor share = chosen / spread(sum(chosen, attributes.axes), result, x);
  return {spread(g, result, x) * as_type(share, x.dtype())};
}

// The caller's function of scalars, applied to tensors: elementwise nodes take any shape.
Tensor applied(const Subgraph& function, const Operands& arguments) {
  std::unordered_map<const Node*, Tensor> now;
  for (size_t k = 0; k < arguments.size(); ++k) now[&node_of(function.parameters[k])] = arguments[k];
  const Shape& shape = arguments[0].shape();
  for (const Tensor& x : reachable(function.results, true)) {
    const Node& node = node_of(x);
    if (now.contains(&node)) continue;
    Operands operands;
    for (const Tensor& operand : node.operands) operands.push_back(now.at(&node_of(operand)));
    now[&node] = operands.empty()
                     ? broadcast_to(x, shape)
                     : make_node(node.op, node.type, shape, std::move(operands), node.attributes);
  }
  return now.at(&node_of(function.results[0]));
}

// The same as a scan, whose derivative is known.
Tensor folded(const Operands& operands, const ReduceAttributes& attributes) {
  const Tensor &x = operands[0], &initial = operands[1];
  Axes order = attributes.axes;
  for (const int64_t axis : other_axes(attributes.axes, x.rank())) order.push_back(axis);
  Shape elements = initial.shape();
  elements.insert(0, initial.size() ? x.size() / initial.size() : 0);
  const auto step = [&](const Tensors& carry, const Tensors& slices) {
    Operands arguments{carry[0], slices[0]};
    arguments.insert(arguments.end(), operands.begin() + 2, operands.end());
    return Step{{applied(*attributes.combine, arguments)}, {}};
  };
  return scan(step, {initial}, {reshape(transpose(x, order), elements)}).carry[0];
}

Operands reduce_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  Operands inputs;
  for (const Tensor& x : operands) inputs.push_back(alias(x));
  return pull_back({folded(inputs, node_of(result).as<ReduceAttributes>())}, {g}, inputs);
}

Operands reduce_jvp(const Tensor& result, const Operands& operands, const Operands& tangents) {
  Operands inputs;
  for (const Tensor& x : operands) inputs.push_back(alias(x));
  return push_forward({folded(inputs, node_of(result).as<ReduceAttributes>())}, inputs, tangents);
}

// --- Batching ----------------------------------------------------------------------------------------------

Tensor batch_reduction(const Node& node, const Operands& operands, int64_t) {
  ReduceAttributes attributes = node.as<ReduceAttributes>();
  attributes.axes = shifted(attributes.axes);
  return make(node.op, operands, attributes);
}

}  // namespace

std::vector<Row> reduction_rows() {
  const auto row = [](Op op, std::string_view name, std::string_view types, TypeRule type, ShapeRule shape,
                      Vjp vjp, Bound bound, std::string_view doc) {
    return Row{.op = op,
               .name = name,
               .kind = Kind::reduction,
               .arity = 1,
               .types = types,
               .type = type,
               .shape = shape,
               .vjp = vjp,
               .batch = batch_reduction,
               .bound = bound,
               .cost = 16,
               .doc = doc};
  };
  constexpr std::string_view widened =
      "integers give i32, u32, i64 or u64; floats and complex numbers the same";
  constexpr std::string_view ordered = "all but complex numbers, the same";
  constexpr std::string_view places = "all but complex numbers; i32 (i64 beyond 2^31)";
  return {
      row(Op::sum, "sum", widened, same_type, reduced_shape, sum_vjp,
          {.note = "relative to the sum of magnitudes; partial sums are added in a fixed order"},
          "The sum along axes; 0 of no elements."),
      row(Op::product, "product", widened, same_type, reduced_shape, product_vjp,
          {.note = "half an ULP a factor"}, "The product along axes; 1 of no elements."),
      row(Op::reduce_max, "reduce_max", ordered, ordered_type, chosen_shape, chosen_vjp, {},
          "The largest element along axes; NaN where there is one. Ties share the gradient."),
      row(Op::reduce_min, "reduce_min", ordered, ordered_type, chosen_shape, chosen_vjp, {},
          "The smallest element along axes; NaN where there is one. Ties share the gradient."),
      row(Op::argmax, "argmax", places, place_type, chosen_shape, nullptr, {},
          "Where the largest element along an axis is; a NaN counts as largest."),
      row(Op::argmin, "argmin", places, place_type, chosen_shape, nullptr, {},
          "Where the smallest element along an axis is; a NaN counts as smallest."),
      row(Op::all, "all", "any; u8", truth_type, reduced_shape, nullptr, {},
          "1 where no element along axes is zero; 1 of no elements."),
      row(Op::any, "any", "any; u8", truth_type, reduced_shape, nullptr, {},
          "1 where some element along axes is not zero; 0 of no elements."),
      {.op = Op::reduce,
       .name = "reduce",
       .kind = Kind::reduction,
       .arity = -1,
       .types = "any, the same",
       .type = reduce_type,
       .shape = reduce_shape,
       .vjp = reduce_vjp,
       .batch = batch_reduction,
       .bound = {.note = "as its function"},
       .cost = 16,
       .doc = "Folds elements along axes with a function of two scalars, in order, from an initial value on.",
       .jvp = reduce_jvp},
  };
}

}  // namespace adit::graph
