// Random graphs of operations, as data: they can be run in several ways, printed and made smaller.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <adit/control.hpp>

#include "ops/cases.hpp"

namespace adit::test {

// A value of a graph: a leaf with bytes, or an operation on earlier values.
struct GraphStep {
  std::string op;  // empty: a leaf
  std::vector<size_t> operands;
  ops::Json attributes = ops::Json::object();
  Stored leaf;
};

struct RandomGraph {
  std::vector<GraphStep> steps;
  std::vector<size_t> outputs;
};

// An operation of ops.hpp, or one of a few made of transformations: "grad_of", "scan_of", "cond_of",
// "vmap_of".
Tensor apply_step(const GraphStep& step, const Tensors& operands);

RandomGraph random_graph(uint64_t seed, int operations);
// C++-like text.
std::string to_text(const RandomGraph& graph);
// What the outputs need, and nothing else.
RandomGraph without_unused(const RandomGraph& graph);

}  // namespace adit::test
