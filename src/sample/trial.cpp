#include "sample/trial.hpp"

#include <algorithm>
#include <chrono>

namespace adit::sampling {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double pace_of(Run& run, int64_t limit, double seconds, double (*now)()) {
  double best = 0, spent = 0;
  if (run.leapfrogs() == 0) run.step(limit);
  while (spent < seconds && run.slowest() < limit) {
    const uint64_t before = run.leapfrogs();
    const double begin = now();
    run.step(limit);
    const double took = now() - begin;
    spent += took;
    // The best of them: what else the machine does only ever takes time away.
    best = std::max(best, static_cast<double>(run.leapfrogs() - before) / std::max(took, 1e-9));
  }
  return best;
}

}  // namespace adit::sampling
