// Jacobians and Hessians: one derivative mapped over all directions.
#include <fmt/format.h>

#include "graph/derive.hpp"
#include "graph/row.hpp"

namespace adit {

using namespace graph;

namespace {

void check_argument(std::string_view op, const Tensors& x, int argument) {
  if (argument < 0 || argument >= static_cast<int>(x.size()))
    fail(op, "argument",
         fmt::format("expected 0 to {}, got {}", static_cast<int64_t>(x.size()) - 1, argument));
  const DType type = x[static_cast<size_t>(argument)].dtype();
  if (!differentiable(type))
    fail(op, fmt::format("argument {}", argument),
         fmt::format("expected floats or complex numbers, got {}", name_of(type)));
}

// f as a function of one argument alone.
Function restricted(const Function& f, const Tensors& x, int argument) {
  return [f, x, argument](const Tensors& one) {
    Tensors all = x;
    all[static_cast<size_t>(argument)] = one[0];
    return f(all);
  };
}

// One tensor for each element of `like`: 1 there and 0 elsewhere.
Tensor directions(const Slot& like) {
  const int64_t count = element_count(like.shape);
  Shape shape = like.shape;
  shape.insert(0, count);
  return reshape(eye(count, count, like.type), shape);
}

// The leading axis, of elements, as the axes it came from.
Tensor unfolded(const Tensor& x, Shape shape) {
  for (int axis = 1; axis < x.rank(); ++axis) shape.push_back(x.shape()[axis]);
  return reshape(x, shape);
}

Slot slot_of_result(std::string_view op, const Tensors& results) {
  if (results.size() != 1) fail(op, "f", fmt::format("expected one result, got {}", results.size()));
  if (!differentiable(results[0].dtype()))
    fail(op, "f", fmt::format("expected a result of floats, got {}", name_of(results[0].dtype())));
  return slot_of(results[0]);
}

// The derivative of the one result along each element of the input, stacked.
Tensor columns_of(const Tensors& results, const Tensor& input) {
  const Function column = [&](const Tensors& v) -> Tensors {
    const Tensor moved = push_forward(results, {input}, v)[0];
    return {moved ? moved : zeros_for(slot_of(results[0]))};
  };
  return vmap_of(column, {directions(slot_of(input))}, {0})[0];
}

}  // namespace

Tensor jacobian_of(const Function& f, const Tensors& x, int argument) {
  expect_call("jacobian", "f", f, x);
  check_argument("jacobian", x, argument);
  const Tensor input = alias(x[static_cast<size_t>(argument)]);
  const Function one = restricted(f, x, argument);
  const Tensors results = call("jacobian", "f", one, {input});
  const Slot result = slot_of_result("jacobian", results);
  // One pass for each element of the result or, where those are more, of the argument.
  if (element_count(result.shape) > input.size()) {
    const Tensor columns = columns_of(results, input);
    Shape shape = result.shape;
    for (const int64_t extent : input.shape()) shape.push_back(extent);
    return reshape(move_axis(columns, 0, columns.rank() - 1), shape);
  }
  const Function row = [&](const Tensors& g) -> Tensors {
    const Tensor gradient = pull_back(results, g, {input})[0];
    return {gradient ? gradient : zeros_for(slot_of(input))};
  };
  return unfolded(vmap_of(row, {directions(result)}, {0})[0], result.shape);
}

Tensor hessian_of(const Function& f, const Tensors& x, int argument) {
  expect_call("hessian", "f", f, x);
  check_argument("hessian", x, argument);
  const Tensor input = alias(x[static_cast<size_t>(argument)]);
  const Function one = restricted(f, x, argument);
  Tensors gradient;
  {
    const Tracing tracing;
    gradient = value_and_grad_of(one, {input}, {0}).grads;
  }
  return unfolded(columns_of(gradient, input), input.shape());
}

}  // namespace adit
