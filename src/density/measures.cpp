// What a schedule asks of a node: how much it is, and whether it is written out where it is read.
#include "density/schedule.hpp"
#include "density/split.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using graph::Kind;
using graph::Op;

int64_t length_of(const Node& node) {
  return node.op == Op::dot ? lower::contracted_count(node) : lower::reduced_count(node);
}
bool reduces(const Node& node) {
  return node.op == Op::dot || graph::row_of(node.op).kind == Kind::reduction;
}

bool is_factor(const Node& node) {
  return node.op == Op::cholesky || node.op == Op::cholesky_vjp || node.op == Op::triangular_solve;
}

int64_t factor_work(const Node& node) {
  const Shape& shape = node.operands[0].shape();
  const int64_t n = shape[shape.size() - 1];
  return element_count(node.shape) * n / (node.op == Op::cholesky ? 6 : node.op == Op::cholesky_vjp ? 3 : 2);
}

bool are_few_updates(const Node& node) {
  const int64_t updates = node.operands[2].size();
  return element_count(node.shape) <= small && updates <= small / 4 &&
         element_count(node.shape) * updates <= few_operations;
}

int64_t shared_products(const Density& density) {
  constexpr int64_t smallest = 4096;  // elements of a matrix, below which each chain reads it soon enough
  std::vector<Tensor> roots{density.value}, inputs;
  for (const auto& variable : density.variables) {
    roots.push_back(variable.gradient);
    inputs.push_back(variable.node);
  }
  const auto varying = dependents_of(roots, inputs);
  int64_t found = 0;
  for (const Tensor& x : graph::reachable(roots, true)) {
    const Node& node = graph::node_of(x);
    if (node.op != Op::dot || !varying.contains(&node)) continue;
    for (const Tensor& operand : node.operands)
      if (!varying.contains(&graph::node_of(operand)) && operand.size() >= smallest)
        found += element_count(node.shape) * length_of(node);
  }
  return found;
}

Region region_of(const Density& density, bool by_team, bool on_cpu, const TeamShape& team) {
  Region region{.inputs = {},
                .results = {density.value},
                .type = density.type,
                .by_team = by_team,
                .on_cpu = on_cpu,
                .team = team,
                .short_result = team.short_result};
  for (const auto& variable : density.variables) {
    region.inputs.push_back(variable.node);
    region.results.push_back(variable.gradient);
  }
  return region;
}

}  // namespace adit::sampling
