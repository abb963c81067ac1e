// What a schedule asks of a node: how much it is, and whether it is written out where it is read.
#include <functional>
#include <limits>

#include "density/control_plan.hpp"
#include "density/factor.hpp"
#include "density/schedule.hpp"
#include "density/split.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/code_length.hpp"
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

int64_t work_by_blocks(const Schedule& schedule) {
  int64_t work = 0;
  for (const Pass& pass : schedule.passes)
    for (const Item& item : pass.items)
      if (item.kind == ItemKind::factor && item.node->op != Op::triangular_solve &&
          shares_out_rows(*item.node) && item.node->shape[item.node->shape.size() - 1] >= shortest_row)
        work += factor_work(*item.node);
  return work;
}

// Four; two short ones where they come from beyond the second cache: what fetches memory ahead follows fewer
// lines better. Leapfrogs a second of logistic regressions on two cores of a Neoverse V1, by four lines and
// by two (with tiles of 8 rows): 20,000 rows of 48 numbers 2,790 and 3,160, of 64 1,620 and 2,650; 14,000 of
// 96 1,590 and 2,520; 10,000 of 128 2,370 and 2,790; 8,000 of 200 2,200 and 1,500; 1,000 of 300, which a
// cache holds, 15,000 and 13,400. Other CPUs were not measured.
int64_t lines_together(const Node& product) {
#if defined(__aarch64__)
  constexpr int64_t second_cache = 2 << 20, long_line = 1536;  // bytes
#else
  constexpr int64_t second_cache = std::numeric_limits<int64_t>::max(), long_line = 0;
#endif
  const int64_t line = static_cast<int64_t>(size_of(product.type)) * length_of(product);
  return line <= long_line && line * element_count(product.shape) > second_cache ? 2 : 4;
}

namespace {

// Whether an element of a product's operands takes so many operations at most where it is read.
bool are_operands_cheap(const Schedule& schedule, const Node& product, double most) {
  double cost = 0;
  std::vector<const Node*> open{&product};
  while (!open.empty() && cost <= most) {
    const Node& node = *open.back();
    open.pop_back();
    for (const Tensor& operand : node.operands) {
      const Node& from = graph::node_of(operand);
      if (from.operands.empty() || schedule.stored.contains(&from)) continue;
      cost += std::max<double>(1, graph::row_of(from.op).cost);
      open.push_back(&from);
    }
  }
  return cost <= most;
}

}  // namespace

int64_t numbers_in_lines(const Schedule& schedule) {
  constexpr double few = 8;
  int64_t found = 0;
  for (const Pass& pass : schedule.passes)
    for (const Item& item : pass.items) {
      if (item.kind != ItemKind::by_rows && item.kind != ItemKind::by_columns) continue;
      if (!are_operands_cheap(schedule, *item.node, few)) return 0;
      found += element_count(item.node->shape) * length_of(*item.node);
    }
  return found;
}

bool are_few_updates(const Node& node) {
  const int64_t updates = node.operands[2].size();
  return element_count(node.shape) <= small && updates <= small / 4 &&
         element_count(node.shape) * updates <= few_operations;
}

namespace {

struct Ends {
  Tensors results, inputs;
};
Ends ends_of(const Density& density) {
  Ends ends{{density.value}, {}};
  for (const auto& variable : density.variables) {
    ends.results.push_back(variable.gradient);
    ends.inputs.push_back(variable.node);
  }
  return ends;
}

}  // namespace

int64_t shared_products(const Density& density) {
  constexpr int64_t smallest = 4096;  // elements of a matrix, below which each chain reads it soon enough
  const auto [roots, inputs] = ends_of(density);
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

namespace {

// All that varies and is computed, in functions of control flow too.
void for_each_varying(const Tensors& results, const Tensors& inputs,
                      const std::function<void(const Node&)>& visit) {
  const auto varying = dependents_of(results, inputs);
  for (const Tensor& x : graph::reachable(results, true)) {
    const Node& node = graph::node_of(x);
    if (!varying.contains(&node) || node.operands.empty()) continue;
    if (graph::row_of(node.op).kind == Kind::control && node.op != Op::item)
      for (const auto& function : control_of(node).functions)
        for_each_varying(function->results, function->parameters, visit);
    visit(node);
  }
}

// Operations of small tensors that are written out element by element, by every lane, in functions of control
// flow too: what they take to compile is most of it then.
double written_cost(const Tensors& results, const Tensors& inputs) {
  double cost = 0;
  for_each_varying(results, inputs, [&](const Node& node) {
    const int64_t count = element_count(node.shape);
    if (count > short_rows && count <= small && graph::row_of(node.op).scalar)
      cost += static_cast<double>(count) * graph::row_of(node.op).cost;
  });
  return cost;
}

}  // namespace

double written_operations(const Density& density) {
  const Ends ends = ends_of(density);
  return written_cost(ends.results, ends.inputs);
}

bool fits_a_kernel(const Density& density) {
  // Those of longer tensors are one loop, whose registers LLVM gives out in more than linear time: 7,000
  // operations took 4 s on one core, 14,000 some 12 s.
  constexpr int64_t of_a_loop = 25;
  // A function is written out once at least: 200 sines and cosines of rows, 199 instructions each, made a
  // team's kernel of 71,000, and 600 of them took 28 s.
  constexpr double of_a_function = 2;
  const Ends ends = ends_of(density);
  double operations = 0;
  for_each_varying(ends.results, ends.inputs, [&](const Node& node) {
    if (!graph::row_of(node.op).scalar) return;
    const int64_t count = element_count(node.shape);
    operations += static_cast<double>(count <= small ? count : of_a_loop) +
                  of_a_function * (lower::code_length(node) - 1);
  });
  return operations <= most_kernel_operations;
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
  for (const CountedRows& rows : density.counted) region.limits[rows.extent] = &graph::node_of(rows.count);
  if (by_team &&
      written_cost(region.results, region.inputs) > (on_cpu ? most_written_on_cpu : most_written_on_gpu)) {
    region.written = short_rows;
    region.short_result = std::min(region.short_result, short_rows);
  }
  return region;
}

}  // namespace adit::sampling
