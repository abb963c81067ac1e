// Whether single precision holds for a model: log densities that the sampler saw, beside those in double
// precision.
#pragma once

#include <vector>

#include "posterior/precision.hpp"
#include "stats/model_state.hpp"

namespace adit::sampling {

// Points that are looked at, in so many turns of a few chains each, from an iteration of warm-up on at which
// chains have left their starts: one chain has several points then.
inline constexpr int64_t watched_points = 16, watched_times = 4, watched_iteration = 75;

// The largest difference between two points of the error of their log densities. `points` are [n, size],
// `lps` what the sampler had there, up to a constant. Points without a density say nothing.
double energy_error(const stats::ModelState& model, const std::vector<double>& points,
                    const std::vector<double>& lps);

// Compiles what that needs.
void prepare_energy_error(const stats::ModelState& model);

// What that may be at points of these log densities. Chains that still come from far away, as where warm-up
// is short, decide nothing by a ten-thousandth of what they differ.
double allowed_energy_error(std::vector<double> lps);

}  // namespace adit::sampling
