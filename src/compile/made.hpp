// What a compilation made, for those who explain it.
#pragma once

#include <unordered_set>
#include <vector>

#include "compile/kernels.hpp"
#include "compile/partition.hpp"
#include "lower/memory_plan.hpp"

namespace adit::compile {

// Everything a compilation leaves on the table.
struct Made {
  const std::vector<const Node*>& nodes;
  const std::unordered_set<const Node*>& inputs;
  const std::unordered_set<const Node*>& outputs;
  const Partition& parts;
  const std::vector<Tensor>& scratch;
  const std::vector<Work>& work;
  const std::vector<std::vector<const Group*>>& groups;  // of each piece of work
  const MemoryPlan& plan;
};

}  // namespace adit::compile
