#include "compile/serial.hpp"

#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;
using graph::ReduceAttributes;
using kernel::Reduction;
using kernel::Type;

namespace {

Scalar finished(const Node& node, const std::vector<Value>& totals) {
  const Scalar total = total_of(node, totals);
  return total.is_complex ? total : lower::rounded(total, node.type);
}

Scalar fold_in_order(Writer& writer, const Node& node, const Index& at);

}  // namespace

void fix_totals(Writer& writer, const std::vector<const Node*>& level, const std::vector<Value>& totals) {
  auto next = totals.begin();
  for (const Node* node : level) {
    const auto end = next + static_cast<long>(reductions_of(*node).size());
    writer.fix(*node, finished(*node, {next, end}));
    next = end;
  }
}

Scalar serial_reduce(Writer& writer, const Node& node, const Index& at) {
  if (!combines_in_any_order(node)) return fold_in_order(writer, node, at);
  if (reduced_count(node) > unroll_limit) return finished(node, lower::looped_totals(writer, node, at));
  kernel::Builder& k = writer.builder();
  const std::vector<Reduction> reductions = reductions_of(node);
  const std::vector<Type> types = accumulator_types(node);
  std::vector<Value> totals;
  for (size_t i = 0; i < types.size(); ++i)
    totals.push_back(k.constant_bits(types[i], kernel::identity_of(reductions[i], types[i])));
  for (int64_t r = 0; r < reduced_count(node); ++r) {
    const auto parts = lower::element_contributions(writer, node, at, writer.number(r));
    for (size_t i = 0; i < types.size(); ++i) totals[i] = combine(reductions[i], totals[i], parts[i]);
  }
  return finished(node, totals);
}

namespace {

// The accumulator lives in variables; the user's function is written once, in the loop.
Scalar fold_in_order(Writer& writer, const Node& node, const Index& at) {
  kernel::Builder& k = writer.builder();
  const Type type = compute_type(node.type);
  const bool is_pair = is_complex(node.type);
  const auto* function = node.op == Op::reduce ? node.as<ReduceAttributes>().combine.get() : nullptr;
  Scalar start{k.constant(type, 1), {}, false};
  if (is_pair) start = graph::pair(k.constant(type, 1), k.constant(type, 0));
  // The first accumulator and what the function captured have the result's shape.
  for (size_t i = 1; function && i < node.operands.size(); ++i) {
    const Scalar given = writer.read(graph::node_of(node.operands[i]), at);
    if (i == 1)
      start = given;
    else
      writer.fix(graph::node_of(function->parameters[i]), given);
  }
  const kernel::Variable re = k.variable(start.re), im = k.variable(is_pair ? start.im : start.re);
  k.for_(writer.number(reduced_count(node)), [&](Value r) {
    const Writer::Scope scope(writer);
    const Scalar x = writer.read(graph::node_of(node.operands[0]), operand_index(node, at, r));
    Scalar now{re.get(), is_pair ? im.get() : Value(), is_pair};
    if (function) {
      writer.fix(graph::node_of(function->parameters[0]), now);
      writer.fix(graph::node_of(function->parameters[1]), x);
      now = writer.read(graph::node_of(function->results[0]), Index(k, {}, writer.number(0)));
    } else {
      now = graph::pair(now.re * x.re - now.im * x.im, now.re * x.im + now.im * x.re);
    }
    re = now.re;
    if (is_pair) im = now.im;
  });
  return {re.get(), is_pair ? im.get() : Value(), is_pair};
}

}  // namespace

}  // namespace adit::compile
