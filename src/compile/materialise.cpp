// Decides which tensors are put into memory.
#include <algorithm>
#include <set>

#include "compile/kernels.hpp"
#include "compile/partition_steps.hpp"
#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;

namespace {

constexpr double cheap = 6;  // cost up to which a value is computed again
constexpr double many = 4;   // readers from which it is not
constexpr int most_nested = 64;

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
double expansion(const Node& user, const Node& operand, const Target& target) {
  const double size = static_cast<double>(std::max<int64_t>(1, element_count(operand.shape)));
  if (user.op == Op::dot)
    return std::max(1.0, static_cast<double>(element_count(user.shape)) *
                             static_cast<double>(contracted_count(user)) / size);
  const Kind kind = graph::row_of(user.op).kind;
  if (kind != Kind::view || joins_by_parts(user, target)) return 1;
  return std::max(1.0, static_cast<double>(element_count(user.shape)) / size);
}

// Decides what goes into memory besides what must.
class Materialiser {
 public:
  Materialiser(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
               const Target& target)
      : nodes_(nodes), target_(target), inputs_(inputs), in_memory_(inputs) {
    for (const Node* node : nodes) {
      for (const Tensor& operand : node->operands) users_[&graph::node_of(operand)].push_back(node);
      if (inputs.contains(node)) continue;
      if (outputs.contains(node) && !inputs.contains(node)) in_memory_.insert(node);
      const Kind kind = graph::row_of(node->op).kind;
      if (has_own_kernel(*node, target)) {
        in_memory_.insert(node);
        for (const Tensor& operand : node->operands) {
          // Updates of zeros start from a fill.
          if (&operand == &node->operands[0] && starts_from_zero(*node)) continue;
          if (joins_by_parts(*node, target)) continue;
          const auto which = static_cast<size_t>(&operand - node->operands.data());
          in_memory_.insert(node->op == Op::conv ? &conv_reads(*node, which, target)
                                                 : &memory_of(graph::node_of(operand)));
        }
      }
      if (kind == Kind::reduction && !is_inline_reduction(*node, target)) in_memory_.insert(node);
    }
  }

  Set run() {
    measure();
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) decide(**it);
    return std::move(in_memory_);
  }

 private:
  struct Inside {
    double cost = 0;
    double size = 0;  // of the code
    int nested = 0;   // what is not elementwise, in each other: the writer of elements recurses there
  };

  void measure() {
    for (const Node* node : nodes_) {
      if (is_leaf(*node) || inputs_.contains(node)) continue;
      Inside mine = inside_of(*node);
      // The sum over the operands is an upper bound, since shared parts count twice. Where the kernel is too
      // long the largest part of it is cut off.
      while (mine.size > most_code) {
        const double counted = size_of_kernel(*node);
        const bool fits = counted <= most_code;
        if (fits) mine.size = counted;
        if (fits || !cut_below(*node)) break;
        mine = inside_of(*node);
      }
      while (mine.nested > most_nested && cut_deepest(*node)) mine = inside_of(*node);
      if (in_memory_.contains(node)) continue;
      // So that what reads the repetition is not held to be expensive.
      if (mine.cost > cheap && is_repeated(*node))
        in_memory_.insert(node);
      else
        inside_[node] = mine;
    }
  }

  // How many times an element of the operands is written into the kernel where the node is computed.
  static double copies(const Node& node) {
    constexpr int64_t unrolled = 8;  // longer ones are loops
    const int64_t count = graph::row_of(node.op).kind == Kind::reduction ? reduced_count(node)
                          : node.op == Op::dot                           ? contracted_count(node)
                                                                         : 1;
    return count <= unrolled ? static_cast<double>(count) : 1;
  }

  Inside inside_of(const Node& node) const {
    Inside mine{own_cost(node), length_of(node), 0};
    const double times = graph::row_of(node.op).kind == Kind::reduction ? mine.cost
                         : node.op == Op::dot                           ? mine.cost / 2
                                                                        : 1;
    if (joins_by_parts(node, target_)) return mine;  // each part has its own loop
    for (const Tensor& operand : node.operands) {
      const auto it = inside_.find(&graph::node_of(operand));
      if (it != inside_.end()) mine.cost += it->second.cost * times;
      if (it != inside_.end()) mine.nested = std::max(mine.nested, it->second.nested);
      mine.size +=
          copies(node) * (it != inside_.end() ? it->second.size : load_length(graph::node_of(operand)));
    }
    if (!graph::row_of(node.op).scalar && node.op != Op::alias) ++mine.nested;
    return mine;
  }

  // Asked again and again of the same nodes.
  double length_of(const Node& node) const {
    const auto [it, is_new] = lengths_.try_emplace(&node, 0.0);
    if (is_new) it->second = code_length(node);
    return it->second;
  }

  // Of what is in memory, or given; what is not either has a length of its own.
  static double load_length(const Node& node) {
    return node.op == Op::constant || node.op == Op::number ? 0 : of_a_load;
  }

  // Puts the largest operand into memory; false where none is more than a load.
  bool cut_below(const Node& node) {
    const Node* largest = nullptr;
    double size = of_a_load;
    for (const Tensor& operand : node.operands)
      if (const auto it = inside_.find(&graph::node_of(operand));
          it != inside_.end() && it->second.size > size) {
        largest = &graph::node_of(operand);
        size = it->second.size;
      }
    // Not what only repeats or renames it.
    while (largest &&
           (largest->op == Op::broadcast || largest->op == Op::reshape || largest->op == Op::alias)) {
      inside_[largest] = {own_cost(*largest), 2, 1};
      largest = &graph::node_of(largest->operands[0]);
      if (!inside_.contains(largest)) largest = nullptr;
    }
    if (!largest) return size > of_a_load;
    in_memory_.insert(largest);
    inside_.erase(largest);
    return true;
  }

  // Puts the operand into memory in which most lie in each other; false where there is none.
  bool cut_deepest(const Node& node) {
    const Node* deepest = nullptr;
    int nested = 0;
    for (const Tensor& operand : node.operands)
      if (const auto it = inside_.find(&graph::node_of(operand));
          it != inside_.end() && it->second.nested > nested) {
        deepest = &graph::node_of(operand);
        nested = it->second.nested;
      }
    if (!deepest) return false;
    inside_.erase(deepest);  // a reshape shares what it reshapes
    const Node& base = memory_of(*deepest);
    inside_.erase(&base);
    if (!inputs_.contains(&base)) in_memory_.insert(&base);
    return true;
  }

  // True where a view shows an element of the node many times.
  bool is_repeated(const Node& node) {
    const auto& users = users_[&node];
    return node.op != Op::iota && std::any_of(users.begin(), users.end(), [&](const Node* user) {
             return graph::row_of(user->op).kind == Kind::view && expansion(*user, node, target_) >= many;
           });
  }

  // The code of a kernel of `root`, counted until it is too long. An elementwise operand
  // is read at its reader's place, as is an index along an axis, and once by all who read it there; index
  // maps and reductions read at places of their own.
  double size_of_kernel(const Node& root) const {
    struct Visit {
      const Node* node;
      uint32_t place;
      double times;
    };
    std::set<std::pair<const Node*, uint32_t>> seen;
    std::vector<Visit> open{{&root, 0, 1}};
    uint32_t places = 0;
    double size = 0;
    while (!open.empty() && size <= most_code) {
      const auto [node, place, times] = open.back();
      open.pop_back();
      if (!seen.insert({node, place}).second) continue;
      const bool loads = node != &root && (is_leaf(*node) || in_memory_.contains(node));
      size += times * (loads ? load_length(*node) : length_of(*node));
      if (loads) continue;
      const bool same_place = graph::row_of(node->op).kind == Kind::elementwise || node->op == Op::alias;
      for (const Tensor& operand : node->operands) {
        const bool is_index = node->op == Op::take_along_axis && &operand == &node->operands[1];
        open.push_back(
            {&graph::node_of(operand), same_place || is_index ? place : ++places, times * copies(*node)});
      }
    }
    return size;
  }

  void decide(const Node& node) {
    if (is_leaf(node)) return;
    double factor = 1;
    std::set<const Node*> roots;
    for (const Node* user : users_[&node]) {
      const bool stored = in_memory_.contains(user);
      factor = std::max(factor, expansion(*user, node, target_) * (stored ? 1.0 : factor_[user]));
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

  const std::vector<const Node*>& nodes_;
  const Target& target_;
  const Set& inputs_;
  Set in_memory_;
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  std::unordered_map<const Node*, Inside> inside_;
  mutable std::unordered_map<const Node*, double> lengths_;
  std::unordered_map<const Node*, double> factor_;
  std::unordered_map<const Node*, std::set<const Node*>> roots_;
};

}  // namespace

Set materialise(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
                const Target& target) {
  return Materialiser(nodes, inputs, outputs, target).run();
}

}  // namespace adit::compile
