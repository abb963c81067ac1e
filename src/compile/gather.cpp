// Loops that do nothing but gather single elements from a large table.
#include "ops/gather.hpp"

#include "compile/launch.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;

namespace {

// Where the elements of `node` lie in memory, in its order. Null: they are computed, or moved.
const Node* source_of(const Node& node, const Group& group, const Partition& partition) {
  const Node* source = &node;
  while (source->op == Op::reshape && !partition.in_memory.contains(source))
    source = &graph::node_of(source->operands[0]);
  return partition.in_memory.contains(source) && !group.contains(*source) ? source : nullptr;
}

// An index, and nothing else, says where in x an element comes from.
bool takes_single_elements(const Node& node) {
  const Tensor& x = node.operands[0];
  if (node.op == Op::take_along_axis) return x.rank() == 1;
  if (node.op != Op::gather) return false;
  const Axes& axes = node.as<graph::AxisList>().axes;
  return axes.size() == 1 && x.shape()[static_cast<int>(axes[0])] == x.size();
}

}  // namespace

std::optional<Launch> phased_loop(const Group& group, Workshop& shop) {
  if (!shop.target.gpu || group.roots.size() != 1) return std::nullopt;
  const Node& root = *group.roots[0];
  const Node* node = &root;
  while (node->op == Op::reshape) node = &graph::node_of(node->operands[0]);
  if (node != &root && shop.partition.in_memory.contains(node)) return std::nullopt;  // only a copy
  if (graph::row_of(node->op).kind == graph::Kind::leaf || !takes_single_elements(*node)) return std::nullopt;
  if (is_complex(node->type) || size_of(node->type) != 4) return std::nullopt;
  const Node* table = source_of(graph::node_of(node->operands[0]), group, shop.partition);
  const Node* indices = source_of(graph::node_of(node->operands[1]), group, shop.partition);
  if (!table || !indices) return std::nullopt;
  ops::GatherPlan plan;
  plan.index_type = storage_type(indices->type);
  plan.table = static_cast<uint64_t>(element_count(table->shape));
  plan.count = static_cast<uint64_t>(element_count(root.shape));
  const auto tuning = ops::choose_phases(plan, shop.target.limits);
  if (!tuning) return std::nullopt;
  ops::PhasedGather made = ops::phased_gather(plan, *tuning);
  using Bound = Binding::Kind;
  return Launch{
      std::move(made.program),
      made.teams,
      {{Bound::tensor, &root, true}, {Bound::tensor, table, false}, {Bound::tensor, indices, false}}};
}

}  // namespace adit::compile
