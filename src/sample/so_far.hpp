// The draws in the checkpoint of a run that did not come to its end; <adit/checkpoint.hpp> is the door to it.
#pragma once

#include <adit/draws.hpp>

#include "sample/checkpoint.hpp"
#include "stats/model_state.hpp"

namespace adit::sampling {

// `model`: that of the run, with its data. All whole rows are used, those behind the last state too. Mass
// matrices are not among the rows and stay empty.
Draws draws_so_far(const CheckpointContents& contents, const std::string& path,
                   const stats::ModelState& model, const std::shared_ptr<Device>& device);

}  // namespace adit::sampling
