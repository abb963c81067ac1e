// Updates at coordinates, and factorisations: kernels that stand in src/ops.
#include "ops/scatter.hpp"

#include "compile/kernels.hpp"
#include "graph/op.hpp"
#include "ops/cholesky.hpp"
#include "ops/factor_passes.hpp"
#include "ops/lapack.hpp"
#include "ops/triangular.hpp"

namespace adit::compile {

using graph::Op;

namespace {

int64_t leading(const Shape& shape) {
  int64_t count = 1;
  for (int axis = 0; axis + 2 < shape.size(); ++axis) count *= shape[axis];
  return count;
}

ops::ScatterPlan scatter_plan(const Node& node) {
  ops::ScatterPlan plan;
  plan.kind = node.op == Op::indexed_add ? ops::ScatterKind::add : ops::ScatterKind::put;
  plan.type = storage_type(node.type);
  plan.complex = is_complex(node.type);
  plan.index_type = storage_type(node.operands[1].dtype());
  plan.updates = static_cast<uint64_t>(node.operands[1].shape()[0]);
  plan.from_zero = starts_from_zero(node);
  const Axes& axes = node.as<graph::AxisList>().axes;
  const Dims strides = strides_of(node.shape);
  const auto axis_at = [&](int axis) {
    return ops::ScatterAxis{static_cast<uint64_t>(node.shape[axis]), static_cast<uint64_t>(strides[axis])};
  };
  for (const int64_t axis : axes) plan.indexed.push_back(axis_at(static_cast<int>(axis)));
  for (int axis = 0; axis < node.shape.size(); ++axis)
    if (!axes.contains(axis)) plan.slice.push_back(axis_at(axis));
  return plan;
}

}  // namespace

std::vector<Work> scatter_work(const Node& node, Workshop& shop, Device& device) {
  std::vector<Work> list;
  if (element_count(node.shape) == 0) return {};
  const ops::Scatter scatter = ops::scatter(scatter_plan(node), ops::scatter_target(device));
  std::vector<const Node*> tensors = {&node, &graph::node_of(node.operands[1]),
                                      &graph::node_of(node.operands[2])};
  if (!starts_from_zero(node))
    list.push_back(copy_work(graph::node_of(node.operands[0]), node));
  else if (!scatter.writes_all)
    list.push_back(zero_work(node));
  for (const ops::Scratch& scratch : scatter.scratch) {
    tensors.push_back(&shop.make_scratch(DType::u32, {static_cast<int64_t>((scratch.bytes + 3) / 4)}));
    if (scratch.zeroed) list.push_back(zero_work(*tensors.back()));
  }
  for (const ops::ScatterPass& pass : scatter.passes) {
    Launch launch{pass.program, pass.teams, {}};
    for (const uint8_t which : pass.arguments)
      launch.bindings.push_back({Binding::Kind::tensor, tensors[which]});
    list.push_back(work_of(std::move(launch), device));
  }
  return list;
}

// Matrices from this size on go by panels of columns: one team would take too long (bench/RESULTS.md).
constexpr int64_t many_rows = 128;

std::vector<Work> cholesky_by_panels(const Node& node, Device& device) {
  const Node& x = graph::node_of(node.operands[0]);
  std::vector<Work> list;
  if (device.info().kind == DeviceKind::cpu && ops::lapack::is_there()) {
    const int64_t n = node.shape.back(), batch = leading(node.shape);
    const DType type = node.type;
    list.push_back(host_work("lapack_cholesky", {&x, &node}, [=](const std::vector<std::byte*>& a) {
      ops::lapack::cholesky(type, batch, n, a[0], a[1]);
    }));
    return list;
  }
  ops::FactorPlan plan;
  plan.type = storage_type(node.type);
  plan.complex = is_complex(node.type);
  plan.m = plan.n = static_cast<uint32_t>(node.shape.back());
  plan.batch = static_cast<uint64_t>(leading(node.shape));
  const ops::Factor made = ops::cholesky_by_panels(plan);
  list.push_back(copy_work(x, node));
  for (const ops::FactorPass& pass : made.passes) {
    Launch launch{made.programs[pass.program], pass.teams, {{Binding::Kind::tensor, &node}}};
    for (const uint32_t number : pass.numbers)
      launch.bindings.push_back({Binding::Kind::constant, nullptr, false, number, kernel::Type::u32});
    list.push_back(work_of(std::move(launch), device));
  }
  return list;
}

std::vector<Work> cholesky_work(const Node& node, Workshop&, Device& device) {
  if (node.shape.back() > many_rows && leading(node.shape) > 0) return cholesky_by_panels(node, device);
  ops::CholeskyPlan plan;
  plan.type = storage_type(node.type);
  plan.n = static_cast<uint32_t>(node.shape.back());
  plan.batch = static_cast<uint64_t>(leading(node.shape));
  plan.complex = is_complex(node.type);
  const ops::Cholesky made = ops::cholesky(plan);
  expect_trips("cholesky", made.loop_trips, device);
  std::vector<Work> list;
  if (made.teams)
    list.push_back(kernel_on(made.program, made.teams, {&graph::node_of(node.operands[0]), &node}, device));
  return list;
}

std::vector<Work> triangular_work(const Node& node, Workshop&, Device& device) {
  const auto& attributes = node.as<graph::TriangularAttributes>();
  ops::TriangularPlan plan;
  plan.type = storage_type(node.type);
  plan.complex = is_complex(node.type);
  plan.n = static_cast<uint32_t>(node.operands[0].shape().back());
  plan.batch = static_cast<uint64_t>(leading(node.operands[0].shape()));
  const int64_t matrix = static_cast<int64_t>(plan.batch) * plan.n;
  plan.columns = matrix == 0 ? 0 : static_cast<uint32_t>(element_count(node.shape) / matrix);
  plan.lower = attributes.lower;
  plan.left_side = attributes.left_side;
  plan.transpose = attributes.transpose;
  const ops::Triangular made = ops::triangular_solve(plan);
  expect_trips("triangular_solve", made.loop_trips, device);
  std::vector<Work> list;
  if (!made.teams) return list;
  list.push_back(copy_work(graph::node_of(node.operands[1]), node));
  list.push_back(kernel_on(made.program, made.teams, {&graph::node_of(node.operands[0]), &node}, device));
  return list;
}

}  // namespace adit::compile
