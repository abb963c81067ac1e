// Memory that a run takes, told before it begins, and what is said when there is no more.
#pragma once

#include <adit/sample_memory.hpp>

#include "stats/model_state.hpp"

namespace adit::sampling {

SampleMemory memory_of(const stats::ModelState& model, const SampleOptions& options, int64_t sets);

// Throws where the run could never end: before any device work.
void check_memory(const stats::ModelState& model, const SampleOptions& options, int64_t sets);

// Memory ended half-way. `why`: what a device said of it, or nothing; `kept`: the checkpoint can be gone on
// from.
[[noreturn]] void throw_out_of_memory(const SampleOptions& options, const std::string& why, bool kept);

}  // namespace adit::sampling
