// Functions of numbers that are taken by places, computed where the numbers come from.
#pragma once

#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// exp(x[group]) as exp(x)[group], where that is fewer exponentials, and gradients are summed by group before
// they meet the function's slope. Looks at what depends on `inputs`, outside of control flow.
std::vector<Tensor> functions_before_places(const std::vector<Tensor>& roots,
                                            const std::vector<Tensor>& inputs);

}  // namespace adit::lower
