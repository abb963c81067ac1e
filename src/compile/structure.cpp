#include "compile/structure.hpp"

#include <algorithm>
#include <bit>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "support/hash.hpp"

namespace adit::compile {

using graph::Node;
using graph::Op;

namespace {

using Words = std::vector<uint64_t>;
using Place = Structure::Place;

// Numbers of nodes that a walk has met: open addressing, since a map that allocates for each would be most of
// the work.
class Met {
 public:
  explicit Met(size_t expected) : slots_(std::bit_ceil(std::max<size_t>(16, 2 * expected))) {}

  // The node's number, and whether it is new.
  std::pair<uint32_t, bool> add(const Node& node) {
    if (2 * count_ >= slots_.size()) grow();
    Slot& slot = find(slots_, node);
    if (slot.node) return {slot.number, false};
    slot = {&node, count_++};
    return {slot.number, true};
  }
  uint32_t count() const { return count_; }

 private:
  struct Slot {
    const Node* node = nullptr;
    uint32_t number = 0;
  };
  static Slot& find(std::vector<Slot>& slots, const Node& node) {
    const auto address = reinterpret_cast<uintptr_t>(&node);
    size_t at = (address >> 4) * 0x9E3779B97F4A7C15u >> 20 & (slots.size() - 1);
    while (slots[at].node && slots[at].node != &node) at = (at + 1) & (slots.size() - 1);
    return slots[at];
  }
  void grow() {
    std::vector<Slot> more(2 * slots_.size());
    for (const Slot& slot : slots_)
      if (slot.node) find(more, *slot.node) = slot;
    slots_ = std::move(more);
  }

  std::vector<Slot> slots_;
  uint32_t count_ = 0;
};

// The operands as they are now, or that it is computed and has none.
bool read_operands(const Node& node, std::vector<Tensor>& operands) {
  operands.clear();
  if (node.computed) return true;
  const graph::NodeLock lock(node);
  if (node.computed) return true;
  operands = node.operands;
  return false;
}

// Nodes in the order of their numbers, each with the places of its operands.
struct Walk {
  std::vector<Place> places;
  std::vector<uint32_t> operands;

  std::span<const uint32_t> operands_of(const Place& place) const {
    return std::span(operands).subspan(place.first_operand, place.operand_count);
  }
};

Walk walk(std::span<const Tensor> roots) {
  Met met(roots.size());
  Walk found;
  std::vector<Tensor> operands;
  for (const Tensor& root : roots)
    if (met.add(graph::node_of(root)).second) found.places.push_back({root});
  for (size_t i = 0; i < found.places.size(); ++i) {  // grows meanwhile
    const bool computed = read_operands(graph::node_of(found.places[i].node), operands);
    found.places[i].computed = computed;
    found.places[i].first_operand = static_cast<uint32_t>(found.operands.size());
    found.places[i].operand_count = static_cast<uint32_t>(operands.size());
    for (Tensor& operand : operands) {
      const auto [number, fresh] = met.add(graph::node_of(operand));
      found.operands.push_back(number);
      if (fresh) found.places.push_back({std::move(operand)});
    }
  }
  std::vector<uint32_t> order(found.places.size()), at(found.places.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](uint32_t i) { return graph::node_of(found.places[i].node).number; });
  Walk sorted;
  sorted.places.reserve(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) at[order[i]] = i;
  for (const uint32_t i : order) sorted.places.push_back(std::move(found.places[i]));
  sorted.operands = std::move(found.operands);
  for (uint32_t& operand : sorted.operands) operand = at[operand];
  return sorted;
}

uint32_t place_of(const Walk& walk, const Tensor& x) {
  const auto it = std::ranges::lower_bound(walk.places, graph::node_of(x).number, {}, [](const Place& place) {
    return graph::node_of(place.node).number;
  });
  const bool found = it != walk.places.end() && graph::pointer_of(it->node) == graph::pointer_of(x);
  return found ? static_cast<uint32_t>(it - walk.places.begin()) : ~0u;
}

void append_graph(Words& words, std::span<const Tensor> roots, std::span<const Tensor> parameters,
                  const Walk& walk, bool in_function);

void append_function(Words& words, const graph::Subgraph& function) {
  append_graph(words, function.results, function.parameters, walk(function.results), true);
}

// In functions numbers are part of the structure: nobody gives them at each run.
void append_place(Words& words, const Walk& walk, const Place& place, bool in_function) {
  const Node& node = graph::node_of(place.node);
  words.push_back(static_cast<uint64_t>(node.op) | static_cast<uint64_t>(node.type) << 8 |
                  static_cast<uint64_t>(place.computed) << 16 |
                  static_cast<uint64_t>(node.shape.size()) << 24 |
                  static_cast<uint64_t>(place.operand_count) << 32);
  for (const int64_t extent : node.shape) words.push_back(static_cast<uint64_t>(extent));
  if (place.computed || (node.op == Op::number && !in_function)) return;
  for (const uint32_t operand : walk.operands_of(place)) words.push_back(operand);
  if (node.attributes.index() != 0) graph::append_words(node.attributes, words);
}

// The functions inside nodes come after all nodes.
void append_graph(Words& words, std::span<const Tensor> roots, std::span<const Tensor> parameters,
                  const Walk& walk, bool in_function) {
  std::vector<const graph::Subgraph*> functions;
  for (const Place& place : walk.places) {
    append_place(words, walk, place, in_function);
    if (place.computed) continue;
    const graph::Attributes& attributes = graph::node_of(place.node).attributes;
    if (const auto* control = std::get_if<std::shared_ptr<const graph::ControlAttributes>>(&attributes))
      for (const auto& function : (*control)->functions) functions.push_back(function.get());
    if (const auto* reduce = std::get_if<graph::ReduceAttributes>(&attributes))
      if (reduce->combine) functions.push_back(reduce->combine.get());
  }
  words.push_back(~uint64_t{0});
  for (const Tensor& root : roots) words.push_back(place_of(walk, root));
  for (const Tensor& parameter : parameters) {
    const uint32_t place = place_of(walk, parameter);
    words.push_back(place == ~0u ? ~uint64_t{0} : place);  // not used
  }
  for (const graph::Subgraph* function : functions) append_function(words, *function);
}

}  // namespace

Structure describe(std::span<const Tensor> roots, uint64_t device_word) {
  Walk found = walk(roots);
  Words words;
  words.reserve(8 + 8 * found.places.size());
  words.push_back(device_word);
  append_graph(words, roots, {}, found, false);
  const Hash128 hash = hash128(std::as_bytes(std::span(words)));
  Structure structure;
  structure.key = {hash.low, hash.high};
  for (const Place& place : found.places) {
    const Op op = graph::node_of(place.node).op;
    if (op == Op::number && !place.computed)
      structure.numbers.push_back(place.node);
    else if (place.computed || op == Op::input)
      structure.inputs.push_back(place.node);
  }
  structure.places = std::move(found.places);
  structure.operands = std::move(found.operands);
  return structure;
}

}  // namespace adit::compile
