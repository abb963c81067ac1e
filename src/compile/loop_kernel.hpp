// A loop whose rounds are small, as one kernel of one team: the state stays in registers and shared memory,
// the condition is asked in the kernel. A launch makes a bounded number of rounds, and leaves the state where
// the next launch finds it: devices end kernels that run for long.
#pragma once

#include "compile/kernels.hpp"
#include "compile/round.hpp"

namespace adit::compile {

// The tensors of the graph around the loop; those that nobody wants are null.
struct LoopEnds {
  std::vector<const Node*> initial, last;              // one a state
  std::vector<const Node*> outputs;                    // one an output, each round's at its number
  std::unordered_map<const Node*, const Node*> given;  // by the parameters of the round that stay as they are
};

struct LoopKernel {
  Launch launch;
  int64_t most_rounds = 0;                       // of a launch
  static constexpr size_t begin = 0, count = 1;  // bindings: rounds made before; rounds to be made at most
  const Node* flag = nullptr;  // a u32: whether the condition still held at the end, where there is one
};

// `length`, `reverse`: of loops without a condition. None where the rounds are too large for one team.
std::optional<LoopKernel> loop_kernel(const Round& round, const LoopEnds& ends, int64_t length, bool reverse,
                                      const std::string& name, Workshop& shop);

}  // namespace adit::compile
