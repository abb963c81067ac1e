// Control flow without what nobody reads. Derivatives keep every carry and pass on every sum; few of them are
// needed.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// The same results, from control flow whose unused results, carries, slices and captured operands are gone,
// whose unchanging carries are captured, and whose functions are simplified.
std::vector<Tensor> tidy_control(std::span<const Tensor> roots);

// Loops without a carry, and without control flow inside, as operations on all of their slices at once.
std::vector<Tensor> spread_maps(std::span<const Tensor> roots);

}  // namespace adit::lower
