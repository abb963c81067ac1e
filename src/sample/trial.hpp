// How fast a run goes, seen in the first milliseconds of it. They are not lost: a run that was timed goes on.
#pragma once

#include <functional>

#include "sample/run.hpp"

namespace adit::sampling {

// Leapfrogs a second of all chains, from dispatches of about `seconds` in all, after a first one that warms
// the device; fewer where it comes to `limit` (iterations) before. `now`: seconds.
double pace_of(Run& run, int64_t limit, double seconds, const std::function<double()>& now);
// The same by the clock on the wall, or on a CPU by what its threads spent, as if each had a processor for
// itself: a machine that others use too chooses as an idle one does.
double pace_of(Run& run, int64_t limit, double seconds, const Device& device);
double wall_seconds();

}  // namespace adit::sampling
