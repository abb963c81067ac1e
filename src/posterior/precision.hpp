// What single precision may do to a run.
#pragma once

namespace adit {

// Differences of energies that are off by more than this change what is accepted by a tenth.
inline constexpr double most_energy_error = 0.1;

}  // namespace adit
