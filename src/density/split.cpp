#include "density/split.hpp"

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;

namespace {

class Splitter {
 public:
  explicit Splitter(std::span<const Tensor> inputs) : inputs_(inputs) {}

  // The terms of sum(total) over all its elements. Without recursion: a sum may be of any number of terms.
  void run(const Tensor& total) {
    open(total, {});
    while (!open_.empty()) {
      const auto [x, factor] = std::move(open_.back());
      open_.pop_back();
      add(x, factor);
    }
  }

  Terms finish() {
    // One walk tells for all terms which of them vary.
    const auto varying = dependents_of(terms_, inputs_);
    Terms result;
    for (const Tensor& term : terms_)
      (varying.contains(&graph::node_of(term)) ? result.varying : result.constant).push_back(term);
    return result;
  }

 private:
  void open(const Tensor& x, const Tensor& factor) { open_.emplace_back(x, factor); }

  // The terms of factor * sum(x); an empty factor is 1.
  void add(const Tensor& x, const Tensor& factor) {
    const Node& node = graph::node_of(x);
    if (node.computed) return keep(x, factor);
    const auto minus = [&] { return times(factor, graph::constant(x.dtype(), -1)); };
    switch (node.op) {
      case Op::add:
      case Op::subtract:  // the first operand's terms come first
        open(node.operands[1], node.op == Op::add ? factor : minus());
        return open(node.operands[0], factor);
      case Op::negate: return open(node.operands[0], minus());
      case Op::reshape:
      case Op::transpose:
      case Op::sum: return open(node.operands[0], factor);
      case Op::broadcast: {
        const auto repeats = static_cast<double>(x.size()) / static_cast<double>(node.operands[0].size());
        return open(node.operands[0],
                    repeats == 1 ? factor : times(factor, graph::constant(x.dtype(), repeats)));
      }
      case Op::multiply:
        for (const int side : {0, 1})
          if (const Tensor scalar = repeated_scalar(node.operands[static_cast<size_t>(side)]))
            return open(node.operands[static_cast<size_t>(1 - side)], times(factor, scalar));
        return keep(x, factor);
      default: return keep(x, factor);
    }
  }

  static Tensor times(const Tensor& a, const Tensor& b) { return a ? multiply(a, b) : b; }
  void keep(const Tensor& x, const Tensor& factor) {
    const Tensor total = x.rank() == 0 ? x : sum(x);
    terms_.push_back(factor ? multiply(factor, total) : total);
  }

  std::span<const Tensor> inputs_;
  std::vector<Tensor> terms_;
  std::vector<std::pair<Tensor, Tensor>> open_;
};

}  // namespace

Tensor repeated_scalar(const Tensor& x) {
  Tensor base = x;
  while (graph::node_of(base).op == Op::broadcast || graph::node_of(base).op == Op::reshape)
    base = graph::node_of(base).operands[0];
  if (base.size() != 1 || x.size() == 1) return {};
  return base.rank() == 0 ? base : reshape(base, {});
}

std::unordered_set<const Node*> dependents_of(std::span<const Tensor> roots, std::span<const Tensor> inputs) {
  std::unordered_set<const Node*> found;
  for (const Tensor& input : inputs) found.insert(&graph::node_of(input));
  for (const Tensor& x : graph::reachable(roots, true))
    for (const Tensor& operand : graph::node_of(x).operands)
      if (found.contains(&graph::node_of(operand))) {
        found.insert(&graph::node_of(x));
        break;
      }
  return found;
}

Terms split_terms(const Tensor& total, std::span<const Tensor> inputs) {
  Splitter splitter(inputs);
  splitter.run(total);
  return splitter.finish();
}

}  // namespace adit::sampling
