// Fourier transforms along an axis: the kernels of src/ops, for a device.
#include "ops/fft.hpp"

#include "compile/kernels.hpp"
#include "graph/fourier.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;

namespace {

ops::FftPlan fft_plan_of(const Node& node, const Limits& limits) {
  ops::FftPlan plan;
  plan.type = storage_type(node.type);
  plan.inverse = node.op == Op::ifft;
  const int along = node.as<graph::OneAxis>().axis;
  for (int axis = 0; axis < node.shape.size(); ++axis) {
    const auto extent = static_cast<uint64_t>(node.shape[axis]);
    (axis < along ? plan.outer : axis == along ? plan.length : plan.inner) *= extent;
  }
  plan.by_teams = limits.lanes_by_hand;
  plan.fused = limits.fused_fma;
  plan.shared_bytes = limits.shared_bytes;
  // Vectors of a CPU hold half as many numbers of twice the size (native::lanes_of).
  plan.lanes = plan.by_teams ? limits.max_lanes : limits.subgroup_size;
  return plan;
}

}  // namespace

Tensor fft_on(const Node& node, const std::vector<Tensor>& x, const Target& target) {
  if (ops::has_fft(fft_plan_of(node, target.limits))) return {};
  return graph::fft_by_convolution(x[0], node.as<graph::OneAxis>().axis, node.op == Op::ifft);
}

std::vector<Work> fft_work(const Node& node, Workshop& shop, Device& device) {
  const ops::Fft made = ops::fft(fft_plan_of(node, device.limits()));
  std::vector<const Node*> tensors = {&graph::node_of(node.operands[0]), &node};
  if (made.scratch > 0)
    tensors.push_back(&shop.make_scratch(node.type, {static_cast<int64_t>(made.scratch)}));
  std::vector<Work> list;
  for (const ops::FftLaunch& launch : made.launches) {
    const Node *from = tensors[launch.from], *to = tensors[launch.to];
    if (launch.with)
      list.push_back(kernel_on(launch.program, launch.teams, {from, to, tensors[launch.with]}, device));
    else
      list.push_back(kernel_on(launch.program, launch.teams, {from, to}, device));
  }
  return list;
}

}  // namespace adit::compile
