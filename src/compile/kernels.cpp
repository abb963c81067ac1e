#include "compile/kernels.hpp"

#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;

Work work_of(Launch launch, Device& device) {
  Work work;
  work.name = launch.program.name;
  work.kernel = device.compile(launch.program);
  work.program = std::move(launch.program);
  work.teams = launch.teams;
  for (const Binding& binding : launch.bindings)
    if (binding.kind == Binding::Kind::tensor) work.touches.push_back(binding.node);
  work.bindings = std::move(launch.bindings);
  return work;
}

Work kernel_on(const kernel::Program& program, uint64_t teams, std::initializer_list<const Node*> tensors,
               Device& device) {
  Launch launch{program, teams, {}};
  for (const Node* node : tensors) launch.bindings.push_back({Binding::Kind::tensor, node});
  return work_of(std::move(launch), device);
}

Work copy_work(const Node& from, const Node& to) {
  Work work;
  work.name = "copy";
  work.touches = {&from, &to};
  work.conduct = [&from, &to](const LocationOf& location_of) {
    const uint64_t bytes = static_cast<uint64_t>(element_count(to.shape)) * size_of(to.type);
    return CopyStep{location_of(from), location_of(to), bytes};
  };
  return work;
}

Work zero_work(const Node& node) {
  Work work;
  work.name = "fill";
  work.touches = {&node};
  work.conduct = [&node](const LocationOf& location_of) { return FillStep{location_of(node)}; };
  return work;
}

std::vector<Work> kernel_work(const Group& group, Workshop& shop, Device& device) {
  const Node& node = *group.roots[0];  // the oldest: what an epilogue computes comes after it
  switch (node.op) {
    case Op::dot: return dot_work(group, shop, device);
    case Op::concatenate: return concatenate_work(group, shop, device);
    case Op::indexed_add:
    case Op::indexed_put: return scatter_work(node, shop, device);
    case Op::cholesky: return cholesky_work(node, shop, device);
    case Op::triangular_solve: return triangular_work(node, shop, device);
    case Op::cumulative_sum:
    case Op::cumulative_product:
    case Op::cumulative_min:
    case Op::cumulative_max: return cumulative_work(node, shop, device);
    case Op::attention: return attention_work(node, device);
    case Op::item: return {};  // its control node writes it
    default: return control_work(node, shop, device);
  }
}

}  // namespace adit::compile
