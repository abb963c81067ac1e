// Running results along an axis: cumulative_sum, _product, _min, _max.
#include <fmt/format.h>

#include "graph/op.hpp"
#include "graph/rows/first.hpp"

namespace adit::graph {

namespace cumulative {
namespace {

using Operands = std::vector<Tensor>;

DType ordered_type(std::string_view op, const Operands& operands, const Attributes&) {
  const DType type = operands[0].dtype();
  if (is_complex(type)) fail(op, "x", fmt::format("expected numbers with an order, got {}", name_of(type)));
  return type;
}

const CumulativeAttributes& of(const Tensor& x) { return node_of(x).as<CumulativeAttributes>(); }

// Elements `by` places further along an axis; zero beyond the end. Negative: further back.
Tensor shifted(const Tensor& x, int axis, int64_t by, double beyond = 0) {
  std::vector<Padding> padding(static_cast<size_t>(x.rank()));
  padding[static_cast<size_t>(axis)] = {-by, by, 0};
  return pad(x, constant(x.dtype(), beyond), padding);
}

Operands sum_vjp(const Tensor& result, const Operands&, const Tensor& g) {
  return {cumulative_sum(g, of(result).axis, !of(result).reverse)};
}

// With y_i = x_0 ... x_i: the gradient of x_i is y_(i-1) s_i with s_i = g_i + x_(i+1) s_(i+1), which no zero
// harms. The recurrence goes by doubling: s over 1, 2, 4, ... elements, from a, the product of as many.
Tensor product_gradient(const Tensor& x, const Tensor& y, const Tensor& g, int axis) {
  Tensor s = g, a = shifted(x, axis, 1);
  for (int64_t by = 1; by < x.dim(axis); by *= 2) {
    s = s + a * shifted(s, axis, by);
    a = a * shifted(a, axis, by);
  }
  return s * shifted(y, axis, -1, 1);
}

Operands product_vjp(const Tensor& result, const Operands& operands, const Tensor& g) {
  const auto [axis, turned] = of(result);
  if (!turned) return {product_gradient(operands[0], result, g, axis)};
  const auto turn = [axis = axis](const Tensor& x) { return reverse(x, {axis}); };
  return {turn(product_gradient(turn(operands[0]), turn(result), turn(g), axis))};
}

// Where along the axis the element stands that is the extreme so far; of equal ones the first.
Tensor holders(const Tensor& result) {
  const auto [axis, turned] = of(result);
  const Tensor place = iota(result.shape(), DType::i64, axis);
  const Tensor first = equal(place, constant_integer(DType::i64, turned ? result.dim(axis) - 1 : 0));
  const Tensor is_new = logical_or(first, not_equal(result, shifted(result, axis, turned ? 1 : -1)));
  if (turned)
    return cumulative_min(select(is_new, place, constant_integer(DType::i64, result.dim(axis))), axis, true);
  return cumulative_max(select(is_new, place, constant_integer(DType::i64, 0)), axis);
}

// An element gets the gradients of all places where it is the extreme.
Operands chosen_vjp(const Tensor& result, const Operands&, const Tensor& g) {
  if (result.size() == 0) return {zeros_like(g)};
  const int axis = of(result).axis, rank = result.rank();
  Axes order;
  for (int other = 0; other < rank; ++other)
    if (other != axis) order.push_back(other);
  order.push_back(axis);
  Axes back = order;
  for (int i = 0; i < rank; ++i) back[static_cast<int>(order[i])] = i;
  const int64_t n = result.dim(axis), rows = result.size() / n;
  const Tensor along = reshape(transpose(holders(result), order), {rows, n});
  const Tensor places = iota({rows, n}, DType::i64, 0) * constant_integer(DType::i64, n) + along;
  const Tensor moved = transpose(g, order);
  const Tensor sums = indexed_add(zeros({rows * n}, g.dtype()), reshape(places, {rows * n, 1}),
                                  reshape(moved, {rows * n}), {0});
  return {transpose(reshape(sums, moved.shape()), back)};
}

Tensor batch(const Node& node, const Operands& operands, int64_t) {
  CumulativeAttributes attributes = node.as<CumulativeAttributes>();
  ++attributes.axis;
  return make(node.op, operands, attributes);
}

Row row(Op op, std::string_view name, std::string_view types, TypeRule type, Vjp vjp, Bound bound,
        std::string_view doc) {
  return {.op = op,
          .name = name,
          .kind = Kind::kernel,
          .arity = 1,
          .types = types,
          .type = type,
          .shape = shape_of_first,
          .vjp = vjp,
          .batch = batch,
          .bound = bound,
          .cost = 100,
          .doc = doc};
}

}  // namespace
}  // namespace cumulative

std::vector<Row> cumulative_rows() {
  using namespace cumulative;
  return {row(Op::cumulative_sum, "cumulative_sum", "any: same", type_of_first, sum_vjp,
              {.note = "n units of the sum of |x|; f16 and bf16 add up in f32; integers wrap"},
              "Running sums along an axis, from its start or its end."),
          row(Op::cumulative_product, "cumulative_product", "any: same", type_of_first, product_vjp,
              {.note = "half an ULP a factor; f16 and bf16 multiply in f32; integers wrap"},
              "Running products along an axis, from its start or its end."),
          row(Op::cumulative_min, "cumulative_min", "integer, float: same", ordered_type, chosen_vjp, {},
              "The smallest element so far; NaN from the first NaN on. The first of equal ones has the "
              "gradient."),
          row(Op::cumulative_max, "cumulative_max", "integer, float: same", ordered_type, chosen_vjp, {},
              "The largest element so far; NaN from the first NaN on. The first of equal ones has the "
              "gradient.")};
}

}  // namespace adit::graph
