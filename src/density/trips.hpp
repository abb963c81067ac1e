// How many rounds of loops a kernel of the sampler makes, for devices that bound them.
#pragma once

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

namespace adit::sampling {

// Of one invocation, in one round of the kernel's outermost loops. A `while` inside makes `depth` rounds at
// most; lengths that only the data know are taken as 64.
int64_t loop_trips(const kernel::Program& program, int64_t depth);
// Throws where a device ends loops before one round is done: it would do so silently.
void check_trips(int64_t loop_trips, const Device& device);

}  // namespace adit::sampling
