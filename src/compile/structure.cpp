#include "compile/structure.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "support/hash.hpp"

namespace adit::compile {

using graph::Node;
using graph::Op;

namespace {

using Words = std::vector<uint64_t>;
uint64_t next_visit() {
  static uint64_t visits = 0;  // under the graph lock
  return ++visits;
}

std::vector<Tensor> collect(std::span<const Tensor> roots) {
  const uint64_t visit = next_visit();
  std::vector<Tensor> found, open(roots.begin(), roots.end());
  while (!open.empty()) {
    Tensor x = std::move(open.back());
    open.pop_back();
    Node& node = graph::node_of(x);
    if (node.visit == visit) continue;
    node.visit = visit;
    if (!node.computed)
      for (const Tensor& operand : node.operands)
        if (graph::node_of(operand).visit != visit) open.push_back(operand);
    found.push_back(std::move(x));
  }
  std::sort(found.begin(), found.end(), [](const Tensor& a, const Tensor& b) {
    return graph::node_of(a).number < graph::node_of(b).number;
  });
  for (size_t i = 0; i < found.size(); ++i) graph::node_of(found[i]).place = static_cast<uint32_t>(i);
  return found;
}

void append_graph(Words& words, std::span<const Tensor> roots, std::span<const Tensor> parameters,
                  const std::vector<Tensor>& nodes, bool in_function);

void append_function(Words& words, const graph::Subgraph& function) {
  const std::vector<Tensor> nodes = collect(function.results);
  append_graph(words, function.results, function.parameters, nodes, true);
}

// In functions numbers are part of the structure: nobody gives them at each run.
void append_node(Words& words, const Node& node, bool in_function) {
  words.push_back(static_cast<uint64_t>(node.op) | static_cast<uint64_t>(node.type) << 8 |
                  static_cast<uint64_t>(node.computed) << 16 |
                  static_cast<uint64_t>(node.shape.size()) << 24 |
                  static_cast<uint64_t>(node.operands.size()) << 32);
  for (const int64_t extent : node.shape) words.push_back(static_cast<uint64_t>(extent));
  if (node.computed || (node.op == Op::number && !in_function)) return;
  for (const Tensor& operand : node.operands) words.push_back(graph::node_of(operand).place);
  if (node.attributes.index() != 0) graph::append_words(node.attributes, words);
}

// The functions inside nodes come after all nodes, since walking them numbers their nodes anew.
void append_graph(Words& words, std::span<const Tensor> roots, std::span<const Tensor> parameters,
                  const std::vector<Tensor>& nodes, bool in_function) {
  std::vector<const graph::Subgraph*> functions;
  for (const Tensor& x : nodes) {
    append_node(words, graph::node_of(x), in_function);
    if (graph::node_of(x).computed) continue;
    if (const auto* control =
            std::get_if<std::shared_ptr<const graph::ControlAttributes>>(&graph::node_of(x).attributes))
      for (const auto& function : (*control)->functions) functions.push_back(function.get());
    if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&graph::node_of(x).attributes))
      if (reduce->combine) functions.push_back(reduce->combine.get());
  }
  words.push_back(~uint64_t{0});
  for (const Tensor& root : roots) words.push_back(graph::node_of(root).place);
  for (const Tensor& parameter : parameters) {
    const uint32_t place = graph::node_of(parameter).place;  // of this walk only where the walk came by
    const bool used = place < nodes.size() && graph::pointer_of(nodes[place]) == graph::pointer_of(parameter);
    words.push_back(used ? graph::node_of(parameter).place : ~uint64_t{0});
  }
  for (const graph::Subgraph* function : functions) append_function(words, *function);
}

}  // namespace

Structure describe(std::span<const Tensor> roots, uint64_t device_word) {
  Structure structure;
  structure.nodes = collect(roots);
  Words words;
  words.reserve(8 + 8 * structure.nodes.size());
  words.push_back(device_word);
  append_graph(words, roots, {}, structure.nodes, false);
  const Hash128 hash = hash128(std::as_bytes(std::span(words)));
  structure.key = {hash.low, hash.high};
  for (const Tensor& x : structure.nodes) {
    if (graph::node_of(x).op == Op::number && !graph::node_of(x).computed)
      structure.numbers.push_back(x);
    else if (graph::node_of(x).computed || graph::node_of(x).op == Op::input)
      structure.inputs.push_back(x);
  }
  return structure;
}

}  // namespace adit::compile
