// Forward algorithms in scaled numbers instead of logarithms.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// A scan whose states x go on as log(sum(exp(x + u))) + v, with u and v apart from x, as the forward
// algorithm of a hidden Markov model does in logarithms. What it carries then is p = exp(x) up to a scale:
//   p' = s d (W p),  W = exp(u - max(u)),  d = exp(v - max(v)),  s a power of two that keeps p near 1.
// W and d of all steps are computed at once, and so is the logarithm of all scales. Derivatives take scales
// for constants: what is computed does not depend on them.
// Where numbers so far apart meet that one of them could be lost and matter, the loop runs as it was written.
// In f64. `inputs`: what derivatives will be taken of.
std::vector<Tensor> scaled_states(std::span<const Tensor> roots, std::span<const Tensor> inputs);

}  // namespace adit::lower
