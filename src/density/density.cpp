#include "density/density.hpp"

#include <algorithm>
#include <unordered_map>

#include <adit/ops.hpp>

#include "density/split.hpp"
#include "graph/bounded_loops.hpp"
#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/retype.hpp"
#include "graph/row.hpp"
#include "lower/early_functions.hpp"
#include "lower/join_sums.hpp"
#include "lower/scaled_states.hpp"
#include "lower/simplify.hpp"
#include "lower/split_exponents.hpp"
#include "lower/tidy_control.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;

namespace {

Tensor sum_of(const std::vector<Tensor>& terms) {
  Tensor total;
  for (const Tensor& term : terms) total = total ? add(total, term) : term;
  return total ? total : graph::constant(DType::f64, 0);
}

// Constants and places are cheaper to write into the kernel than to read.
bool is_written(const Tensor& x) {
  return graph::node_of(x).op == Op::constant || graph::node_of(x).op == Op::iota;
}

// What is read through one of these is read where it lies, so that nothing is made larger than it is.
bool is_window(const Node& node) { return node.op == Op::broadcast || node.op == Op::reshape; }

// Finds the largest parts of a graph that no variable enters and puts placeholders in their places.
class Hoist {
 public:
  Hoist(std::span<const Tensor> roots, std::span<const Tensor> inputs)
      : varying_(dependents_of(roots, inputs)) {
    for (const Tensor& root : roots) visit(root, false);
    for (const Tensor& x : graph::reachable(roots, true)) {
      const Node& node = graph::node_of(x);
      if (!varying_.contains(&node)) continue;
      for (size_t i = 0; i < node.operands.size(); ++i) {
        visit(node.operands[i], i == 1 && has_places(node));
        if (i == 1 && has_places(node)) bound(node);
      }
    }
    for (size_t i = 0; i < from.size(); ++i)
      to.push_back(graph::placeholder(wide_.contains(&graph::node_of(from[i])) ? from[i].dtype() : DType::i32,
                                      from[i].shape()));
  }

  std::vector<Tensor> from, to;
  Dims extents_of(const Tensor& x) const {
    const auto at = extents_.find(&graph::node_of(x));
    return at == extents_.end() ? Dims() : at->second;
  }

 private:
  // How far the places that a node reads or writes at may go.
  void bound(const Node& node) {
    const Dims extents = extents_of_places(node);
    Dims& known = extents_[&graph::node_of(node.operands[1])];
    if (known.size() != extents.size())
      known = extents;
    else
      for (int i = 0; i < known.size(); ++i) known[i] = std::min(known[i], extents[i]);
  }
  void visit(const Tensor& x, bool as_place) {
    if (varying_.contains(&graph::node_of(x))) return;
    Tensor base = x;
    // Places are made ready for the kernel as they are.
    while (!as_place && is_window(graph::node_of(base)) && !graph::node_of(base).computed)
      base = graph::node_of(base).operands[0];
    if (is_written(base) && !as_place) return;
    if (!as_place) wide_.insert(&graph::node_of(base));
    if (seen_.insert(&graph::node_of(base)).second) from.push_back(base);
  }

  std::unordered_set<const Node*> varying_, seen_;
  std::unordered_set<const Node*> wide_;  // whose type matters
  std::unordered_map<const Node*, Dims> extents_;
};

// The largest part of a density: graphs of its value and of its gradient.
struct Graphs {
  Tensors roots;
  bool has_blocks = false;
  std::vector<SquareSum> square_sums;
  std::vector<CountedRows> counted;
};

Graphs graphs_of(const std::vector<Tensor>& varying, const std::vector<Tensor>& inputs,
                 const stats::ModelState& model, int64_t loop_numbers, bool on_cpu, bool counts) {
  Graphs made;
  Tensors terms = with_short_square_sums(varying, inputs, made.square_sums);
  if (counts) terms = with_counted_rows(std::move(terms), inputs, model, made.counted);
  const Tensors kept{sum_of(terms)};
  made.roots = lower::loops_in_blocks(kept, inputs, loop_numbers);
  made.has_blocks = graph::pointer_of(made.roots[0]) != graph::pointer_of(kept[0]);
  Tensors gradients = graph::pull_back_sharing(made.roots, {graph::constant(DType::f64, 1)}, inputs);
  for (size_t i = 0; i < gradients.size(); ++i)
    made.roots.push_back(gradients[i] ? gradients[i] : zeros(inputs[i].shape(), DType::f64));
  const lower::Lowering lowering = [&](const Node& node, const Tensors& operands) {
    return on_cpu && node.op == Op::cholesky_vjp ? Tensor() : lower::lowered(node, operands);
  };
  made.roots =
      lower::simplify(lower::join_sums(lower::simplify(lower::tidy_control(made.roots), lowering)), lowering);
  return made;
}

bool are_counted_alone(const Graphs& made) {
  return std::all_of(made.counted.begin(), made.counted.end(),
                     [&](const CountedRows& counted) { return is_counted_alone(made.roots, counted); });
}

}  // namespace

Density make_density(const stats::ModelState& model, NumberTypes numbers, int64_t loop_numbers, bool on_cpu) {
  const DType type = numbers.type;
  const graph::Tracing tracing;
  std::vector<Tensor> inputs, totals;
  for (const auto& variable : model.variables) inputs.push_back(variable.unconstrained);
  for (const auto& term : model.terms) totals.push_back(term.total);
  const Tensors total = graph::bounded_loops({sum_of(totals)}).roots;
  const Tensors early = lower::functions_before_places(lower::spread_maps(total), inputs);
  const bool scales = on_cpu && type == DType::f64;
  const Tensors scaled = scales ? lower::scaled_states(early, inputs) : early;
  const Terms terms = split_terms(lower::split_exponents(scaled, type)[0], inputs);

  Graphs made = graphs_of(terms.varying, inputs, model, loop_numbers, on_cpu, true);
  if (!are_counted_alone(made)) made = graphs_of(terms.varying, inputs, model, loop_numbers, on_cpu, false);

  const Hoist hoist(made.roots, inputs);
  const Tensors roots = graph::substitute(made.roots, hoist.from, hoist.to);
  std::unordered_set<const Node*> wide;
  if (type == DType::f32) wide = wide_nodes(roots[0], inputs, numbers.wide);
  const graph::Retyped narrow = graph::retype(roots, type, wide);
  const auto renamed = [&](const Tensor& x) {
    const auto at = narrow.placeholders.find(&graph::node_of(x));
    return at == narrow.placeholders.end() ? x : at->second;
  };

  Density density;
  density.type = type;
  density.size = model.size;
  if (made.has_blocks) density.loop_numbers = loop_numbers;
  density.value = narrow.roots[0];
  // Under names of their own: to compute them leaves the model's graph as it is, and the next density equal.
  density.constant = graph::alias(sum_of(terms.constant));
  for (SquareSum& sum : made.square_sums)
    for (ColumnGroup& group : sum.groups)
      for (DataPart& part : group.parts)
        if (part.value) part.value = graph::alias(part.value);
  density.square_sums = std::move(made.square_sums);
  for (CountedRows& rows : made.counted)
    for (Tensor& column : rows.columns) column = graph::alias(column);
  density.counted = std::move(made.counted);
  for (const Places& each : places_in_loops(total, inputs))
    density.loop_places.push_back({graph::alias(each.source), each.extents});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& variable = model.variables[i];
    density.variables.push_back({variable.name, renamed(inputs[i]), as_type(narrow.roots[i + 1], type),
                                 variable.offset, variable.size});
  }
  for (size_t i = 0; i < hoist.from.size(); ++i)
    density.leaves.push_back(
        {renamed(hoist.to[i]), graph::alias(hoist.from[i]), hoist.extents_of(hoist.from[i])});
  for (const CountedRows& rows : density.counted)
    density.leaves.push_back({rows.count, graph::alias(rows.count)});
  return density;
}

}  // namespace adit::sampling
