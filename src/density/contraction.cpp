#include "density/contraction.hpp"

#include "graph/op.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;
using kernel::Reduction;
using kernel::Type;
using kernel::Value;

std::vector<Reduction> total_reductions(const Node& node) {
  if (node.op == Op::dot || node.op == Op::indexed_add) return {Reduction::add};
  return lower::reductions_of(node);
}

std::vector<Type> total_types(const Node& node) {
  if (node.op == Op::dot || node.op == Op::indexed_add) return {compute_type(node.type)};
  return lower::accumulator_types(node);
}

std::vector<Value> element_contributions(graph::Reader& reader, const Node& node, const graph::Index& at,
                                         Value r) {
  if (node.op != Op::dot)
    return lower::contributions(node, reader.read(node.operands[0], lower::operand_index(node, at, r)));
  return {reader.read(node.operands[0], lower::dot_operand(node, 0, at, r)).re *
          reader.read(node.operands[1], lower::dot_operand(node, 1, at, r)).re};
}

Value fused_dot(graph::Reader& reader, const Node& node, const graph::Index& at, int64_t written_out,
                const std::function<void(const std::function<void()>&)>& in_scope) {
  kernel::Builder& k = reader.builder();
  const int64_t count = lower::contracted_count(node);
  const auto with_term = [&](Value sum, Value r) {
    return fma(reader.read(node.operands[0], lower::dot_operand(node, 0, at, r)).re,
               reader.read(node.operands[1], lower::dot_operand(node, 1, at, r)).re, sum);
  };
  Value total = k.constant(compute_type(node.type), 0);
  int64_t done = 0;
  if (count > written_out) {
    // Several sums side by side: one would wait for itself.
    constexpr int64_t sums = 4;
    std::vector<kernel::Variable> cells;
    for (int64_t s = 0; s < sums; ++s) cells.push_back(k.variable(total));
    done = count / sums * sums;
    k.for_(at.number(0), at.number(done), at.number(sums), [&](Value r) {
      in_scope([&] {
        for (int64_t s = 0; s < sums; ++s) {
          const kernel::Variable& cell = cells[static_cast<size_t>(s)];
          cell = with_term(cell.get(), r + at.number(s));
        }
      });
    });
    total = (cells[0].get() + cells[1].get()) + (cells[2].get() + cells[3].get());
  }
  for (; done < count; ++done) total = with_term(total, at.number(done));
  return total;
}

Value finished_total(const Node& node, const std::vector<Value>& totals) {
  // Two are the largest or the smallest of numbers, and whether one is not a number.
  if (totals.size() > 1) return lower::total_of(node, totals).re;
  return convert(totals[0], compute_type(node.type));
}

}  // namespace adit::sampling
