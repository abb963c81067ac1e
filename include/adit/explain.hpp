// What the engine makes of a graph, for people who wonder where the time goes.
//
//   Tensor y = softmax(dot(x, w) + b);
//   std::cout << explain(y);
//
// tells, in this order:
// - the graph after simplification, a line a node: `%3 = multiply %1 %2 : f32[1024, 512]`. "-> memory" marks
// what
//   a kernel writes, "-> output" what the caller gets; all others are computed where they are read;
// - the kernels in order: teams, bytes they move between memory and the device, arithmetic operations, and
// the
//   tensors that they read -> write. An element counts once however often a cache serves it again (so a
//   broadcast costs what it is made of); gathers count by their indices. An addition is one operation, others
//   cost as docs/ops.md says;
// - with times: each kernel by itself, and how near it comes to what the device's memory or arithmetic allow.
// Those
//   are measured at the first use, in about 0.3 s. Small tensors that stay in a cache may pass 100%;
// - the memory: outputs, and what lies in the arena while the kernels run, each over those that are done.
//
// Nothing is evaluated: lazy tensors stay lazy, though with times their kernels run, on memory of their own.
#pragma once

#include <span>
#include <string>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

struct ExplainOptions {
  bool graph = true;  // list the nodes
  bool times = true;  // run and measure
};

std::string explain(std::span<const Tensor> tensors, const ExplainOptions& options = {});
inline std::string explain(const Tensor& tensor, const ExplainOptions& options = {}) {
  return explain(std::span(&tensor, 1), options);
}
inline std::string explain(std::initializer_list<Tensor> tensors, const ExplainOptions& options = {}) {
  return explain(std::span(tensors.begin(), tensors.size()), options);
}

}  // namespace adit
#pragma GCC visibility pop
