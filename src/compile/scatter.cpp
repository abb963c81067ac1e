// Updates at coordinates: kernels that stand in src/ops.
#include "ops/scatter.hpp"

#include "compile/kernels.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;

namespace {

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

}  // namespace adit::compile
