#include "density/wide.hpp"

#include <algorithm>
#include <vector>

#include "density/schedule.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::sampling {

using graph::Kind;
using graph::Op;

namespace {

// Rows from which a sum is wide. In f32 the sum of fewer is off by 1e-4 or less, and small kernels stay as
// they are.
constexpr int64_t long_sum = many_rows;

bool is_arithmetic(const Node& node) {
  return node.op == Op::add || node.op == Op::subtract || node.op == Op::negate || node.op == Op::multiply ||
         node.op == Op::divide;
}

class Plan {
 public:
  Plan(const Tensor& value, std::span<const Tensor> variables) : value_(&graph::node_of(value)) {
    for (const Tensor& x : variables) narrow_.insert(&graph::node_of(x));
    for (const Tensor& x : graph::reachable(std::span(&value, 1), true)) {  // operands first
      const Node& node = graph::node_of(x);
      nodes_.push_back(&node);
      if (is_factor(node)) budget_ += most_work_beside * factor_work(node);
    }
  }

  // From the value down to the sums that many rows go into.
  void widen_totals() {
    std::unordered_set<const Node*> reaching;
    for (const Node* node : nodes_)
      if (is_long_sum(*node) || (leads_to_value(*node) && reads_one_of(*node, reaching)))
        reaching.insert(node);
    std::vector<const Node*> open;
    const auto visit = [&](const Node& node) {
      if (reaching.contains(&node) && found_.insert(&node).second) open.push_back(&node);
    };
    visit(*value_);
    while (!open.empty()) {
      const Node& node = *open.back();
      open.pop_back();
      if (is_long_sum(node)) continue;
      for (const Tensor& operand : node.operands) visit(graph::node_of(operand));
    }
  }

  // All that the value is made of, down to the sums that many rows go into.
  void widen_value() {
    std::unordered_set<const Node*> seen;  // some of it may be wide already
    std::vector<const Node*> open;
    const auto visit = [&](const Node& node) {
      const bool is_short = element_count(node.shape) < long_sum;
      if (may_be_wide(node) && is_short && seen.insert(&node).second) open.push_back(&node);
    };
    visit(*value_);
    while (!open.empty()) {
      const Node& node = *open.back();
      open.pop_back();
      found_.insert(&node);
      for (const Tensor& operand : node.operands) visit(graph::node_of(operand));
    }
  }

  // Factors, and what they are made of back to the data, however large.
  void widen_factors() {
    for (const Node* node : nodes_)
      if (is_factor(*node) && may_be_wide(*node)) widen_back(*node);
  }

  std::unordered_set<const Node*> take() { return std::move(found_); }

 private:
  // Operations around the factors that are made in f64, for each of theirs.
  static constexpr int64_t most_work_beside = 4;
  static constexpr int64_t small_work = 32768;  // however small they are

  static bool is_long_sum(const Node& node) {
    return node.type == DType::f64 && reduces(node) && node.operands[0].size() >= long_sum;
  }

  static bool leads_to_value(const Node& node) {
    return node.type == DType::f64 && element_count(node.shape) < long_sum &&
           (is_arithmetic(node) || reduces(node) || graph::row_of(node.op).kind == Kind::view);
  }

  static bool reads_one_of(const Node& node, const std::unordered_set<const Node*>& nodes) {
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](const Tensor& x) { return nodes.contains(&graph::node_of(x)); });
  }

  // Elementwise work and index maps, products and sums, updates at places; not what has functions of its own
  // (loops and choices).
  bool may_be_wide(const Node& node) const {
    if (node.type != DType::f64 || narrow_.contains(&node)) return false;
    const Kind kind = graph::row_of(node.op).kind;
    return node.operands.empty() || kind == Kind::elementwise || kind == Kind::view || reduces(node) ||
           is_factor(node) || node.op == Op::indexed_add || node.op == Op::indexed_put;
  }

  bool is_cheap(const Node& node) const {
    const double times = reduces(node) ? static_cast<double>(length_of(node)) : 1;
    return is_factor(node) ||
           static_cast<double>(element_count(node.shape)) * graph::row_of(node.op).cost * times <=
               static_cast<double>(budget_);
  }

  void widen_back(const Node& factor) {
    std::vector<const Node*> open{&factor};
    found_.insert(&factor);
    while (!open.empty()) {
      const Node& node = *open.back();
      open.pop_back();
      for (const Tensor& operand : node.operands) {
        const Node& from = graph::node_of(operand);
        if (may_be_wide(from) && is_cheap(from) && found_.insert(&from).second) open.push_back(&from);
      }
    }
  }

  const Node* value_;
  std::vector<const Node*> nodes_;
  std::unordered_set<const Node*> narrow_, found_;
  int64_t budget_ = small_work;
};

}  // namespace

std::unordered_set<const Node*> wide_nodes(const Tensor& value, std::span<const Tensor> variables,
                                           Wide wide) {
  Plan plan(value, variables);
  if (wide != Wide::nothing) plan.widen_totals();
  if (wide == Wide::value) {
    plan.widen_value();
    plan.widen_factors();
  }
  return plan.take();
}

bool is_wider(const Tensor& wide, const Tensor& narrow) {
  const Tensors of_wide = graph::reachable(std::span(&wide, 1), true),
                of_narrow = graph::reachable(std::span(&narrow, 1), true);
  const auto is_wide = [](const Tensor& x) { return x.dtype() == DType::f64; };
  const auto has_functions = [](const Tensor& x) {
    return graph::row_of(graph::node_of(x).op).kind == Kind::control;
  };
  return std::count_if(of_wide.begin(), of_wide.end(), is_wide) >
             std::count_if(of_narrow.begin(), of_narrow.end(), is_wide) &&
         std::none_of(of_wide.begin(), of_wide.end(), has_functions);
}

}  // namespace adit::sampling
