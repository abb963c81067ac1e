#include "lower/simplify.hpp"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include <adit/network.hpp>

#include "graph/attention.hpp"
#include "graph/cholesky.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "graph/windows.hpp"
#include "lower/argument.hpp"
#include "lower/product_form.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;

namespace {

// Attention by products.
Tensor lowered_attention(const Node& node, const std::vector<Tensor>& x) {
  AttentionOptions options;
  options.causal = (node.as<graph::Which>().number & graph::attention_is_causal) != 0;
  options.scale = 1;
  options.fused = false;
  return attention(x[0], expand_dims(x[1], 1), expand_dims(x[2], 1), options);
}

bool is_one(const Tensor& x) {
  const graph::Literal* literal = graph::constant_value(x);
  if (!literal) return false;
  return is_integer(x.dtype()) ? literal->integer == 1 : literal->real == 1 && literal->imag == 0;
}

}  // namespace

Tensor lowered(const Node& node, const std::vector<Tensor>& x) {
  switch (node.op) {
    case Op::attention: return lowered_attention(node, x);
    case Op::argmax:
    case Op::argmin: return argument_by_equality(node, x[0]);
    case Op::conv: return graph::conv_by_windows(x[0], x[1], graph::windows_of(node));
    case Op::cholesky_vjp: return graph::cholesky_vjp_by_solves(x[0], x[1]);
    default: return {};
  }
}

namespace {

// Exact identities only: x + 0 is not one, since -0 + 0 is 0.
Tensor rewritten(const Node& node, const std::vector<Tensor>& x, const Lowering& lowering) {
  switch (node.op) {
    case Op::alias:
    case Op::stop_gradient: return x[0];
    case Op::argmax:
    case Op::argmin: return lowering ? lowering(node, x) : lowered(node, x);
    case Op::reduce_max:
    case Op::reduce_min: {
      // Who has the gradient no longer matters.
      graph::ReduceAttributes attributes = node.as<graph::ReduceAttributes>();
      if (!attributes.high_tie) return {};
      attributes.high_tie = false;
      return graph::make_node(node.op, node.type, node.shape, {x[0]}, attributes);
    }
    case Op::multiply:
      if (is_one(x[1])) return x[0];  // x * 1
      if (is_one(x[0])) return x[1];  // 1 * x
      return {};
    case Op::divide: return is_one(x[1]) ? x[0] : Tensor();  // x / 1
    case Op::reshape: {
      const Tensor& inner = x[0];
      if (inner.shape() == node.shape) return inner;
      // reshape of a reshape
      if (graph::node_of(inner).op == Op::reshape && !graph::node_of(inner).computed)
        return graph::make_node(Op::reshape, node.type, node.shape, {graph::node_of(inner).operands[0]});
      return {};
    }
    case Op::transpose: {
      const Tensor& inner = x[0];
      if (graph::node_of(inner).op != Op::transpose || graph::node_of(inner).computed) return {};
      // transpose of a transpose
      const Axes& outer_axes = node.as<graph::AxisList>().axes;
      const Axes& inner_axes = graph::node_of(inner).as<graph::AxisList>().axes;
      Axes both;
      for (const int64_t axis : outer_axes) both.push_back(inner_axes[static_cast<int>(axis)]);
      const Tensor& base = graph::node_of(inner).operands[0];
      if (both == Axes::counted(both.size())) return base;
      return graph::make_node(Op::transpose, node.type, node.shape, {base}, graph::AxisList{both});
    }
    case Op::dot: return in_product_form(node, x);
    case Op::fft:
    case Op::ifft:
    case Op::rfft:
    case Op::irfft:
    case Op::attention:
    case Op::conv: return lowering ? lowering(node, x) : lowered(node, x);
    // Of its operands as they were: what those are made of tells which products are thin.
    case Op::cholesky_vjp: return lowering ? lowering(node, node.operands) : lowered(node, node.operands);
    default: return {};
  }
}

class Simplifier {
 public:
  explicit Simplifier(const Lowering& lowering) : lowering_(lowering) {}

  std::vector<Tensor> run(std::span<const Tensor> roots) {
    settle(roots);
    std::vector<Tensor> results;
    for (const Tensor& root : roots) results.push_back(current(root));
    return results;
  }

 private:
  bool is_done(const Tensor& x) const { return done_.contains(&graph::node_of(x)); }
  Tensor current(const Tensor& x) const { return is_done(x) ? x : now_.at(&graph::node_of(x)); }

  // Oldest first, so that operands are done before their users.
  void settle(std::span<const Tensor> roots) {
    for (const Tensor& x : graph::reachable(roots, false, [&](const Tensor& t) { return is_done(t); })) {
      if (is_done(x) || now_.contains(&graph::node_of(x))) continue;
      const Tensor better = visit(x);
      now_[&graph::node_of(x)] = better;
      kept_.push_back(x);
      done_.insert(&graph::node_of(better));
      kept_.push_back(better);
    }
  }

  Tensor visit(const Tensor& x) {
    const Node& node = graph::node_of(x);
    if (node.computed || node.operands.empty()) return unique(x);
    std::vector<Tensor> operands;
    bool changed = false;
    for (const Tensor& operand : node.operands) {
      operands.push_back(current(operand));
      changed = changed || graph::pointer_of(operands.back()) != graph::pointer_of(operand);
    }
    if (const Tensor better = rewritten(node, operands, lowering_)) {
      // What a rewrite made is made of new nodes: they are simplified in turn.
      const Tensor roots[] = {better};
      settle(roots);
      return current(better);
    }
    return unique(
        changed ? graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes) : x);
  }

  // The first of all nodes that say the same.
  Tensor unique(const Tensor& x) {
    const Node& node = graph::node_of(x);
    if (node.op == Op::input || node.op == Op::number || node.computed) return x;
    std::vector<uint64_t> key{static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.type)};
    for (const int64_t extent : node.shape) key.push_back(static_cast<uint64_t>(extent));
    key.push_back(~uint64_t{0});
    for (const Tensor& operand : node.operands) key.push_back(graph::node_of(operand).number);
    graph::append_words(node.attributes, key);
    // Functions are not compared: a control node or a user's reduction is its own.
    if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&node.attributes);
        reduce && reduce->combine)
      key.push_back(node.number);
    if (graph::row_of(node.op).kind == graph::Kind::control && node.op != Op::item)
      key.push_back(node.number);
    return seen_.try_emplace(std::move(key), x).first->second;
  }

  const Lowering& lowering_;
  std::map<std::vector<uint64_t>, Tensor> seen_;
  std::unordered_map<const Node*, Tensor> now_;
  std::unordered_set<const Node*> done_;
  std::vector<Tensor> kept_;  // a node that died would lend its address to another
};

}  // namespace

std::vector<Tensor> simplify(std::span<const Tensor> roots, const Lowering& lowering) {
  return Simplifier(lowering).run(roots);
}

}  // namespace adit::lower
