// Functions of tensors as graphs: calling them with placeholders, finding what they capture, calling the
// graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <adit/transform.hpp>

#include "graph/node.hpp"

namespace adit::graph {

struct Slot {  // what a parameter looks like
  DType type{};
  Shape shape;
};
Slot slot_of(const Tensor& x);
std::vector<Slot> slots_of(const Tensors& list);
std::string describe(const Slot& slot);  // "f32 [2, 3]"

// Throws where there is no function, or no tensor among the arguments.
void expect_call(std::string_view op, std::string_view name, const Function& f, const Tensors& arguments);
// The results of a function while it is traced, each of them a tensor.
Tensors call(std::string_view op, std::string_view name, const Function& f, const Tensors& arguments);

// A function that was called once, with placeholders.
struct Trace {
  Tensors parameters, results;
  uint64_t first = 0;  // nodes with smaller numbers are older than the call
};
Trace trace(std::string_view op, std::string_view name, const Function& f, const std::vector<Slot>& slots);

// Functions that depend on their parameters alone: all take the same captured tensors as their last ones.
struct Closed {
  std::vector<std::shared_ptr<const Subgraph>> functions;
  Tensors captured;
};
// What a function computes from captured tensors alone either stays inside (a branch that may not be taken),
// or is computed once outside (a loop).
enum class Invariant : uint8_t { inside, outside };
Closed close(const std::vector<Trace>& traces, Invariant invariant);

// Adds the constants that `roots` need to `from`, and copies of them to `to`. A function holds no constant of
// the caller's: once that was evaluated it would be a tensor in memory, which a function cannot read. Looks
// no further than `from` as it was.
void add_own_constants(std::span<const Tensor> roots, Tensors& from, Tensors& to);

// The results of a function for these arguments, as nodes of the caller's graph.
Tensors instantiate(const Subgraph& f, const Tensors& arguments);

// Rebuilds `roots` with some nodes replaced, also inside of what takes their places.
Tensors substitute_throughout(const Tensors& roots, const Tensors& from, const Tensors& to);

// Nodes that depend on `inputs` and that `results` need, in topological order, each with its operands as they
// were under the graph lock. The inputs themselves are not among the steps.
struct Visit {
  Tensor node;
  Tensors operands;
};
struct Dependents {
  std::vector<Visit> steps;
  std::vector<const Node*> sorted;  // the inputs and the steps
  bool contains(const Tensor& x) const;
};
Dependents dependents(const Tensors& results, const Tensors& inputs);

}  // namespace adit::graph
