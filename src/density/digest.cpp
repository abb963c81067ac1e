#include "density/digest.hpp"

#include <fmt/format.h>
#include <unordered_map>

#include "graph/op.hpp"
#include "support/hash.hpp"

namespace adit::sampling {

namespace {

using graph::Node;

uint64_t hash_of(const std::vector<uint64_t>& words) { return hash64(std::as_bytes(std::span(words)), 0); }

// A number for what the roots compute from the inputs: the same however often a graph says the same thing.
uint64_t hash_of(std::span<const Tensor> roots, std::span<const Tensor> inputs) {
  std::unordered_map<const Node*, uint64_t> hashes;
  for (size_t i = 0; i < inputs.size(); ++i) hashes[&graph::node_of(inputs[i])] = hash64(i, 1);
  for (const Tensor& x : graph::reachable(roots, true)) {
    const Node& node = graph::node_of(x);
    if (hashes.contains(&node)) continue;
    std::vector<uint64_t> words{static_cast<uint64_t>(node.op), static_cast<uint64_t>(node.type)};
    for (const int64_t extent : node.shape) words.push_back(static_cast<uint64_t>(extent));
    for (const Tensor& operand : node.operands) words.push_back(hashes.at(&graph::node_of(operand)));
    graph::append_words(node.attributes, words);
    if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&node.attributes);
        reduce && reduce->combine)
      words.push_back(hash_of(reduce->combine->results, reduce->combine->parameters));
    if (const auto* control = std::get_if<std::shared_ptr<const graph::ControlAttributes>>(&node.attributes))
      for (const auto& function : (*control)->functions)
        words.push_back(hash_of(function->results, function->parameters));
    hashes[&node] = hash_of(words);
  }
  std::vector<uint64_t> words;
  for (const Tensor& root : roots) words.push_back(hashes.at(&graph::node_of(root)));
  return hash_of(words);
}

}  // namespace

std::string digest_of(const Density& density) {
  std::vector<Tensor> inputs, roots{density.value};
  for (const auto& variable : density.variables) {
    inputs.push_back(variable.node);
    roots.push_back(variable.gradient);
  }
  for (const auto& leaf : density.leaves) inputs.push_back(leaf.node);
  return fmt::format("{:016x}", hash_of(roots, inputs));
}

}  // namespace adit::sampling
