#include "compile/kernels.hpp"

namespace adit::compile {

using graph::Op;

Work work_of(Launch launch, Device& device) {
  Work work;
  work.name = launch.program.name;
  work.kernel = device.compile(launch.program);
  work.teams = launch.teams;
  for (const Binding& binding : launch.bindings)
    if (binding.kind == Binding::Kind::tensor) work.touches.push_back(binding.node);
  work.bindings = std::move(launch.bindings);
  return work;
}

Work kernel_on(const kernel::Program& program, uint64_t teams, std::initializer_list<const Node*> tensors,
               Device& device) {
  Launch launch{program, teams, {}};
  for (const Node* node : tensors) launch.bindings.push_back({Binding::Kind::tensor, node, false});
  return work_of(std::move(launch), device);
}

Work copy_work(const Node& from, const Node& to) {
  Work work;
  work.name = "copy";
  work.touches = {&from, &to};
  work.conduct = [&from, &to](const LocationOf& location_of) {
    const uint64_t bytes = static_cast<uint64_t>(element_count(to.shape)) * size_of(to.type);
    return [source = location_of(from), target = location_of(to), bytes](Run& run) {
      if (bytes) run.device().copy(run.buffer(source), run.buffer(target), bytes);
    };
  };
  return work;
}

Work zero_work(const Node& node) {
  Work work;
  work.name = "fill";
  work.touches = {&node};
  work.conduct = [&node](const LocationOf& location_of) {
    return [place = location_of(node)](Run& run) {
      if (place.bytes) run.device().fill(run.buffer(place), 0);
    };
  };
  return work;
}

std::vector<Work> kernel_work(const Node& node, Workshop& shop, Device& device) {
  switch (node.op) {
    case Op::dot: return dot_work(node, shop, device);
    case Op::indexed_add:
    case Op::indexed_put: return scatter_work(node, shop, device);
    case Op::cholesky: return cholesky_work(node, shop, device);
    case Op::triangular_solve: return triangular_work(node, shop, device);
    case Op::item: return {};  // its control node writes it
    default: return control_work(node, shop, device);
  }
}

}  // namespace adit::compile
