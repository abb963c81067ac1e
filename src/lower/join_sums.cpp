#include "lower/join_sums.hpp"

#include <map>
#include <unordered_map>

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

namespace {

struct Term {
  Tensor x;
  bool is_negative = false;
};

bool adds(const Node& node) {
  return !node.computed && is_float(node.type) &&
         (node.op == Op::add || node.op == Op::subtract || node.op == Op::negate);
}

class Joiner {
 public:
  std::vector<Tensor> run(std::span<const Tensor> roots) {
    const std::vector<Tensor> nodes = graph::reachable(roots, false);
    for (const Tensor& x : nodes)
      if (!graph::node_of(x).computed)
        for (const Tensor& operand : graph::node_of(x).operands) {
          ++uses_[&graph::node_of(operand)];
          if (adds(graph::node_of(x))) ++added_[&graph::node_of(operand)];
        }
    for (const Tensor& root : roots) ++uses_[&graph::node_of(root)];
    for (const Tensor& x : nodes) now_[&graph::node_of(x)] = visit(x);
    std::vector<Tensor> results;
    for (const Tensor& root : roots) results.push_back(now_.at(&graph::node_of(root)));
    return results;
  }

 private:
  bool is_inner(const Node& node) const {
    const auto added = added_.find(&node);
    return uses_.at(&node) == 1 && added != added_.end();
  }
  bool is_own_sum(const Node& node) const {
    return node.op == Op::sum && !node.computed && uses_.at(&node) == 1;
  }

  Tensor visit(const Tensor& x) {
    const Node& node = graph::node_of(x);
    if (node.computed || node.operands.empty()) return x;
    if (adds(node) && !is_inner(node))
      if (const Tensor joined = joined_sum(x)) return joined;
    return rebuilt(x);
  }

  Tensor rebuilt(const Tensor& x) {
    const Node& node = graph::node_of(x);
    std::vector<Tensor> operands;
    bool changed = false;
    for (const Tensor& operand : node.operands) {
      operands.push_back(now_.at(&graph::node_of(operand)));
      changed = changed || graph::pointer_of(operands.back()) != graph::pointer_of(operand);
    }
    return changed ? graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes)
                   : x;
  }

  // The terms of a tree of additions that nobody else reads, in their order.
  std::vector<Term> terms_of(const Tensor& sum) const {
    std::vector<Term> open{{sum, false}}, terms;
    while (!open.empty()) {
      const Term term = open.back();
      open.pop_back();
      const Node& node = graph::node_of(term.x);
      const bool is_root = &node == &graph::node_of(sum);
      if (!adds(node) || (!is_root && !is_inner(node))) {
        terms.push_back(term);
        continue;
      }
      if (node.op != Op::negate)
        open.push_back({node.operands[1], term.is_negative != (node.op == Op::subtract)});
      open.push_back({node.operands[0], node.op == Op::negate ? !term.is_negative : term.is_negative});
    }
    return terms;
  }

  static Tensor total_of(const std::vector<Term>& terms) {
    Tensor total;
    for (const Term& term : terms) {
      if (!total)
        total = term.is_negative ? negate(term.x) : term.x;
      else
        total = term.is_negative ? subtract(total, term.x) : add(total, term.x);
    }
    return total;
  }

  // Empty where no two sums are alike.
  Tensor joined_sum(const Tensor& x) {
    std::map<std::vector<int64_t>, std::vector<Term>> groups;  // by the shape and the axes that are summed
    std::vector<Term> rest;
    bool found = false;
    for (const Term& term : terms_of(x)) {
      const Node& node = graph::node_of(term.x);
      if (!is_own_sum(node)) {
        rest.push_back({now_.at(&node), term.is_negative});
        continue;
      }
      const Axes& axes = node.as<graph::ReduceAttributes>().axes;
      const Shape& shape = node.operands[0].shape();
      std::vector<int64_t> key(shape.begin(), shape.end());
      key.push_back(-1);
      key.insert(key.end(), axes.begin(), axes.end());
      auto& group = groups[key];
      group.push_back({now_.at(&graph::node_of(node.operands[0])), term.is_negative});
      found = found || group.size() > 1;
      kinds_[key] = term.x;
    }
    if (!found) return {};
    for (const auto& [key, group] : groups) {
      const Node& kind = graph::node_of(kinds_.at(key));
      rest.push_back(
          {graph::make_node(Op::sum, kind.type, kind.shape, {total_of(group)}, kind.attributes), false});
    }
    return total_of(rest);
  }

  std::unordered_map<const Node*, int> uses_, added_;
  std::unordered_map<const Node*, Tensor> now_;
  std::map<std::vector<int64_t>, Tensor> kinds_;
};

}  // namespace

std::vector<Tensor> join_sums(std::span<const Tensor> roots) { return Joiner().run(roots); }

}  // namespace adit::lower
