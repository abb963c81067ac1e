// Devices that end loops early, and the kernels of the sampler.
#pragma once

#include <adit/device.hpp>

#include "lower/trips.hpp"

namespace adit::sampling {

using lower::loop_trips;

// Throws where a device ends loops before one round is done: it would do so silently.
void check_trips(int64_t loop_trips, const Device& device);

}  // namespace adit::sampling
