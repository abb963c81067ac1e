// The threads of the process: they share ranges of work with the caller.
//
// - parallel() splits [0, count) into chunks; the caller and the workers take them in turn until none is
//   left. The caller always helps itself: it waits only for chunks that someone is at, so that a chunk may
//   call parallel() again.
// - Any number of callers at once; workers help the oldest job that still has chunks and room for a helper.
// - Idle workers spin briefly, since the next kernel usually comes at once, and then sleep. They start when
//   they are first needed and live as long as the process.
#pragma once

#include <cstdint>
#include <functional>

namespace adit {

// How many threads share a job: ADIT_THREADS, or as many as this process may use processors.
unsigned thread_count();

using WorkRange = std::function<void(uint64_t begin, uint64_t end)>;
// On at most `threads` threads, the caller's included. The first exception is thrown again, after what had
// begun has ended; what had not is left out.
void parallel(unsigned threads, uint64_t count, uint64_t chunk, const WorkRange& work);

}  // namespace adit
