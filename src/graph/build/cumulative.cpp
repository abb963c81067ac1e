#include <adit/ops.hpp>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit {

using graph::Op;

namespace {

Tensor running(Op op, const Tensor& x, int axis, bool reverse) {
  const std::string_view name = graph::name_of(op);
  graph::expect_tensor(name, "x", x);
  const int normal = graph::normal_axis(name, axis, x.rank());
  return graph::make(op, {x}, graph::CumulativeAttributes{normal, reverse});
}

}  // namespace

Tensor cumulative_sum(const Tensor& x, int axis, bool reverse) {
  return running(Op::cumulative_sum, x, axis, reverse);
}
Tensor cumulative_product(const Tensor& x, int axis, bool reverse) {
  return running(Op::cumulative_product, x, axis, reverse);
}
Tensor cumulative_min(const Tensor& x, int axis, bool reverse) {
  return running(Op::cumulative_min, x, axis, reverse);
}
Tensor cumulative_max(const Tensor& x, int axis, bool reverse) {
  return running(Op::cumulative_max, x, axis, reverse);
}

}  // namespace adit
