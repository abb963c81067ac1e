// Fourier transforms along an axis: the kernels of src/ops, for a device.
#include "ops/fft.hpp"

#include "compile/kernels.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;

namespace {

ops::FftPlan fft_plan_of(const Node& node, const Device& device) {
  ops::FftPlan plan;
  plan.type = storage_type(node.type);
  plan.inverse = node.op == Op::ifft;
  const int along = node.as<graph::OneAxis>().axis;
  for (int axis = 0; axis < node.shape.size(); ++axis) {
    const auto extent = static_cast<uint64_t>(node.shape[axis]);
    (axis < along ? plan.outer : axis == along ? plan.length : plan.inner) *= extent;
  }
  const Limits& limits = device.limits();
  plan.by_teams = limits.lanes_by_hand;
  plan.fused = limits.fused_fma;
  plan.shared_bytes = limits.shared_bytes;
  // Vectors of a CPU hold half as many numbers of twice the size (native::lanes_of).
  plan.lanes = plan.by_teams ? limits.max_lanes : limits.subgroup_size;
  return plan;
}

}  // namespace

std::vector<Work> fft_work(const Node& node, Workshop& shop, Device& device) {
  const ops::Fft made = ops::fft(fft_plan_of(node, device));
  std::vector<const Node*> tensors = {&graph::node_of(node.operands[0]), &node};
  if (made.has_scratch) tensors.push_back(&shop.make_scratch(node.type, node.shape));
  std::vector<Work> list;
  for (const ops::FftLaunch& launch : made.launches)
    list.push_back(
        kernel_on(launch.program, launch.teams, {tensors[launch.from], tensors[launch.to]}, device));
  return list;
}

}  // namespace adit::compile
