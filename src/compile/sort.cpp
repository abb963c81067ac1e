// Sorting: by the host on a CPU, by kernels on a GPU.
#include "ops/sort.hpp"

#include "compile/kernels.hpp"
#include "graph/op.hpp"
#include "graph/trace.hpp"
#include "ops/sort_host.hpp"

namespace adit::compile {

namespace sorting {
namespace {

struct Extents {
  uint64_t outer = 1, length = 1, inner = 1;
};

Extents extents_of(const Node& node) {
  const int axis = node.as<graph::SortAttributes>().axis;
  Extents found;
  for (int other = 0; other < node.shape.size(); ++other) {
    const auto extent = static_cast<uint64_t>(node.shape[other]);
    (other < axis ? found.outer : other == axis ? found.length : found.inner) *= extent;
  }
  return found;
}

std::vector<Work> on_host(const Node& node, const Extents& extents, const std::vector<const Node*>& results) {
  ops::HostSort plan{node.type, extents.outer, extents.length, extents.inner,
                     node.as<graph::SortAttributes>().descending};
  std::vector<Work> list;
  list.push_back(host_work("sort", {&graph::node_of(node.operands[0]), results[0], results[1]},
                           [plan](const std::vector<std::byte*>& a) {
                             ops::sort_on_host(plan, a[0], a[1], reinterpret_cast<int64_t*>(a[2]));
                           }));
  return list;
}

}  // namespace
}  // namespace sorting

std::vector<Work> sort_work(const Node& node, Workshop& shop, Device& device) {
  using namespace sorting;
  const Extents extents = extents_of(node);
  if (element_count(node.shape) == 0) return {};
  const std::vector<const Node*> results = picked_results(node, shop);
  if (device.info().kind == DeviceKind::cpu) return on_host(node, extents, results);
  ops::SortPlan plan;
  plan.type = node.type;
  plan.outer = extents.outer;
  plan.length = extents.length;
  plan.inner = extents.inner;
  plan.descending = node.as<graph::SortAttributes>().descending;
  plan.wants_values = results[0] != nullptr;
  plan.wants_places = results[1] != nullptr;
  const ops::Sort made = ops::sort(plan, device.limits());
  std::vector<const Node*> tensors = {&graph::node_of(node.operands[0]), results[0], results[1]};
  for (const uint64_t bytes : made.scratch)
    tensors.push_back(&shop.make_scratch(DType::u32, {static_cast<int64_t>((bytes + 3) / 4)}));
  std::vector<Work> list;
  for (const ops::SortPass& pass : made.passes) {
    Launch launch{made.programs[pass.program], pass.teams, {}};
    for (const uint8_t which : pass.buffers)
      launch.bindings.push_back({Binding::Kind::tensor, tensors[which]});
    for (const uint32_t number : pass.numbers)
      launch.bindings.push_back({Binding::Kind::constant, nullptr, false, number, kernel::Type::u32});
    list.push_back(work_of(std::move(launch), device));
  }
  return list;
}

}  // namespace adit::compile
