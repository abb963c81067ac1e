#include "lower/early_functions.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "graph/trace.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

namespace {

constexpr int64_t fewer_by = 2;    // numbers that are taken for each that is there
constexpr int worth_a_gather = 8;  // cost of functions, in additions

// The elements of `source` at the places of `gather`, in any shape.
struct Taken {
  Tensor source;
  Tensor gather;
  int cost = 0;  // of the functions that made the source of what was gathered
};

bool is_at_same_places(const Taken& a, const Taken& b) {
  const Node &x = graph::node_of(a.gather), &y = graph::node_of(b.gather);
  return graph::pointer_of(x.operands[1]) == graph::pointer_of(y.operands[1]) &&
         x.as<graph::AxisList>().axes == y.as<graph::AxisList>().axes &&
         a.source.shape() == b.source.shape() && a.gather.shape() == b.gather.shape();
}

// A number that is the same everywhere.
std::optional<Tensor> one_number(const Tensor& x) {
  const Node& node = graph::node_of(x);
  if (x.rank() == 0) return x;
  if (node.op == Op::broadcast && !node.computed && node.operands[0].size() == 1)
    return reshape(node.operands[0], {});
  return std::nullopt;
}

// x, where places that nobody takes have what the first place has: a function's slope there would meet a
// gradient of 0, and NaN would come of one that is not finite.
std::optional<Tensor> with_places_only(const graph::Visit& gather) {
  const Tensor &x = gather.operands[0], &places = gather.operands[1];
  const Axes& axes = graph::node_of(gather.node).as<graph::AxisList>().axes;
  const bool are_rows = axes.size() == 1 && axes[0] == 0, are_all = axes == Axes::counted(x.rank());
  if (!are_rows && !are_all) return std::nullopt;
  const int64_t each = axes.size();
  const Tensor first = slice(reshape(places, {places.size() / each, each}), {0, 0}, {1, each});
  const Tensor taken = adit::gather(x, first, axes);  // [1, what is left of x's axes]
  const Tensor instead = broadcast_to(are_all ? reshape(taken, {}) : taken, x.shape());
  const Tensor marks =
      indexed_put(zeros(x.shape(), DType::u8), places, ones(gather.node.shape(), DType::u8), axes);
  return select(marks != 0, x, instead);
}

class Early {
 public:
  Early(const std::vector<Tensor>& roots, const std::vector<Tensor>& inputs) {
    const graph::Dependents found = graph::dependents(roots, inputs);
    for (const graph::Visit& step : found.steps)
      if (std::optional<Taken> taken = taken_by(step, found))
        taken_.emplace(&graph::node_of(step.node), *taken);
    for (const Tensor& root : roots) outside_.insert(&graph::node_of(root));
    for (const graph::Visit& step : found.steps)
      if (!taken_.contains(&graph::node_of(step.node)))
        for (const Tensor& operand : step.operands) outside_.insert(&graph::node_of(operand));
    for (const graph::Visit& step : found.steps) replace(step.node);
  }
  std::vector<Tensor> from, to;

 private:
  std::optional<Taken> taken_by(const graph::Visit& step, const graph::Dependents& found) const {
    const Node& node = graph::node_of(step.node);
    if (node.op == Op::gather) {
      if (step.operands[0].size() * fewer_by > step.node.size() || !is_float(step.node.dtype())) return {};
      if (found.contains(step.operands[1])) return {};
      const std::optional<Tensor> source = with_places_only(step);
      return source ? std::optional(Taken{*source, step.node}) : std::nullopt;
    }
    if (node.op == Op::reshape) return known(step.operands[0]);
    if (graph::row_of(node.op).kind != graph::Kind::elementwise) return {};
    return function_of(step, node);
  }

  std::optional<Taken> known(const Tensor& x) const {
    const auto at = taken_.find(&graph::node_of(x));
    return at == taken_.end() ? std::nullopt : std::optional(at->second);
  }

  // An elementwise operation on what was taken at the same places, and on single numbers.
  std::optional<Taken> function_of(const graph::Visit& step, const Node& node) const {
    std::optional<Taken> first;
    for (const Tensor& operand : step.operands) {
      const std::optional<Taken> taken = known(operand);
      if (!taken) continue;
      if (first && !is_at_same_places(*first, *taken)) return {};
      if (!first) first = taken;
    }
    if (!first) return {};
    std::vector<Tensor> operands;
    int cost = graph::row_of(node.op).cost;
    for (const Tensor& operand : step.operands) {
      if (const std::optional<Taken> taken = known(operand)) {
        operands.push_back(taken->source);
        cost += taken->cost;
      } else if (const std::optional<Tensor> number = one_number(operand)) {
        operands.push_back(broadcast_to(*number, first->source.shape()));
      } else {
        return {};
      }
    }
    return Taken{graph::make(node.op, operands, node.attributes), first->gather, cost};
  }

  void replace(const Tensor& x) {
    const auto at = taken_.find(&graph::node_of(x));
    if (at == taken_.end() || at->second.cost < worth_a_gather || !outside_.contains(&graph::node_of(x)))
      return;
    const Node& gather = graph::node_of(at->second.gather);
    const Tensor again =
        adit::gather(at->second.source, gather.operands[1], gather.as<graph::AxisList>().axes);
    from.push_back(x);
    to.push_back(reshape(again, x.shape()));
  }

  std::unordered_map<const Node*, Taken> taken_;
  std::unordered_set<const Node*> outside_;  // read by what was not taken
};

}  // namespace

std::vector<Tensor> functions_before_places(const std::vector<Tensor>& roots,
                                            const std::vector<Tensor>& inputs) {
  const Early early(roots, inputs);
  return early.from.empty() ? roots : graph::substitute_throughout(roots, early.from, early.to);
}

}  // namespace adit::lower
