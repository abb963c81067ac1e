#include "sample/density/contraction.hpp"

#include "compile/reduction.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;
using kernel::Reduction;
using kernel::Type;
using kernel::Value;

std::vector<Reduction> total_reductions(const Node& node) {
  if (node.op == Op::dot || node.op == Op::indexed_add) return {Reduction::add};
  return compile::reductions_of(node);
}

std::vector<Type> total_types(const Node& node) {
  if (node.op == Op::dot || node.op == Op::indexed_add) return {compute_type(node.type)};
  return compile::accumulator_types(node);
}

std::vector<Value> element_contributions(graph::Reader& reader, const Node& node, const graph::Index& at,
                                         Value r) {
  if (node.op != Op::dot)
    return compile::contributions(node, reader.read(node.operands[0], compile::operand_index(node, at, r)));
  return {reader.read(node.operands[0], compile::dot_operand(node, 0, at, r)).re *
          reader.read(node.operands[1], compile::dot_operand(node, 1, at, r)).re};
}

Value finished_total(const Node& node, const std::vector<Value>& totals) {
  const Type type = compute_type(node.type);
  const Value value = convert(totals[0], type);
  if (totals.size() == 1) return value;
  // The largest or the smallest of numbers of which one is not a number.
  const Type bits = kernel::unsigned_like(type);
  const Value nan = bitcast(
      value.builder().constant_bits(bits, type == Type::f64 ? 0x7ff8000000000000u : 0x7fc00000u), type);
  return select(totals[1] != totals[1].like(0), nan, value);
}

}  // namespace adit::sampling
