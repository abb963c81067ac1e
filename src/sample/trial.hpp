// How fast a run goes, seen in the first milliseconds of it. They are not lost: a run that was timed goes on.
#pragma once

#include "sample/run.hpp"

namespace adit::sampling {

// Leapfrogs a second of all chains, from dispatches of about `seconds` in all, after a first one that warms
// the device. 0 where the run would have come further than `limit` (iterations) in less time.
double pace_of(Run& run, int64_t limit, double seconds);

}  // namespace adit::sampling
