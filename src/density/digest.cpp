#include "density/digest.hpp"

#include <fmt/format.h>
#include <unordered_map>

#include "graph/op.hpp"
#include "support/hash.hpp"

namespace adit::sampling {

namespace {

using graph::Node;

// Every node in topological order: what it is, and the places of its operands in that order.
void append_graph(std::span<const Tensor> roots, std::span<const Tensor> inputs,
                  std::vector<uint64_t>& words) {
  std::unordered_map<const Node*, uint64_t> place;
  for (const Tensor& input : inputs) place.emplace(&graph::node_of(input), place.size());
  const auto append_function = [&](const graph::Subgraph& function) {
    append_graph(function.results, function.parameters, words);
  };
  for (const Tensor& x : graph::reachable(roots, true)) {
    const Node& node = graph::node_of(x);
    place.emplace(&node, place.size());
    words.insert(words.end(), {static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.type)});
    for (const int64_t extent : node.shape) words.push_back(static_cast<uint64_t>(extent));
    for (const Tensor& operand : node.operands) words.push_back(place.at(&graph::node_of(operand)));
    graph::append_words(node.attributes, words);
    if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&node.attributes);
        reduce && reduce->combine)
      append_function(*reduce->combine);
    if (const auto* control = std::get_if<std::shared_ptr<const graph::ControlAttributes>>(&node.attributes))
      for (const auto& function : (*control)->functions) append_function(*function);
  }
  for (const Tensor& root : roots) words.push_back(place.at(&graph::node_of(root)));
}

}  // namespace

std::string digest_of(const Density& density) {
  std::vector<Tensor> inputs, roots{density.value};
  for (const auto& variable : density.variables) {
    inputs.push_back(variable.node);
    roots.push_back(variable.gradient);
  }
  for (const auto& leaf : density.leaves) inputs.push_back(leaf.node);
  std::vector<uint64_t> words;
  append_graph(roots, inputs, words);
  return fmt::format("{:016x}", hash64(std::as_bytes(std::span(words)), 0));
}

}  // namespace adit::sampling
