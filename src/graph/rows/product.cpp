// Products and factorisations: dot, cholesky, triangular_solve; attention stands in its own file.
#include <fmt/format.h>

#include "graph/attention.hpp"
#include "graph/cholesky.hpp"
#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/rows/matrices.hpp"
#include "graph/rows/view.hpp"

namespace adit::graph {

namespace {

// Axes of a tensor of `rank` that are in neither list, ascending.
Axes neither_of(int rank, const Axes& some, const Axes& more) {
  Axes rest;
  for (int axis = 0; axis < rank; ++axis)
    if (!some.contains(axis) && !more.contains(axis)) rest.push_back(axis);
  return rest;
}

Axes counted_from(int64_t first, int count) {
  Axes axes = Dims::counted(count);
  for (int64_t& axis : axes) axis += first;
  return axes;
}

int place_of(const Axes& axes, int64_t axis) {
  return static_cast<int>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
}

// --- dot ---------------------------------------------------------------------------------------------------
DType dot_type(std::string_view op, const std::vector<Tensor>& x, const Attributes&) {
  if (x[0].dtype() != x[1].dtype())
    fail(op, "b",
         fmt::format("expected {}, the type of a, got {}", name_of(x[0].dtype()), name_of(x[1].dtype())));
  return x[0].dtype();
}

void check_pairs(std::string_view op, std::string_view what, const Tensor& a, const Axes& axes_a,
                 const Tensor& b, const Axes& axes_b) {
  if (axes_a.size() != axes_b.size())
    fail(op, fmt::format("{}_b", what),
         fmt::format("expected {} axes, as of a, got {}", axes_a.size(), to_string(axes_b)));
  for (int i = 0; i < axes_a.size(); ++i) {
    const int64_t extent_a = a.shape()[static_cast<int>(axes_a[i])];
    const int64_t extent_b = b.shape()[static_cast<int>(axes_b[i])];
    if (extent_a != extent_b)
      fail(op, fmt::format("{}_b", what),
           fmt::format("expected extent {} along axis {} as along axis {} of a, got shapes {} and {}",
                       extent_a, axes_b[i], axes_a[i], to_string(a.shape()), to_string(b.shape())));
  }
}

void check_axes(std::string_view op, std::string_view operand, int rank, const Axes& contract,
                const Axes& batch) {
  Axes all = contract;
  for (const int64_t axis : batch) all.push_back(axis);
  for (int i = 0; i < all.size(); ++i) {
    if (all[i] < 0 || all[i] >= rank)
      fail(op, operand, fmt::format("expected axes below {}, got {}", rank, all[i]));
    for (int j = 0; j < i; ++j)
      if (all[i] == all[j]) fail(op, operand, fmt::format("expected each axis once, got {} twice", all[i]));
  }
}

Shape dot_shape(std::string_view op, const std::vector<Tensor>& x, const Attributes& attributes) {
  const auto& d = std::get<DotAttributes>(attributes);
  check_axes(op, "a", x[0].rank(), d.contract_a, d.batch_a);
  check_axes(op, "b", x[1].rank(), d.contract_b, d.batch_b);
  check_pairs(op, "contract", x[0], d.contract_a, x[1], d.contract_b);
  check_pairs(op, "batch", x[0], d.batch_a, x[1], d.batch_b);
  Shape shape;
  for (const int64_t axis : d.batch_a) shape.push_back(x[0].shape()[static_cast<int>(axis)]);
  for (const int64_t axis : neither_of(x[0].rank(), d.contract_a, d.batch_a))
    shape.push_back(x[0].shape()[static_cast<int>(axis)]);
  for (const int64_t axis : neither_of(x[1].rank(), d.contract_b, d.batch_b))
    shape.push_back(x[1].shape()[static_cast<int>(axis)]);
  return shape;
}

// x whose axis i is to be axis to[i].
Tensor arranged(const Tensor& x, const Axes& to) {
  Axes order = to;
  for (int i = 0; i < to.size(); ++i) order[static_cast<int>(to[i])] = i;
  return transpose(x, order);
}

// Result axes are batch, free of a, free of b. The gradient of a contracts g with b over the free axes of b,
// and has batch, free of a, contracted (in b's order); that of b contracts a with g over the free axes of a.
std::vector<Tensor> dot_vjp(const Tensor& result, const std::vector<Tensor>& x, const Tensor& g) {
  const auto& d = node_of(result).as<DotAttributes>();
  const Axes free_a = neither_of(x[0].rank(), d.contract_a, d.batch_a);
  const Axes free_b = neither_of(x[1].rank(), d.contract_b, d.batch_b);
  const int batches = d.batch_a.size();
  const Axes batch = Dims::counted(batches);
  const Axes a_in_g = counted_from(batches, free_a.size());
  const Axes b_in_g = counted_from(batches + free_a.size(), free_b.size());

  Axes to_a = d.batch_a;
  for (const int64_t axis : free_a) to_a.push_back(axis);
  for (const int64_t axis : neither_of(x[1].rank(), free_b, d.batch_b))
    to_a.push_back(d.contract_a[place_of(d.contract_b, axis)]);
  const Tensor grad_a = arranged(dot(g, b_in_g, batch, x[1], free_b, d.batch_b), to_a);

  Axes to_b = d.batch_b;
  for (const int64_t axis : neither_of(x[0].rank(), free_a, d.batch_a))
    to_b.push_back(d.contract_b[place_of(d.contract_a, axis)]);
  for (const int64_t axis : free_b) to_b.push_back(axis);
  const Tensor grad_b = arranged(dot(x[0], free_a, d.batch_a, g, a_in_g, batch), to_b);
  return {grad_a, grad_b};
}

Tensor dot_batch(const Node& node, const std::vector<Tensor>& x, int64_t size) {
  return batch_dot(node, {x[0], true}, {x[1], true}, size);
}

// --- cholesky ----------------------------------------------------------------------------------------------
using matrices::swapped;

// Entries on and below (or above) the diagonal of the last two axes; the rest is zero.
Tensor triangle(const Tensor& x, bool lower) {
  return lower ? matrices::lower_part(x) : matrices::upper_part(x);
}

DType factor_type(std::string_view op, const std::vector<Tensor>& x, const Attributes&) {
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string_view name = i == 0 ? "a" : "b";
    if (is_integer(x[i].dtype()))
      fail(op, name, fmt::format("expected floats, got {}", name_of(x[i].dtype())));
    if (x[i].dtype() != x[0].dtype())
      fail(op, name,
           fmt::format("expected {}, the type of a, got {}", name_of(x[0].dtype()), name_of(x[i].dtype())));
  }
  return x[0].dtype();
}

void check_square(std::string_view op, const Tensor& a) {
  if (a.rank() < 2 || a.dim(-1) != a.dim(-2))
    fail(op, "a", fmt::format("expected square matrices, got shape {}", to_string(a.shape())));
}

Shape cholesky_shape(std::string_view op, const std::vector<Tensor>& x, const Attributes&) {
  check_square(op, x[0]);
  return x[0].shape();
}

// Real numbers: a node of its own, which a CPU's sampler computes as a whole.
std::vector<Tensor> cholesky_gradient(const Tensor& result, const std::vector<Tensor>&, const Tensor& g) {
  return {is_complex(g.dtype()) ? cholesky_vjp_by_solves(result, g) : make(Op::cholesky_vjp, {result, g})};
}

// Of cholesky and of its gradient.
Tensor factor_batch(const Node& node, const std::vector<Tensor>& x, int64_t) {
  return make(node.op, x, node.attributes);
}

Shape cholesky_vjp_shape(std::string_view op, const std::vector<Tensor>& x, const Attributes&) {
  check_square(op, x[0]);
  if (x[1].shape() != x[0].shape())
    fail(
        op, "b",
        fmt::format("expected {}, the shape of a, got {}", to_string(x[0].shape()), to_string(x[1].shape())));
  return x[0].shape();
}

std::vector<Tensor> second_gradient(const Tensor&, const std::vector<Tensor>& x, const Tensor& g) {
  const Tensor factor = alias(x[0]), cotangent = alias(x[1]);
  return pull_back({cholesky_vjp_by_solves(factor, cotangent)}, {g}, {factor, cotangent});
}

// --- triangular_solve --------------------------------------------------------------------------------------
Shape triangular_shape(std::string_view op, const std::vector<Tensor>& x, const Attributes& attributes) {
  const auto& t = std::get<TriangularAttributes>(attributes);
  const Tensor &a = x[0], &b = x[1];
  check_square(op, a);
  bool fits = a.rank() == b.rank() && b.dim(t.left_side ? -2 : -1) == a.dim(-1);
  for (int axis = 0; fits && axis < a.rank() - 2; ++axis) fits = a.shape()[axis] == b.shape()[axis];
  if (!fits)
    fail(op, "b",
         fmt::format("expected matrices that fit a's shape {}, got shape {}", to_string(a.shape()),
                     to_string(b.shape())));
  return b.shape();
}

// With op(A) X = B: the gradient of B solves with the other transpose, that of A is -(grad B) X^T in A's
// triangle (or its transpose); with X op(A) = B it is -X^T (grad B).
std::vector<Tensor> triangular_vjp(const Tensor& x, const std::vector<Tensor>& operands, const Tensor& g) {
  const auto& t = node_of(x).as<TriangularAttributes>();
  const Tensor grad_b = triangular_solve(
      operands[0], g, {.lower = t.lower, .left_side = t.left_side, .transpose = !t.transpose});
  const Tensor full =
      t.left_side ? matrices::product(grad_b, swapped(x)) : matrices::product(swapped(x), grad_b);
  return {triangle(negate(t.transpose ? swapped(full) : full), t.lower), grad_b};
}

Tensor triangular_batch(const Node& node, const std::vector<Tensor>& x, int64_t) {
  return make(Op::triangular_solve, x, node.attributes);
}

}  // namespace

Tensor batch_dot(const Node& node, const Lane& a, const Lane& b, int64_t size) {
  const auto& d = node.as<DotAttributes>();
  const int batches = d.batch_a.size();
  if (a.batched && b.batched) {
    DotAttributes both{shifted(d.contract_a), shifted(d.batch_a), shifted(d.contract_b), shifted(d.batch_b)};
    both.batch_a.insert(0, 0);
    both.batch_b.insert(0, 0);
    return make(Op::dot, {a.value, b.value}, both);
  }
  if (!a.batched && !b.batched) return with_batch({make(Op::dot, {a.value, b.value}, d), false}, size);
  if (a.batched)  // the batch is one more free axis of a
    return move_axis(make(Op::dot, {a.value, b.value},
                          DotAttributes{shifted(d.contract_a), shifted(d.batch_a), d.contract_b, d.batch_b}),
                     batches, 0);
  // The batch is one more free axis of b. If b has no other, b goes first and nothing is to be transposed.
  if (b.value.rank() - 1 == d.contract_b.size() + batches)
    return move_axis(make(Op::dot, {b.value, a.value},
                          DotAttributes{shifted(d.contract_b), shifted(d.batch_b), d.contract_a, d.batch_a}),
                     batches, 0);
  const int free_a = a.value.rank() - d.contract_a.size() - batches;
  return move_axis(make(Op::dot, {a.value, b.value},
                        DotAttributes{d.contract_a, d.batch_a, shifted(d.contract_b), shifted(d.batch_b)}),
                   batches + free_a, 0);
}

std::vector<Row> product_rows() {
  return {
      {.op = Op::dot,
       .name = "dot",
       .kind = Kind::kernel,
       .arity = 2,
       .types = "any; both of one type",
       .type = dot_type,
       .shape = dot_shape,
       .vjp = dot_vjp,
       .batch = dot_batch,
       .bound = {0, "n units of the sum of |a b| for n products; f16 and bf16 add up in f32; integers wrap"},
       .cost = 100,
       .doc =
           "Sums of products over the contracted axes; result axes are batch, the rest of a, the rest of b."},
      {.op = Op::cholesky,
       .name = "cholesky",
       .kind = Kind::kernel,
       .arity = 1,
       .types = "float, complex",
       .type = factor_type,
       .shape = cholesky_shape,
       .vjp = cholesky_gradient,
       .batch = factor_batch,
       .bound = {0, "backward stable: L L^H is x within 4 n units of |L| |L^H|"},
       .cost = 100,
       .doc =
           "The lower factor L with L L^H = x, of the lower triangle; NaN where x is not positive definite."},
      {.op = Op::cholesky_vjp,
       .name = "cholesky_vjp",
       .kind = Kind::kernel,
       .arity = 2,
       .types = "float; both of one type",
       .type = factor_type,
       .shape = cholesky_vjp_shape,
       .vjp = second_gradient,
       .batch = factor_batch,
       .bound = {0, "as the triangular systems that it is made of"},
       .cost = 100,
       .doc = "The gradient of cholesky: the lower triangle, from the factor and the gradient of that."},
      {.op = Op::triangular_solve,
       .name = "triangular_solve",
       .kind = Kind::kernel,
       .arity = 2,
       .types = "float, complex; both of one type",
       .type = factor_type,
       .shape = triangular_shape,
       .vjp = triangular_vjp,
       .batch = triangular_batch,
       .bound = {0, "backward stable: x solves a system within n units of |a|"},
       .cost = 100,
       .doc = "x with a x = b or x a = b for triangular matrices a, or their transposes."},
      attention_row(),
  };
}

}  // namespace adit::graph
