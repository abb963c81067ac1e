// Running results along an axis: the kernels of src/ops, for a device.
#include "ops/cumulative.hpp"

#include "compile/kernels.hpp"
#include "graph/op.hpp"
#include "ops/cumulative_short.hpp"

namespace adit::compile {

using graph::Op;

namespace {

// Invocations that keep a multiprocessor of a GPU busy, and a thread of a CPU, whose lanes go side by side; a
// block below the shortest costs more to begin than to go through. Timed once, on an H200 and two x86-64
// cores (bench/RESULTS.md).
struct Fill {
  uint64_t a_processor, shortest;
};
constexpr uint64_t fewest_in_tiles = 256, fewest_in_rows = 16;
constexpr Fill of_gpu{8192, 64}, of_cpu{1, 1024};

ops::CumulativeKind kind_of(Op op) {
  switch (op) {
    case Op::cumulative_sum: return ops::CumulativeKind::sum;
    case Op::cumulative_product: return ops::CumulativeKind::product;
    case Op::cumulative_min: return ops::CumulativeKind::min;
    default: return ops::CumulativeKind::max;
  }
}

ops::CumulativePlan plan_of(const Node& node, const Device& device) {
  ops::CumulativePlan plan;
  const auto& attributes = node.as<graph::CumulativeAttributes>();
  plan.kind = kind_of(node.op);
  plan.type = storage_type(node.type);
  plan.complex = is_complex(node.type);
  plan.reverse = attributes.reverse;
  for (int axis = 0; axis < node.shape.size(); ++axis) {
    const auto extent = static_cast<uint64_t>(node.shape[axis]);
    (axis < attributes.axis ? plan.outer : axis == attributes.axis ? plan.length : plan.inner) *= extent;
  }
  const Fill& fill = device.info().kind == DeviceKind::cpu ? of_cpu : of_gpu;
  plan.invocations = fill.a_processor * device.limits().processors;
  plan.shortest = fill.shortest;
  // Subgroups add no integers of less than 32 bits; extremes go by keys, which have as many.
  const bool compares = node.op == Op::cumulative_min || node.op == Op::cumulative_max;
  const bool in_words = compares || size_of(plan.type) >= 4 || is_float(plan.type);
  const bool along_rows =
      device.info().kind != DeviceKind::cpu && in_words && !plan.complex && plan.inner == 1;
  const Limits& limits = device.limits();
  if (along_rows && limits.lanes_by_hand && limits.fixed_subgroups && limits.subgroup_shuffle &&
      ops::is_short_row(plan.length, limits.subgroup_size))
    plan.subgroup = limits.subgroup_size;
  plan.in_tiles = along_rows && plan.subgroup == 0 && plan.length >= fewest_in_tiles;
  const bool is_half = node.type == DType::f16 || node.type == DType::bf16;
  plan.in_rows = device.info().kind == DeviceKind::cpu && !is_half && plan.inner >= fewest_in_rows;
  plan.alone = device.info().kind == DeviceKind::cpu;
  // A driver that ends loops early would give wrong numbers without a word.
  if (const uint64_t most = device.limits().max_loop_trips) plan.longest = std::max<uint64_t>(2, most / 2);
  return plan;
}

}  // namespace

std::vector<Work> cumulative_work(const Node& node, Workshop& shop, Device& device) {
  const ops::Cumulative made = ops::cumulative(plan_of(node, device));
  std::vector<const Node*> tensors = {&graph::node_of(node.operands[0]), &node};
  for (const uint64_t numbers : made.totals)
    tensors.push_back(
        &shop.make_scratch(DType::u32, {static_cast<int64_t>((numbers * size_of(made.total_type) + 3) / 4)}));
  std::vector<Work> list;
  for (const ops::CumulativePass& pass : made.passes) {
    Launch launch{pass.program, pass.teams, {}};
    for (const uint8_t which : pass.arguments)
      launch.bindings.push_back({Binding::Kind::tensor, tensors[which]});
    list.push_back(work_of(std::move(launch), device));
  }
  return list;
}

}  // namespace adit::compile
