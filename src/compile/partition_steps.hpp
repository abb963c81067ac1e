// The two steps of partition(): what goes into memory, and which groups become one kernel.
#pragma once

#include "compile/partition.hpp"

namespace adit::compile {

using Set = std::unordered_set<const Node*>;

Set materialise(const std::vector<const Node*>& nodes, const Set& inputs, const Set& outputs,
                const Target& target);
// In an order that can run.
std::vector<Group> merged(std::vector<Group> groups, const Partition& partition, const Target& target);

}  // namespace adit::compile
