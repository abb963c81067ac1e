#include "sample/trial.hpp"

#include <algorithm>
#include <chrono>

#include "support/work_meter.hpp"

namespace adit::sampling {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

namespace {

// Threads that work at a time, on average: the last turn of the groups may leave some without.
double threads_at_work(const Run& run, const Device& device) {
  const auto threads = static_cast<int64_t>(std::max(1u, device.limits().processors));
  const int64_t groups = run.groups(), most_of_one = (groups + threads - 1) / threads;
  return static_cast<double>(groups) / static_cast<double>(most_of_one);
}

}  // namespace

double pace_of(Run& run, int64_t limit, double seconds, const Device& device) {
  if (device.info().kind != DeviceKind::cpu) return pace_of(run, limit, seconds, wall_seconds);
  const WorkMeter meter;
  const double threads = threads_at_work(run, device);
  return pace_of(run, limit, seconds, [&] { return meter.seconds() / threads; });
}

double pace_of(Run& run, int64_t limit, double seconds, const std::function<double()>& now) {
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
