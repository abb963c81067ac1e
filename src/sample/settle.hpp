// The layout of a run whose caller leaves it open.
//
// The costs of candidates.hpp say which is best. Where others are close, and the run is long enough to be
// worth it, each of them runs for some milliseconds, and the fastest is kept in the cache by model, chains,
// options, device and driver: the next run takes it without a clock, and has the same bits. Where nothing can
// be kept, nothing is timed, so that runs repeat themselves there too.
#pragma once

#include <chrono>

#include "sample/run.hpp"

namespace adit::sampling {

// What was kept; "" where nothing was.
std::string kept_layout(const stats::ModelState& model, const SampleOptions& options, int64_t sets,
                        const Device& device);

// As `SampleOptions::layout` takes it; "": as the costs say. `begin`: when the caller began to wait.
std::string settled_layout(const stats::ModelState& model, const SampleOptions& options,
                           const std::vector<DataSet>& sets, const std::shared_ptr<Device>& device,
                           std::chrono::steady_clock::time_point begin);

}  // namespace adit::sampling
