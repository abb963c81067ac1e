#include "graph/operands.hpp"

#include <fmt/format.h>

#include "graph/build/arguments.hpp"
#include "graph/rows/elementwise.hpp"

namespace adit::graph {

Shape broadcast_shapes(std::string_view op, std::string_view argument, const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  const int offset = shape.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    int64_t& extent = shape[offset + i];
    if (shorter[i] == extent || shorter[i] == 1) continue;
    if (extent != 1)
      fail(op, argument,
           fmt::format("expected a shape that broadcasts with {}, got {}", to_string(a), to_string(b)));
    extent = shorter[i];
  }
  return shape;
}

std::vector<Tensor> broadcast_together(std::string_view op, std::vector<Tensor> operands) {
  Shape shape = operands[0].shape();
  for (size_t i = 1; i < operands.size(); ++i)
    shape = broadcast_shapes(op, operand_name(op, operands.size(), i), shape, operands[i].shape());
  for (Tensor& x : operands)
    if (!(x.shape() == shape)) x = broadcast_to(x, shape);
  return operands;
}

Tensor as_float(const Tensor& x) { return as_type(x, float_of(x.dtype())); }

Tensor make_matched(Op op, const Tensor& a, const Tensor& b) {
  const std::string_view name = name_of(op);
  expect_tensor(name, "a", a);
  expect_tensor(name, "b", b);
  const DType type = promote(a.dtype(), b.dtype());
  return make(op, broadcast_together(name, {as_type(a, type), as_type(b, type)}));
}

}  // namespace adit::graph
