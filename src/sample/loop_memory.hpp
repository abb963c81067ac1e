// A run's density, whose loops keep no more for their gradients than the device's memory allows.
#pragma once

#include <adit/device.hpp>

#include "density/density.hpp"
#include "sample/forced.hpp"

namespace adit::sampling {

// Numbers that a loop may keep for each of `chains`: the rest of a run needs memory too, and a model may
// have several loops.
int64_t loop_numbers(DType type, int64_t chains, const Device& device);

// `chains` in all, of all data sets.
Density density_for(const stats::ModelState& model, NumberTypes numbers, int64_t chains, const Device& device,
                    const Forced& forced = {});

}  // namespace adit::sampling
