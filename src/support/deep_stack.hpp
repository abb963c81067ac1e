// Work that goes down as deep as what the user gave nests: it gets a stack of its own, whatever the
// caller's is.
#pragma once

#include <cstddef>
#include <functional>

namespace adit {

// Runs the work on a thread with a stack of at least `bytes`, of which only what is used takes memory, and
// waits for it; up to `more` are added, where they are to be had. What the work throws is thrown here;
// Error(out_of_memory) where there is no such stack.
void on_deep_stack(size_t bytes, const std::function<void()>& work, size_t more = 0);

// The same on the largest stack up to 256 MB that is to be had, or on the caller's: for a library that
// recurses as deep as its input is long.
void on_large_stack(const std::function<void()>& work);

// How much of such a stack is left to the caller; of another stack nothing is known, and it counts as
// endless.
size_t deep_stack_left();

}  // namespace adit
