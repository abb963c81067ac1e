// Work on a stack that is large, whatever the caller's is: LLVM recurses over the blocks of a function, and
// of a long kernel there are many.
#pragma once

#include <functional>

namespace adit {

// Returns when the work is done; what it throws the caller gets.
void on_a_large_stack(const std::function<void()>& work);

}  // namespace adit
