// What the rows of a group are, and which reductions wait for which.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compile/rows.hpp"
#include "graph/op.hpp"
#include "lower/reduction.hpp"

namespace adit::compile {

namespace {

bool is_reduction(const Node& node) { return graph::row_of(node.op).kind == graph::Kind::reduction; }

// Reductions of the group that computing `node` needs, without going through another one. What other groups
// compute waits for none of them.
int level_of(const Node& node, const Group& group, const Partition& partition,
             const std::map<const Node*, int>& levels) {
  int level = 0;
  std::set<const Node*> seen;
  std::vector<const Node*> open;
  for (const Tensor& operand : node.operands) open.push_back(&graph::node_of(operand));
  while (!open.empty()) {
    const Node* next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    if (const auto it = levels.find(next); it != levels.end()) {
      level = std::max(level, it->second + 1);
      continue;
    }
    const bool is_inside = !partition.arguments.contains(next) && !partition.in_memory.contains(next);
    if (!is_inside && !group.contains(*next)) continue;
    for (const Tensor& operand : next->operands) open.push_back(&graph::node_of(operand));
  }
  return level;
}

// Axes of extent 1 do not count.
std::optional<Columns> columns_of(const Shape& full, const Axes& axes) {
  Columns columns;
  for (int axis = 0; axis < full.size(); ++axis) {
    if (full[axis] == 1) continue;
    if (axes.contains(axis)) {
      if (columns.inner > 1) return {};
      columns.lines *= full[axis];
    } else {
      (columns.lines > 1 ? columns.inner : columns.outer) *= full[axis];
    }
  }
  return columns.inner > 1 ? std::optional(columns) : std::nullopt;
}

}  // namespace

RowPlan plan_rows(const Group& group, const Partition& partition) {
  RowPlan plan;
  plan.count = group.row_count();
  plan.length = group.row_length();
  plan.consecutive = last_axes(group.full, group.axes);
  plan.columns = columns_of(group.full, group.axes);
  for (int axis = 0; axis < group.full.size(); ++axis)
    if (!group.axes.contains(axis)) plan.rows.push_back(group.full[axis]);
  std::map<const Node*, int> levels;
  for (const Node* root : group.roots) {
    if (is_reduction(*root) && root->operands[0].shape() == group.full) {
      const int level = level_of(*root, group, partition, levels);
      levels[root] = level;
      plan.levels.resize(std::max(plan.levels.size(), static_cast<size_t>(level) + 1));
      plan.levels[static_cast<size_t>(level)].push_back(root);
    }
    if (!partition.stored.contains(root)) continue;
    (root->shape == group.full && !is_reduction(*root) ? plan.whole_roots : plan.row_roots).push_back(root);
  }
  return plan;
}

void fix_row_values(Writer& writer, const Group& group, const Partition& partition, const Index& row) {
  std::map<uint64_t, const Node*> same;
  std::set<const Node*> anywhere;
  for_each_inside(group, partition, [&](const Node& node, Reading reading) {
    if (reading == Reading::whole && is_row_broadcast(node, group.full, group.axes))
      same[node.number] = &node;
    if (reading == Reading::elsewhere) anywhere.insert(&node);
  });
  for (const auto& [number, node] : same) {
    if (anywhere.contains(node) || writer.is_fixed(*node)) continue;
    const Node& operand = graph::node_of(node->operands[0]);
    // Only where every reduction it needs is done.
    if (!writer.can_read(operand)) continue;
    writer.fix(*node, writer.read(operand, row.reshaped(operand.shape)));
  }
}

}  // namespace adit::compile
