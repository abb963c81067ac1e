#include "compile/kept_row.hpp"

#include <algorithm>
#include <map>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::compile {

using graph::Kind;

namespace {

constexpr double dear = 10;                  // additions
constexpr int64_t most_of_a_lane = 4096;     // elements of an array that each lane has
constexpr int64_t most_of_a_team = 1 << 14;  // and of one that the team has

// All that an element of `roots` needs of the same place of the row, without what other passes computed.
std::set<const Node*> needed(const std::vector<const Node*>& roots, const Group& group,
                             const Partition& partition) {
  std::set<const Node*> seen;
  std::vector<const Node*> open = roots;
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    const Kind kind = graph::row_of(node->op).kind;
    const bool is_inside =
        !partition.arguments.contains(node) && (!partition.in_memory.contains(node) || group.contains(*node));
    if (!is_inside || !(node->shape == group.full) || kind != Kind::elementwise || !seen.insert(node).second)
      continue;
    for (const Tensor& operand : node->operands) open.push_back(&graph::node_of(operand));
  }
  return seen;
}

}  // namespace

KeptRow::KeptRow(const Group& group, const RowPlan& plan, const Partition& partition, bool by_team,
                 kernel::Builder& k) {
  std::vector<std::set<const Node*>> passes;
  for (const auto& level : plan.levels) {
    std::vector<const Node*> roots;
    for (const Node* node : level) roots.push_back(&graph::node_of(node->operands[0]));
    passes.push_back(needed(roots, group, partition));
  }
  passes.push_back(needed(plan.whole_roots, group, partition));
  std::map<uint64_t, const Node*> again;  // by age: the same graph gives the same kernel
  std::map<const Node*, int> first;
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    lengths_.push_back(0);
    for (const Node* node : passes[pass]) {
      lengths_.back() += code_length(*node);
      if (first.try_emplace(node, static_cast<int>(pass)).second || is_complex(node->type)) continue;
      if (graph::row_of(node->op).cost >= dear) again[node->number] = node;
    }
  }
  if (plan.length > (by_team ? most_of_a_team : most_of_a_lane) || again.size() > 2) return;
  for (const auto& [number, node] : again) {
    const auto length = static_cast<uint32_t>(plan.length);
    const kernel::Type type = compute_type(node->type);
    all_.push_back({node, first[node], by_team ? k.shared(type, length) : k.array(type, length)});
  }
}

void KeptRow::find(Writer& writer, int pass, Value r) const {
  for (const Kept& kept : all_)
    if (kept.first < pass) writer.fix(*kept.node, {kept.cells[r], {}, false});
}

void KeptRow::keep(Writer& writer, int pass, Value r, const Index& at) const {
  for (const Kept& kept : all_)
    if (kept.first == pass) kept.cells[r] = writer.read(*kept.node, at).re;
}

}  // namespace adit::compile
