// Whether single precision holds for a model: log densities and gradients that the sampler saw, beside those
// in double precision.
#pragma once

#include <vector>

#include "posterior/precision.hpp"
#include "stats/model_state.hpp"

namespace adit::sampling {

// Points that are looked at, in so many turns of a few chains each, from an iteration of warm-up on at which
// chains have left their starts: one chain has several points then.
inline constexpr int64_t watched_points = 16, watched_times = 4, watched_iteration = 75;
inline constexpr size_t watched_gradients = 4;  // of these points

// What the sampler had at some points, [n, size] and [n]. Log densities are right up to a constant.
struct Seen {
  std::vector<double> points, lps;
  // Of the last points, of which there may be fewer: the gradients, and how far a step moves each number.
  std::vector<double> gradients, steps;
};

// Points without a density say nothing.
struct PrecisionErrors {
  double energy = 0;    // the largest difference between two points of the error of their log densities
  double gradient = 0;  // of gradients, by the length of the longest, in units of the steps
  double position = 0;  // the largest rounding of a position, in steps
};
PrecisionErrors precision_errors(const stats::ModelState& model, const Seen& seen);

// The log density, with all that is constant.
Tensor total_of(const stats::ModelState& model);

// Compiles what that needs.
void prepare_precision_errors(const stats::ModelState& model);

// What the error of energies may be at points of these log densities. Chains that still come from far away,
// as where warm-up is short, decide nothing by a ten-thousandth of what they differ.
double allowed_energy_error(std::vector<double> lps);

}  // namespace adit::sampling
