// The ways in which a model's chains could lie on a device, and how long a leapfrog of all of them would
// take.
#pragma once

#include "sample/shape.hpp"

namespace adit::sampling {

struct Candidate {
  Choice choice;
  double microseconds = 0;  // roughly
};
// What the costs say is best comes first, the others follow by their costs. `chains` in all, of all data
// sets.
std::vector<Candidate> candidates(const stats::ModelState& model, NumberTypes numbers, int64_t chains,
                                  const Device& device);

// The tree around a density that is computed outside is small: lanes of a GPU share it where a position is
// long.
Choice outside_choice(const stats::ModelState& model, DType type, bool on_cpu);

inline constexpr double least_microseconds = 5;  // of a leapfrog, whatever the costs say
// Whether a run is too short for trials, and for a kernel that takes longer to compile, to be worth it.
bool is_short(const Candidate& best, const SampleOptions& options);

}  // namespace adit::sampling
