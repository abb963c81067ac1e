// Decides which tensors are put into memory.
#include <algorithm>
#include <set>

#include "compile/partition_steps.hpp"
#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;

namespace {

constexpr double cheap = 6;  // cost up to which a value is computed again
constexpr double many = 4;   // readers from which it is not
constexpr int most_nodes_inside = 400;

bool is_leaf(const Node& node) {
  return graph::row_of(node.op).kind == Kind::leaf && node.op != Op::iota && node.op != Op::alias;
}

double own_cost(const Node& node) {
  const graph::Row& row = graph::row_of(node.op);
  if (row.kind == Kind::reduction) return static_cast<double>(reduced_count(node));
  if (node.op == Op::dot) return 2.0 * static_cast<double>(contracted_count(node));
  if (node.op == Op::gather || node.op == Op::take_along_axis) return 2;
  if (row.kind == Kind::view) return 0.5;
  return row.cost;
}

// How many times an element of `operand` is read for the elements of `user`.
double expansion(const Node& user, const Node& operand) {
  if (user.op == Op::dot) {
    const double a = static_cast<double>(element_count(user.operands[0].shape()));
    return std::max(1.0, static_cast<double>(element_count(user.shape)) *
                             static_cast<double>(contracted_count(user)) / a);
  }
  const Kind kind = graph::row_of(user.op).kind;
  if (kind != Kind::view) return 1;
  const double size = static_cast<double>(std::max<int64_t>(1, element_count(operand.shape)));
  return std::max(1.0, static_cast<double>(element_count(user.shape)) / size);
}

// Decides what goes into memory besides what must.
class Materialiser {
 public:
  Materialiser(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
               const Target& target)
      : nodes_(nodes), in_memory_(inputs) {
    for (const Node* node : nodes) {
      for (const Tensor& operand : node->operands) users_[&operand.node()].push_back(node);
      if (inputs.contains(node)) continue;
      if (outputs.contains(node) && !inputs.contains(node)) in_memory_.insert(node);
      const Kind kind = graph::row_of(node->op).kind;
      if (has_own_kernel(*node, target)) {
        in_memory_.insert(node);
        for (const Tensor& operand : node->operands) {
          // Updates of zeros start from a fill.
          if (&operand == &node->operands[0] && starts_from_zero(*node)) continue;
          in_memory_.insert(&memory_of(operand.node()));
        }
      }
      if (kind == Kind::reduction && !is_inline_reduction(*node)) in_memory_.insert(node);
    }
  }

  Set run() {
    measure();
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) decide(**it);
    return std::move(in_memory_);
  }

 private:
  void measure() {
    for (const Node* node : nodes_) {
      if (is_leaf(*node) || in_memory_.contains(node)) continue;
      Inside& mine = inside_[node];
      mine = {own_cost(*node), 1};
      const double times = graph::row_of(node->op).kind == Kind::reduction ? mine.cost
                           : node->op == Op::dot                           ? mine.cost / 2
                                                                           : 1;
      for (const Tensor& operand : node->operands)
        if (const auto it = inside_.find(&operand.node()); it != inside_.end()) {
          mine.cost += it->second.cost * times;
          mine.nodes += it->second.nodes;
        }
      // Too long for one kernel: an upper bound, since shared parts count twice.
      if (mine.nodes > most_nodes_inside && graph::row_of(node->op).kind == Kind::elementwise &&
          distinct_nodes(*node) > most_nodes_inside) {
        in_memory_.insert(node);
        inside_.erase(node);
      } else {
        mine.nodes = std::min(mine.nodes, most_nodes_inside * 4);
        if (mine.cost > cheap && is_repeated(*node)) {
          in_memory_.insert(node);  // so that what reads the repetition is not held to be expensive
          inside_.erase(node);
        }
      }
    }
  }

  // True where a view shows an element of the node many times.
  bool is_repeated(const Node& node) {
    const auto& users = users_[&node];
    return node.op != Op::iota && std::any_of(users.begin(), users.end(), [&](const Node* user) {
             return graph::row_of(user->op).kind == Kind::view && expansion(*user, node) >= many;
           });
  }

  int distinct_nodes(const Node& root) const {
    Set seen;
    std::vector<const Node*> open{&root};
    while (!open.empty()) {
      const Node* node = open.back();
      open.pop_back();
      if (is_leaf(*node) || in_memory_.contains(node) || !seen.insert(node).second) continue;
      for (const Tensor& operand : node->operands) open.push_back(&operand.node());
    }
    return static_cast<int>(seen.size());
  }

  void decide(const Node& node) {
    if (is_leaf(node)) return;
    double factor = 1;
    std::set<const Node*> roots;
    for (const Node* user : users_[&node]) {
      const bool stored = in_memory_.contains(user);
      factor = std::max(factor, expansion(*user, node) * (stored ? 1.0 : factor_[user]));
      if (stored)
        roots.insert(user);
      else
        roots.insert(roots_[user].begin(), roots_[user].end());
      if (roots.size() > 16) break;
    }
    factor_[&node] = factor;
    if (in_memory_.contains(&node)) return;
    const double cost = inside_.contains(&node) ? inside_[&node].cost : 0;
    const bool again = (roots.size() > 1 && cost > cheap) || (factor >= many && cost > cheap);
    if (again && node.op != Op::iota && graph::row_of(node.op).kind != Kind::leaf)
      in_memory_.insert(&node);
    else
      roots_[&node] = std::move(roots);
  }

  struct Inside {
    double cost = 0;
    int nodes = 0;
  };
  const std::vector<const Node*>& nodes_;
  Set in_memory_;
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  std::unordered_map<const Node*, Inside> inside_;
  std::unordered_map<const Node*, double> factor_;
  std::unordered_map<const Node*, std::set<const Node*>> roots_;
};

}  // namespace

Set materialise(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
                const Target& target) {
  return Materialiser(nodes, inputs, outputs, target).run();
}

}  // namespace adit::compile
