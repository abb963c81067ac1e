#include "stan/row_choice.hpp"

#include <unordered_map>

#include <adit/ops.hpp>

#include "graph/node.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::stan {

namespace {

using graph::Node;
using graph::Op;

class RowChoice {
 public:
  RowChoice(int64_t extent, const std::vector<double>& rows)
      : extent_(extent), count_(std::ssize(rows)), rows_(rows.begin(), rows.end()) {}

  // Rows of `x`, whose axis 0 counts them.
  Tensor of(const Tensor& x) {
    const Node* node = &graph::node_of(x);
    if (const auto found = made_.find(node); found != made_.end()) return found->second;
    const Tensor result = made_of(x, *node);
    made_.emplace(node, result);
    return result;
  }
  int choices() const { return choices_; }
  int cost() const { return cost_; }  // of what is computed for each row

 private:
  Shape shape_of(const Shape& all) const {
    Shape shape = all;
    shape[0] = count_;
    return shape;
  }

  Tensor chosen(const Tensor& x) {
    if (!index_) index_ = tensor(rows_, {count_});
    return take(x, index_, 0);
  }

  Tensor made_of(const Tensor& x, const Node& node) {
    if (node.computed) {  // data: chosen once and for all
      Tensor part = chosen(x);
      part.eval();
      return part;
    }
    if (node.op == Op::constant || node.op == Op::number) return x;
    if (graph::row_of(node.op).kind == graph::Kind::elementwise) return elementwise(node);
    if (node.op == Op::broadcast) return broadcast(node);
    if (node.op == Op::reshape && node.operands[0].rank() > 0 && node.operands[0].dim(0) == extent_)
      return reshape(of(node.operands[0]), shape_of(node.shape));
    if (node.op == Op::dot && by_rows(node)) {
      const Tensor left = of(node.operands[0]);
      return graph::make_node(node.op, node.type, shape_of(node.shape), {left, node.operands[1]},
                              node.attributes);
    }
    if (node.op == Op::gather && node.operands[1].rank() > 1 && node.operands[1].dim(0) == extent_ &&
        is_data(node.operands[1]))
      return graph::make_node(node.op, node.type, shape_of(node.shape),
                              {node.operands[0], of(node.operands[1])}, node.attributes);
    ++choices_;
    return chosen(x);
  }

  static bool is_data(const Tensor& x) {
    const Node& node = graph::node_of(x);
    return node.computed || (node.op == Op::reshape && is_data(node.operands[0]));
  }

  Tensor elementwise(const Node& node) {
    std::vector<Tensor> operands;
    cost_ += graph::row_of(node.op).cost;
    for (const Tensor& operand : node.operands) operands.push_back(operand.rank() ? of(operand) : operand);
    return graph::make_node(node.op, node.type, shape_of(node.shape), std::move(operands), node.attributes);
  }

  Tensor broadcast(const Node& node) {
    const Tensor& from = node.operands[0];
    const Axes& axes = node.as<graph::AxisList>().axes;
    const bool along = axes.size() > 0 && axes[0] == 0 && from.dim(0) == extent_;
    return graph::make_node(node.op, node.type, shape_of(node.shape), {along ? of(from) : from},
                            node.attributes);
  }

  // A matrix of data, whose rows the product keeps as its first axis.
  bool by_rows(const Node& node) const {
    const auto& dot = node.as<graph::DotAttributes>();
    if (!dot.batch_a.empty()) return false;
    const Tensor& left = node.operands[0];
    if (left.rank() < 1 || left.dim(0) != extent_) return false;
    for (const int64_t axis : dot.contract_a)
      if (axis == 0) return false;
    return true;
  }

  int64_t extent_, count_;
  std::vector<int64_t> rows_;
  Tensor index_;
  int choices_ = 0, cost_ = 0;
  std::unordered_map<const Node*, Tensor> made_;
};

bool differ(const std::vector<double>& rows, int64_t extent) {
  std::vector<bool> seen(static_cast<size_t>(extent));
  for (const double row : rows) {
    const auto at = static_cast<size_t>(row);
    if (seen[at]) return false;
    seen[at] = true;
  }
  return true;
}

}  // namespace

Tensor chosen_rows(const Tensor& table, const std::vector<double>& rows) {
  const int64_t extent = table.dim(0);
  if (rows.size() < 2 || extent < 2 || !differ(rows, extent)) return {};
  RowChoice choice(extent, rows);
  const Tensor result = choice.of(table);
  return choice.choices() <= 1 ? result : Tensor();
}

Tensor repeated_rows(const Tensor& table, const std::vector<int64_t>& rows) {
  constexpr int cheap = 16;  // additions for a row that nobody reads
  const int64_t extent = table.dim(0);
  if (extent < 2) return {};
  RowChoice choice(extent, std::vector<double>(rows.begin(), rows.end()));
  const Tensor result = choice.of(table);
  const bool are_few_more = std::ssize(rows) <= 2 * extent;
  return choice.choices() == 0 && (are_few_more || choice.cost() <= cheap) ? result : Tensor();
}

}  // namespace adit::stan
