// What single precision may do to a run.
#pragma once

#include <string_view>

namespace adit {

// Differences of energies that are off by more than this change what is accepted by a tenth.
inline constexpr double most_energy_error = 0.1;
// Gradients that are off by more than this, a part of their length, lead trajectories away from their
// energies: steps become short, though draws stay right.
inline constexpr double most_gradient_error = 0.1;
// Positions that are rounded by more than this part of a step are few.
inline constexpr double most_position_error = 1;

// Whether a run's numbers are f32, by what its draws call their precision.
inline bool is_single(std::string_view precision) { return precision == "f32" || precision == "mixed"; }

}  // namespace adit
