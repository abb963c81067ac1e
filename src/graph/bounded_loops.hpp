// Loops of a log density end: one that would go on has results that are no numbers, so that the point is
// outside of the density, wherever that is computed.
#pragma once

#include "graph/node.hpp"

namespace adit::graph {

// A gradient keeps the states of all rounds, so this is memory as well: SampleOptions cannot change it.
inline constexpr int64_t most_rounds = 1024;

struct BoundedLoops {
  std::vector<Tensor> roots;
  std::vector<Tensor> endless;  // a scalar a loop outside of other loops: not 0 where it would have gone on
};
// `roots` with every while_loop, also inside of other control flow, ended after `most_rounds` rounds.
BoundedLoops bounded_loops(const std::vector<Tensor>& roots);

}  // namespace adit::graph
