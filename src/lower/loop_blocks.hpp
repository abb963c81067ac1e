// Long loops as loops over blocks, for gradients that keep few states.
//
// A gradient keeps the state before every step of a scan, and what the steps read and gave. Written as a scan
// over blocks, each of which is a scan, it keeps the states before the blocks alone: the gradient of a block
// runs its steps once more. Of n steps about 2 sqrt(n) states are in memory at any time, for a third more of
// work. What is read or made step by step around the loop goes into the blocks too: expressions of slices,
// and sums over the steps.
#pragma once

#include <limits>
#include <vector>

#include "graph/node.hpp"

namespace adit::lower {

inline constexpr int64_t any_loop_numbers = std::numeric_limits<int64_t>::max();

// Steps that blocks have where n of them are no single block: about sqrt(n), and none left over where a
// divisor of n is near.
int64_t block_length(int64_t n);

// `roots` with every scan that depends on `inputs`, outside of other control flow, in blocks, where its
// gradient would keep more than `most` numbers.
std::vector<Tensor> loops_in_blocks(const std::vector<Tensor>& roots, const std::vector<Tensor>& inputs,
                                    int64_t most);

}  // namespace adit::lower
