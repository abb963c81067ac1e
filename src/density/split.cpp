#include "density/split.hpp"

#include <unordered_map>

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

  // The terms of sum(total) over all its elements. Without recursion: a sum may be of any number of terms. A
  // sum that several others read is taken apart once, when all of them have said what they multiply it by.
  void run(const Tensor& total) {
    count_readers(total);
    arrive(total, {});
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
  // Whose terms are those of x; none: it is a term.
  static std::span<const Tensor> summed_by(const Tensor& x) {
    const Node& node = graph::node_of(x);
    if (node.computed) return {};
    switch (node.op) {
      case Op::add:
      case Op::subtract:
      case Op::negate:
      case Op::reshape:
      case Op::transpose:
      case Op::sum:
      case Op::broadcast: return node.operands;
      case Op::multiply:
        for (const size_t side : {0, 1})
          if (const Tensor scalar = repeated_scalar(node.operands[side]))
            return std::span(node.operands).subspan(1 - side, 1);
        return {};
      default: return {};
    }
  }

  void count_readers(const Tensor& total) {
    std::vector<Tensor> open{total};
    readers_[&graph::node_of(total)] = 1;
    while (!open.empty()) {
      const Tensor x = open.back();
      open.pop_back();
      for (const Tensor& operand : summed_by(x))
        if (++readers_[&graph::node_of(operand)] == 1) open.push_back(operand);
    }
  }

  // The terms of factor * sum(x); an empty factor is 1.
  void arrive(const Tensor& x, const Tensor& factor) {
    const Node* node = &graph::node_of(x);
    int64_t& to_come = readers_.at(node);
    const auto waiting = waiting_.find(node);
    if (summed_by(x).empty() || (to_come == 1 && waiting == waiting_.end())) {
      open_.emplace_back(x, factor);
      return;
    }
    const Tensor one = graph::constant(x.dtype(), 1), own = factor ? factor : one;
    const Tensor all = waiting == waiting_.end() ? own : adit::add(waiting->second, own);
    waiting_[node] = all;
    if (--to_come == 0) open_.emplace_back(x, all);
  }

  void add(const Tensor& x, const Tensor& factor) {
    const std::span<const Tensor> of = summed_by(x);
    if (of.empty()) return keep(x, factor);
    const auto times_number = [&](double number) {
      return times(factor, graph::constant(x.dtype(), number));
    };
    switch (graph::node_of(x).op) {
      case Op::add:
      case Op::subtract:  // the first operand's terms come first
        arrive(of[1], graph::node_of(x).op == Op::add ? factor : times_number(-1));
        return arrive(of[0], factor);
      case Op::negate: return arrive(of[0], times_number(-1));
      case Op::broadcast: {
        const auto repeats = static_cast<double>(x.size()) / static_cast<double>(of[0].size());
        return arrive(of[0], repeats == 1 ? factor : times_number(repeats));
      }
      case Op::multiply: {
        const Tensors& both = graph::node_of(x).operands;
        return arrive(of[0], times(factor, repeated_scalar(both[&of[0] == &both[0] ? 1 : 0])));
      }
      default: return arrive(of[0], factor);
    }
  }

  static Tensor times(const Tensor& a, const Tensor& b) { return a ? multiply(a, b) : b; }
  void keep(const Tensor& x, const Tensor& factor) {
    const Tensor total = x.rank() == 0 ? x : sum(x);
    terms_.push_back(factor ? multiply(factor, total) : total);
  }

  std::span<const Tensor> inputs_;
  std::vector<Tensor> terms_;
  std::unordered_map<const Node*, int64_t> readers_;  // who are still to come
  std::unordered_map<const Node*, Tensor> waiting_;   // what those said who came
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
