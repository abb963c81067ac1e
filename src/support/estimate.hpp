// A measured time that many threads note and read.
#pragma once

#include <atomic>

namespace adit {

// Written only where it is news: a line of memory that all threads write costs more than what is timed here.
inline void note(std::atomic<double>& known, double measured) {
  const double before = known.load(std::memory_order_relaxed);
  if (measured > before * 1.5 || measured < before * 0.67) known.store(measured, std::memory_order_relaxed);
}

}  // namespace adit
