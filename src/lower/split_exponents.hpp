// Fewer exponentials in the steps of a loop.
#pragma once

#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

// log(sum(exp(u + v - shift))) in the steps of a scan, as the forward algorithm of a hidden Markov model
// takes it, with v the same in all of them: exp(v) is computed once before the loop, and a step has the
// exponentials of u alone, which all sums that read it share. With m = max(u) it is
//   log(sum(exp(u - m) exp(v))) + m - shift.
// Where that leaves the range of numbers of `type`, in which it will be computed, the step takes the sum as
// it was written.
std::vector<Tensor> split_exponents(std::span<const Tensor> roots, DType type);

}  // namespace adit::lower
