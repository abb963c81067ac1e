// How many rounds of loops a kernel makes, for devices that bound them.
#pragma once

#include <adit/kernel/program.hpp>

namespace adit::lower {

// Of one invocation, in one round of the kernel's outermost loops. A `while` inside makes `depth` rounds at
// most; lengths that only the data know are taken as 64.
int64_t loop_trips(const kernel::Program& program, int64_t depth);

}  // namespace adit::lower
