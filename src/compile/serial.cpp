#include "compile/serial.hpp"

#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;
using graph::ReduceAttributes;
using kernel::Reduction;
using kernel::Type;

namespace {

constexpr int64_t unroll_limit = 8;

Scalar finished(const Node& node, const std::vector<Value>& totals) {
  const Scalar total = total_of(node, totals);
  return total.is_complex ? total : lower::rounded(total, node.type);
}

void fold_in_order(Writer& writer, const Node& node, const Index& at, Scalar& result);

}  // namespace

void fix_totals(Writer& writer, const std::vector<const Node*>& level, const std::vector<Value>& totals) {
  auto next = totals.begin();
  for (const Node* node : level) {
    const auto end = next + static_cast<long>(reductions_of(*node).size());
    writer.fix(*node, finished(*node, {next, end}));
    next = end;
  }
}

void serial_reduce(Writer& writer, const Node& node, const Index& at, Scalar& result) {
  if (!combines_in_any_order(node)) return fold_in_order(writer, node, at, result);
  kernel::Builder& k = writer.builder();
  const std::vector<Reduction> reductions = reductions_of(node);
  const std::vector<Type> types = accumulator_types(node);
  const int64_t count = reduced_count(node);
  const Node& operand = graph::node_of(node.operands[0]);
  std::vector<Value> totals;
  if (count <= unroll_limit) {
    for (size_t i = 0; i < types.size(); ++i)
      totals.push_back(k.constant_bits(types[i], kernel::identity_of(reductions[i], types[i])));
    for (int64_t r = 0; r < count; ++r) {
      const auto parts = contributions(node, writer.read(operand, operand_index(node, at, writer.number(r))));
      for (size_t i = 0; i < types.size(); ++i) totals[i] = combine(reductions[i], totals[i], parts[i]);
    }
  } else {
    totals = loop_totals(k, writer.number(count), reductions, types, [&](Value r) {
      const Writer::Scope scope(writer);
      return contributions(node, writer.read(operand, operand_index(node, at, r)));
    });
  }
  result = finished(node, totals);
}

namespace {

// The accumulator lives in variables; the user's function is written once, in the loop.
void fold_in_order(Writer& writer, const Node& node, const Index& at, Scalar& result) {
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
  result = {re.get(), is_pair ? im.get() : Value(), is_pair};
}

}  // namespace

namespace {

Scalar multiply_add(const Scalar& a, const Scalar& b, const Scalar& sum) {
  if (!a.is_complex)
    return {kernel::is_float(a.re.type()) ? fma(a.re, b.re, sum.re) : sum.re + a.re * b.re, {}, false};
  return graph::pair(fma(a.re, b.re, fma(-a.im, b.im, sum.re)), fma(a.re, b.im, fma(a.im, b.re, sum.im)));
}

}  // namespace

Scalar dot_term(Writer& writer, const Node& node, const Index& at, Value r, const Scalar& sum) {
  return multiply_add(writer.read(graph::node_of(node.operands[0]), dot_operand(node, 0, at, r)),
                      writer.read(graph::node_of(node.operands[1]), dot_operand(node, 1, at, r)), sum);
}

Scalar serial_dot(Writer& writer, const Node& node, const Index& at) {
  kernel::Builder& k = writer.builder();
  const Type type = compute_type(node.type);
  const bool is_pair = is_complex(node.type);
  const int64_t count = contracted_count(node);
  const auto term = [&](Value r, const Scalar& sum) { return dot_term(writer, node, at, r, sum); };
  Scalar sum{k.constant(type, 0), is_pair ? k.constant(type, 0) : Value(), is_pair};
  if (count <= unroll_limit) {
    for (int64_t r = 0; r < count; ++r) sum = term(writer.number(r), sum);
  } else {
    const kernel::Variable re = k.variable(sum.re), im = k.variable(sum.re);
    k.for_(writer.number(count), [&](Value r) {
      const Writer::Scope scope(writer);
      const Scalar next = term(r, {re.get(), is_pair ? im.get() : Value(), is_pair});
      re = next.re;
      if (is_pair) im = next.im;
    });
    sum = {re.get(), is_pair ? im.get() : Value(), is_pair};
  }
  return lower::rounded(sum, node.type);
}

}  // namespace adit::compile
