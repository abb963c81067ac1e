#include "graph/node.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "graph/trace.hpp"
#include "support/near.hpp"

namespace adit {

void Tensor::throw_empty() { graph::fail("tensor", "handle", "expected a tensor, got none"); }

DType Tensor::dtype() const { return graph::node_of(*this).type; }
const Shape& Tensor::shape() const { return graph::node_of(*this).shape; }
int64_t Tensor::size() const { return element_count(graph::node_of(*this).shape); }
std::shared_ptr<Device> Tensor::device() const { return graph::home_of(graph::node_of(*this)); }
bool Tensor::is_evaluated() const { return graph::node_of(*this).computed; }
int64_t Tensor::dim(int axis) const { return shape()[graph::normal_axis("dim", axis, rank())]; }

namespace graph {

// A chain of a million additions would otherwise end in a million nested destructors.
Node::~Node() {
  thread_local std::vector<Tensor>* pending = nullptr;
  if (operands.empty()) return;
  if (pending) {
    std::move(operands.begin(), operands.end(), std::back_inserter(*pending));
    return;
  }
  std::vector<Tensor> chain = std::move(operands);
  pending = &chain;
  while (!chain.empty()) {
    const Tensor next = std::move(chain.back());
    chain.pop_back();
  }
  pending = nullptr;
}

namespace {

// Nodes lie 16 bytes apart at least. More locks than threads, so that two seldom meet at one, and no two in
// one line of memory.
SpinLock& lock_of(const Node& node) {
  struct alignas(64) Alone {
    SpinLock lock;
  };
  static std::array<Alone, 256> locks;
  const auto address = reinterpret_cast<uintptr_t>(&node);
  return locks[(address >> 4 ^ address >> 12) % locks.size()].lock;
}

}  // namespace

NodeLock::NodeLock(const Node& node) : lock_(lock_of(node)) { lock_.lock(); }
NodeLock::~NodeLock() { lock_.unlock(); }

namespace {

// Threads take numbers by the block, so that they do not meet at each node.
constexpr uint64_t numbers_a_block = 256;
struct alignas(128) Numbering {
  std::atomic<uint64_t> given{1};
  alignas(128) std::atomic<uint64_t> era{0};  // blocks of another one are over
};
Numbering numbering;

// Larger than `most`, the largest of the operands.
uint64_t next_number(uint64_t most) {
  struct Block {
    uint64_t next = 0, end = 0, era = 0;
  };
  thread_local Block mine;
  const uint64_t era = numbering.era;  // before the block: it may be younger than its era, not older
  if (mine.next == mine.end || mine.next <= most || mine.era != era) {
    mine.next = numbering.given.fetch_add(numbers_a_block);
    mine.end = mine.next + numbers_a_block;
    mine.era = era;
  }
  return mine.next++;
}

}  // namespace

uint64_t number_of_now() {
  const uint64_t now = numbering.given.fetch_add(1);
  ++numbering.era;
  return now;
}

namespace {

thread_local int tracing_depth = 0;

std::shared_ptr<Device> common_device(Op op, const std::vector<Tensor>& operands) {
  const std::shared_ptr<Device>* device = nullptr;
  for (const Tensor& x : operands) {
    const auto& other = home_of(graph::node_of(x));
    if (!other || (device && other == *device)) continue;
    if (device)
      fail(name_of(op), "device",
           fmt::format("expected operands of one device, got {} and {}", (*device)->info().id,
                       other->info().id));
    device = &other;
  }
  return device ? near(*device) : nullptr;
}

}  // namespace

Tracing::Tracing() { ++tracing_depth; }
Tracing::~Tracing() { --tracing_depth; }
bool Tracing::active() { return tracing_depth > 0; }

Tensor make_node(Op op, DType type, const Shape& shape, std::vector<Tensor> operands, Attributes attributes) {
  uint64_t most = 0;
  for (const Tensor& x : operands) most = std::max(most, graph::node_of(x).number);
  auto node = std::make_shared<Node>();
  node->op = op;
  node->type = type;
  node->shape = shape;
  node->number = next_number(most);
  node->device = common_device(op, operands);
  node->operands = std::move(operands);
  node->attributes = std::move(attributes);
  element_count(shape);  // throws where there are too many
  return Inside::tensor(std::move(node));
}

Tensor make(Op op, std::vector<Tensor> operands, Attributes attributes) {
  const Row& row = row_of(op);
  if (row.arity >= 0 && operands.size() != static_cast<size_t>(row.arity))
    fail(row.name, "operands", fmt::format("expected {}, got {}", row.arity, operands.size()));
  for (const Tensor& x : operands)
    if (!x) fail(row.name, "operand", "expected a tensor, got none");
  const DType type = row.type(row.name, operands, attributes);
  const Shape shape = row.shape(row.name, operands, attributes);
  return make_node(op, type, shape, std::move(operands), std::move(attributes));
}

bool has_several(const Node& node) {
  const Row& row = row_of(node.op);
  return row.results || (row.kind == Kind::control && node.op != Op::item);
}

std::vector<Slot> results_of(const Node& node) {
  const Row& row = row_of(node.op);
  if (row.results) return row.results(row.name, node.operands, node.attributes);
  const auto& about = *node.as<std::shared_ptr<const ControlAttributes>>();
  std::vector<Slot> slots;
  for (size_t i = 0; i < about.types.size(); ++i) slots.push_back({about.types[i], about.shapes[i]});
  return slots;
}

Tensor item_of(const Tensor& several, int number) {
  const Slot slot = results_of(node_of(several)).at(static_cast<size_t>(number));
  return make_node(Op::item, slot.type, slot.shape, {several}, Which{number});
}

std::vector<Tensor> make_several(Op op, std::vector<Tensor> operands, Attributes attributes) {
  const Row& row = row_of(op);
  if (operands.size() != static_cast<size_t>(row.arity))
    fail(row.name, "operands", fmt::format("expected {}, got {}", row.arity, operands.size()));
  for (const Tensor& x : operands)
    if (!x) fail(row.name, "operand", "expected a tensor, got none");
  const std::vector<Slot> slots = row.results(row.name, operands, attributes);
  const Tensor node =
      make_node(op, slots[0].type, slots[0].shape, std::move(operands), std::move(attributes));
  std::vector<Tensor> items;
  for (size_t i = 0; i < slots.size(); ++i) items.push_back(item_of(node, static_cast<int>(i)));
  return items;
}

Tensor placeholder(DType type, const Shape& shape) { return make_node(Op::input, type, shape, {}); }
bool is_placeholder(const Tensor& x) {
  return graph::node_of(x).op == Op::input && !graph::node_of(x).computed;
}

Tensor constant(DType type, double value) {
  Literal literal{value, 0, 0};
  if (is_integer(type)) literal = {0, 0, static_cast<int64_t>(value)};
  return make_node(Op::constant, type, {}, {}, literal);
}
Tensor constant_integer(DType type, int64_t value) {
  if (!is_integer(type)) return constant(type, static_cast<double>(value));
  return make_node(Op::constant, type, {}, {}, Literal{0, 0, value});
}
Tensor constant_complex(DType type, double real, double imag) {
  return make_node(Op::constant, type, {}, {}, Literal{real, imag, 0});
}

const Literal* constant_value(const Tensor& x) {
  const Node* node = &graph::node_of(x);
  while (node->op == Op::broadcast || node->op == Op::reshape) {
    if (node->operands.empty()) return nullptr;
    node = &graph::node_of(node->operands[0]);
  }
  return node->op == Op::constant ? &node->as<Literal>() : nullptr;
}

std::vector<Tensor> reachable(std::span<const Tensor> roots, bool through_computed,
                              const std::function<bool(const Tensor&)>& stop) {
  const std::lock_guard lock(graph_lock());
  std::unordered_set<const Node*> seen;
  std::vector<Tensor> found, open(roots.begin(), roots.end());
  while (!open.empty()) {
    Tensor x = std::move(open.back());
    open.pop_back();
    if (!seen.insert(&graph::node_of(x)).second) continue;
    found.push_back(x);
    if (stop && stop(x)) continue;
    if (graph::node_of(x).computed && !through_computed) continue;
    for (const Tensor& operand : graph::node_of(x).operands) open.push_back(operand);
  }
  std::sort(found.begin(), found.end(), [](const Tensor& a, const Tensor& b) {
    return graph::node_of(a).number < graph::node_of(b).number;
  });
  return found;
}

std::vector<Tensor> substitute(std::span<const Tensor> roots, std::span<const Tensor> from,
                               std::span<const Tensor> to) {
  const std::lock_guard lock(graph_lock());
  std::unordered_map<const Node*, Tensor> now;
  for (size_t i = 0; i < from.size(); ++i) now[&graph::node_of(from[i])] = to[i];
  for (const Tensor& x :
       reachable(roots, true, [&](const Tensor& t) { return now.contains(&graph::node_of(t)); })) {
    const Node& node = graph::node_of(x);
    if (now.contains(&node)) continue;
    bool changed = false;
    std::vector<Tensor> operands;
    for (const Tensor& operand : node.operands) {
      operands.push_back(now.at(&graph::node_of(operand)));
      changed = changed || graph::pointer_of(operands.back()) != graph::pointer_of(operand);
    }
    now[&node] =
        changed ? make_node(node.op, node.type, node.shape, std::move(operands), node.attributes) : x;
  }
  std::vector<Tensor> results;
  for (const Tensor& root : roots) results.push_back(now.at(&graph::node_of(root)));
  return results;
}

}  // namespace graph
}  // namespace adit
