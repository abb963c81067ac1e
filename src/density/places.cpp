#include "density/places.hpp"

#include <unordered_set>

#include "density/split.hpp"
#include "graph/control.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;

bool has_places(const Node& node) {
  return node.op == Op::gather || node.op == Op::take_along_axis || node.op == Op::indexed_add ||
         node.op == Op::indexed_put;
}

Dims extents_of_places(const Node& node) {
  const Shape& shape = node.operands[0].shape();
  if (node.op == Op::take_along_axis) return {shape[node.as<graph::OneAxis>().axis]};
  Dims extents;
  for (const int64_t axis : node.as<graph::AxisList>().axes) extents.push_back(shape[static_cast<int>(axis)]);
  return extents;
}

namespace {

using Unknown = std::unordered_set<const Node*>;

// What the parameters of a loop's function stand for, where it is known: slices of sequences, and what the
// function captured. What is carried is not.
struct Known {
  Tensors parameters;
  graph::Lanes values;
  Tensors others;  // the other parameters
};

Known known_of(const Node& loop, const graph::ControlAttributes& about, const graph::Subgraph& function,
               const Unknown& unknown) {
  Known known;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Tensor& operand = loop.operands[i];
    if (i < static_cast<size_t>(about.carries) || unknown.contains(&graph::node_of(operand))) {
      known.others.push_back(function.parameters[i]);
      continue;
    }
    const bool is_slice = loop.op == Op::scan && i < static_cast<size_t>(about.carries + about.sequences);
    known.parameters.push_back(function.parameters[i]);
    known.values.push_back({operand, is_slice});
  }
  return known;
}

void find_places(const Tensors& roots, const Tensors& inputs, bool is_inside, std::vector<Places>& found);

// Those of one round, as graphs of what goes into the loop, for all rounds. A branch of a choice may not be
// taken, and its places with it.
void find_places_of(const Tensor& loop, const Unknown& unknown, std::vector<Places>& found) {
  const Node& node = graph::node_of(loop);
  const graph::ControlAttributes& about = graph::about(loop);
  for (const auto& function : about.functions) {
    const Known known = known_of(node, about, *function, unknown);
    std::vector<Places> inside;
    find_places(function->results, known.others, true, inside);
    const int64_t rounds = node.op == Op::scan ? about.length : 1;
    for (const Places& each : inside)
      found.push_back(
          {graph::batch_graph({each.source}, known.parameters, known.values, rounds)[0].value, each.extents});
  }
}

void find_places(const Tensors& roots, const Tensors& inputs, bool is_inside, std::vector<Places>& found) {
  const Unknown unknown = dependents_of(roots, inputs);
  for (const Tensor& x : graph::reachable(roots, true)) {
    const Node& node = graph::node_of(x);
    if (node.computed) continue;
    if (is_inside && has_places(node) && !unknown.contains(&graph::node_of(node.operands[1])))
      found.push_back({node.operands[1], extents_of_places(node)});
    if (node.op == Op::scan || node.op == Op::while_loop) find_places_of(x, unknown, found);
  }
}

}  // namespace

std::vector<Places> places_in_loops(const Tensors& roots, const Tensors& variables) {
  std::vector<Places> found;
  find_places(roots, variables, false, found);
  return found;
}

}  // namespace adit::sampling
