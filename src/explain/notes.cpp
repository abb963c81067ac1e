// Takes down what a compilation did.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "explain/explain.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;

namespace {

std::string joined(const Axes& axes) {
  std::string text;
  for (const int64_t axis : axes) text += fmt::format("{}{}", text.empty() ? "" : ", ", axis);
  return text;
}

// What a reader wants to know besides the operands.
std::string details(const Node& node) {
  if (const auto* literal = std::get_if<graph::Literal>(&node.attributes)) {
    if (node.op == Op::number) return "";
    if (is_integer(node.type)) return fmt::format(" {}", literal->integer);
    return is_complex(node.type) ? fmt::format(" {}{:+}i", literal->real, literal->imag)
                                 : fmt::format(" {}", literal->real);
  }
  if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&node.attributes))
    return fmt::format(" axes [{}]", joined(reduce->axes));
  if (const auto* list = std::get_if<graph::AxisList>(&node.attributes))
    return fmt::format(" axes [{}]", joined(list->axes));
  if (const auto* one = std::get_if<graph::OneAxis>(&node.attributes))
    return one->axis < 0 ? "" : fmt::format(" axis {}", one->axis);
  if (const auto* dot = std::get_if<graph::DotAttributes>(&node.attributes))
    return fmt::format(" over [{}] and [{}]", joined(dot->contract_a), joined(dot->contract_b));
  return "";
}

class NoteTaker {
 public:
  explicit NoteTaker(const Made& made) : made_(made) {
    for (size_t i = 0; i < made.nodes.size(); ++i) labels_[made.nodes[i]] = fmt::format("%{}", i);
    for (size_t i = 0; i < made.scratch.size(); ++i)
      labels_[&graph::node_of(made.scratch[i])] = fmt::format("scratch{}", i);
  }

  Notes run() {
    for (const Node* node : made_.nodes) notes_.graph.push_back(line(*node));
    notes_.inputs = made_.inputs.size();
    for (size_t i = 0; i < made_.work.size(); ++i) step(i);
    for (const MemoryPlan::Life& life : made_.plan.lives())
      notes_.arena.push_back(
          {label(*static_cast<const Node*>(life.key)), life.offset, life.bytes, life.first, life.last});
    std::stable_sort(notes_.arena.begin(), notes_.arena.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return std::move(notes_);
  }

 private:
  std::string label(const Node& node) const {
    const auto it = labels_.find(&node);
    return it == labels_.end() ? "?" : it->second;
  }

  std::string line(const Node& node) const {
    const bool is_input = made_.inputs.contains(&node);
    std::string text = fmt::format("{} = {}", label(node), is_input ? "input" : graph::name_of(node.op));
    if (!is_input) {
      for (const Tensor& operand : node.operands) text += " " + label(graph::node_of(operand));
      text += details(node);
    }
    text += fmt::format(" : {}{}", name_of(node.type), to_string(node.shape));
    if (is_input) return text;
    if (made_.outputs.contains(&node)) return text + "  -> output";
    return made_.parts.in_memory.contains(&node) && made_.parts.stored.contains(&node) ? text + "  -> memory"
                                                                                       : text;
  }

  // The host's work writes what nobody touched before.
  std::vector<Use> uses(const Work& work) const {
    if (work.kernel) return uses_of(work);
    std::vector<Use> all;
    for (const Node* node : work.touches) {
      const Node& base = memory_of(*node);
      const bool known = made_.inputs.contains(&base) ||
                         (touched_.contains(&base) && !(work.written && node == work.touches[1]));
      all.push_back({node, known, !known});
    }
    return all;
  }

  void step(size_t i) {
    const Work& work = made_.work[i];
    Notes::OfStep mine;
    for (const Use& use : uses(work)) {
      if (use.reads) mine.reads.push_back(label(*use.node));
      if (use.writes) mine.writes.push_back(label(*use.node));
    }
    for (const Node* node : work.touches) touched_.insert(&memory_of(*node));
    const auto& groups = made_.groups[i];
    size_t first = i, last = i;
    while (first > 0 && made_.groups[first - 1] == groups) --first;
    while (last + 1 < made_.groups.size() && made_.groups[last + 1] == groups) ++last;
    mine.cost = groups.size() > 1 ? cost_of_team(work, groups, made_.parts)
                                  : cost_of(work, *groups[0], made_.parts, i - first, last - first);
    mine.by_matrices = work.kernel && kernel::uses_matrices(work.program);
    notes_.steps.push_back(std::move(mine));
  }

  const Made& made_;
  Notes notes_;
  std::unordered_map<const Node*, std::string> labels_;
  std::set<const Node*> touched_;
};

}  // namespace

Notes take_notes(const Made& made) { return NoteTaker(made).run(); }

}  // namespace adit::compile
