// A node of the graph: one operation and its operands, or a tensor in memory.
//
// - Nodes never change what they mean. When a node has been computed it gains storage, and (outside of
//   tracing) lets go of its operands, so that a long history does not stay in memory.
// - Numbers of nodes grow: operands have smaller ones than their users, so sorting by number is topological.
// - Who walks operands of nodes that other threads may evaluate holds the graph lock, or the node's own for a
// copy of
//   them (compile::describe, so that threads with graphs of their own do not wait for each other).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <adit/tensor.hpp>

#include "graph/attributes.hpp"
#include "graph/graph_lock.hpp"
#include "support/spin_lock.hpp"

namespace adit::graph {

enum class Op : uint8_t;  // op.hpp: who names operations includes it, so that a new one rebuilds nobody else

// Device memory of a computed tensor.
struct Storage {
  std::shared_ptr<Device> device;
  Buffer buffer;
};

struct Node {
  Op op{};
  DType type{};
  Shape shape;
  uint64_t number = 0;
  std::vector<Tensor> operands;
  Attributes attributes;
  std::shared_ptr<Device> device;          // its operands'; null: nothing decides it yet. Never changes
  std::shared_ptr<const Storage> storage;  // under the graph lock and the node's; set once
  std::atomic<bool> computed{false};       // storage is set
  std::atomic<bool> underway{false};       // some thread is computing it as a result of its own

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // drops long chains of operands without recursion

  template <class A>
  const A& as() const {
    return std::get<A>(attributes);
  }
};

// The way between tensors and nodes, which the public header does not show.
struct Inside {
  static Node& node(const Tensor& x) {
    if (!x.node_) Tensor::throw_empty();
    return *x.node_;
  }
  static const std::shared_ptr<Node>& pointer(const Tensor& x) { return x.node_; }
  static Tensor tensor(std::shared_ptr<Node> node) { return Tensor(std::move(node)); }
};
inline Node& node_of(const Tensor& x) { return Inside::node(x); }  // throws where there is no tensor
inline const std::shared_ptr<Node>& pointer_of(const Tensor& x) { return Inside::pointer(x); }

// Where a node lies or will be computed: any thread may ask while another evaluates it.
inline const std::shared_ptr<Device>& home_of(const Node& node) {
  return node.computed ? node.storage->device : node.device;
}

// Makes a node whose type and shape the caller has decided. Operands' devices must agree: throws otherwise.
Tensor make_node(Op op, DType type, const Shape& shape, std::vector<Tensor> operands,
                 Attributes attributes = {});
// By the row: checks the count, the types and the shapes, then makes the node. Operands are not promoted or
// broadcast here; the builders in ops.hpp do that.
Tensor make(Op op, std::vector<Tensor> operands, Attributes attributes = {});
// A number that nodes made from now on have larger ones than, on every thread, and those made before smaller.
uint64_t number_of_now();
// A placeholder for tracing.
Tensor placeholder(DType type, const Shape& shape);
bool is_placeholder(const Tensor& x);
Tensor constant(DType type, double value);  // a scalar that is part of the structure
Tensor constant_integer(DType type, int64_t value);
Tensor constant_complex(DType type, double real, double imag);
// The structural constant x is, if it is one (through broadcasts).
const Literal* constant_value(const Tensor& x);

// While one lives no other thread gives this node its memory: a short look at its operands needs no more than
// that. One of some spin locks that all nodes share, so nothing may be waited for meanwhile.
class NodeLock {
 public:
  explicit NodeLock(const Node& node);
  ~NodeLock();
  NodeLock(const NodeLock&) = delete;
  NodeLock& operator=(const NodeLock&) = delete;

 private:
  SpinLock& lock_;
};

// While one lives on this thread a function is being traced: evaluated nodes keep their operands, jit
// inlines.
class Tracing {
 public:
  Tracing();
  ~Tracing();
  static bool active();
};

// All nodes that `roots` need, in topological order. Stops at (but includes) nodes for which `stop` is true
// and nodes without operands. A computed node is a leaf unless it kept its operands and `through_computed`.
std::vector<Tensor> reachable(std::span<const Tensor> roots, bool through_computed,
                              const std::function<bool(const Tensor&)>& stop = {});
// Rebuilds `roots` with some nodes replaced; what does not depend on them is shared.
std::vector<Tensor> substitute(std::span<const Tensor> roots, std::span<const Tensor> from,
                               std::span<const Tensor> to);

}  // namespace adit::graph
