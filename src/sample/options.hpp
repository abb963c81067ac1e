// Checks of a run's options, and where its chains start.
#pragma once

#include "sample/run.hpp"

namespace adit::sampling {

// Throws `[sample] option: expected ..., got ...` before any device work.
void check_options(const stats::ModelState& model, const SampleOptions& options);
// Start points and an earlier run's metric, where the options give them.
void prepare_start(Run& run, const stats::ModelState& model, const SampleOptions& options);

// Where a chain would start, unconstrained; the first of a hundred attempts with a density, else the last.
std::vector<double> start_point(const stats::ModelState& model, const SampleOptions& options, int64_t chain);
// The first attempt where the caller gives nothing, with a density or none.
std::vector<double> random_point(const stats::ModelState& model, const SampleOptions& options, int64_t chain);

}  // namespace adit::sampling
