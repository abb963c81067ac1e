// Fourier transforms along an axis: the kernels of src/ops, for a device; on a CPU plain code.
#include "ops/fft.hpp"

#include "compile/kernels.hpp"
#include "graph/fourier.hpp"
#include "graph/op.hpp"
#include "ops/fft_host.hpp"

namespace adit::compile {

using graph::Op;

namespace {

// The axis, and the numbers along it: those of the longer side.
struct Along {
  int axis = 0;
  uint64_t outer = 1, length = 1, inner = 1;
};

Along along_of(const Node& node) {
  const bool to_real = node.op == Op::irfft;
  Along found;
  found.axis = to_real ? node.as<graph::AxisLength>().axis : node.as<graph::OneAxis>().axis;
  const Shape& shape = to_real ? node.shape : node.operands[0].shape();
  for (int axis = 0; axis < shape.size(); ++axis) {
    const auto extent = static_cast<uint64_t>(shape[axis]);
    (axis < found.axis ? found.outer : axis == found.axis ? found.length : found.inner) *= extent;
  }
  return found;
}

bool is_of_real(const Node& node) { return node.op == Op::rfft || node.op == Op::irfft; }

ops::FftPlan fft_plan_of(const Node& node, const Limits& limits) {
  ops::FftPlan plan;
  const Along along = along_of(node);
  plan.type = storage_type(node.type);
  plan.inverse = node.op == Op::ifft || node.op == Op::irfft;
  plan.outer = along.outer, plan.length = along.length, plan.inner = along.inner;
  if (is_of_real(node)) plan.length /= 2;
  plan.fused = limits.fused_fma;
  plan.shared_bytes = limits.shared_bytes;
  plan.lanes = limits.max_lanes;
  return plan;
}

std::vector<Work> fft_on_host(const Node& node, Workshop& shop) {
  const Node& x = graph::node_of(node.operands[0]);
  const Along along = along_of(node);
  ops::HostFft wanted;
  wanted.is_double = real_of(node.type) == DType::f64;
  if (node.op == Op::rfft) wanted.kind = ops::HostFft::Kind::of_real;
  if (node.op == Op::irfft) wanted.kind = ops::HostFft::Kind::to_real;
  wanted.inverse = node.op == Op::ifft;
  wanted.outer = along.outer, wanted.length = along.length, wanted.inner = along.inner;
  if (along.outer * along.length * along.inner == 0) return {};
  const std::shared_ptr<const ops::HostFftPlan> plan = ops::host_fft(wanted);
  std::vector<const Node*> tensors = {&x, &node};
  if (const uint64_t bytes = plan->scratch_bytes())
    tensors.push_back(&shop.make_scratch(DType::f32, {static_cast<int64_t>(bytes / sizeof(float))}));
  std::vector<Work> list;
  list.push_back(host_work("fft", tensors, [plan](const std::vector<std::byte*>& a) {
    plan->run(a[0], a[1], a.size() > 2 ? a[2] : nullptr);
  }));
  return list;
}

}  // namespace

// Real numbers that lie beside each other, an even number of them, are complex ones without a copy.
Tensor fft_on(const Node& node, const std::vector<Tensor>& x, const Target& target) {
  if (!target.gpu || !is_of_real(node)) return {};
  const Along along = along_of(node);
  if (along.inner == 1 && along.length % 2 == 0 && along.length >= 4) return {};
  if (node.op == Op::rfft) return graph::rfft_by_fft(x[0], along.axis);
  return graph::irfft_by_fft(x[0], along.axis, static_cast<int64_t>(along.length));
}

std::vector<Work> fft_work(const Node& node, Workshop& shop, Device& device) {
  if (device.info().kind == DeviceKind::cpu) return fft_on_host(node, shop);
  ops::FftPlan plan = fft_plan_of(node, device.limits());
  plan.short_kernels = device.info().kind == DeviceKind::software;
  const ops::Fft made = is_of_real(node) ? ops::fft_of_real(plan) : ops::fft(plan);
  std::vector<const Node*> tensors = {&graph::node_of(node.operands[0]), &node};
  for (const uint64_t numbers : made.scratch)
    tensors.push_back(&shop.make_scratch(complex_of(node.type), {static_cast<int64_t>(numbers)}));
  std::vector<Work> list;
  for (const ops::FftLaunch& launch : made.launches) {
    const Node *from = tensors[launch.from], *to = tensors[launch.to];
    if (!launch.reads)
      list.push_back(kernel_on(launch.program, launch.teams, {to}, device));
    else if (launch.with)
      list.push_back(kernel_on(launch.program, launch.teams, {from, to, tensors[launch.with]}, device));
    else
      list.push_back(kernel_on(launch.program, launch.teams, {from, to}, device));
  }
  return list;
}

}  // namespace adit::compile
