#include "device/cpu/threads.hpp"

#include <algorithm>
#include <chrono>
#if defined(__linux__)
#include <sched.h>
#endif

namespace adit::cpu {

namespace {

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // a yield is a no-op on most cores; this one waits a little
#endif
}

constexpr auto spin_time = std::chrono::microseconds(30);

template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int k = 0; k < 32; ++k) {
      if (ready()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

// A system may leave threads that wake each other on one processor for many milliseconds. A worker that has
// been on another one stays there, and is free to go where the system wants it.
#if defined(__linux__)
std::vector<int> other_processors() {
  cpu_set_t allowed;
  std::vector<int> others;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return others;
  const int here = sched_getcpu();
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (cpu != here && CPU_ISSET(cpu, &allowed)) others.push_back(cpu);
  return others;
}

void visit(int cpu) {
  cpu_set_t allowed, one;
  if (cpu < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}
#else
std::vector<int> other_processors() { return {}; }
void visit(int) {}
#endif

}  // namespace

Threads::Threads(unsigned threads) {
  const std::vector<int> others = other_processors();
  for (unsigned k = 1; k < threads; ++k) {
    const int first = others.empty() ? -1 : others[(k - 1) % others.size()];
    workers_.emplace_back([this, first] {
      visit(first);
      serve();
    });
  }
}

Threads::~Threads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  posted_.fetch_add(1, std::memory_order_release);
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Threads::help(Job& job) {
  for (;;) {
    const uint64_t begin = job.next.fetch_add(job.chunk, std::memory_order_relaxed);
    if (begin >= job.count) return;
    const uint64_t end = std::min(job.count, begin + job.chunk);
    (*job.work)(begin, end);
    if (job.done.fetch_add(end - begin, std::memory_order_acq_rel) + (end - begin) == job.count)
      job.done.notify_all();
  }
}

void Threads::parallel(uint64_t count, uint64_t chunk, const Work& work) {
  if (workers_.empty() || count <= chunk) {
    if (count > 0) work(0, count);
    return;
  }
  const auto job = std::make_shared<Job>();
  job->work = &work;
  job->count = count;
  job->chunk = std::max<uint64_t>(chunk, 1);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
    posted_.fetch_add(1, std::memory_order_release);  // under the lock: a worker may be about to sleep
  }
  wake_.notify_all();
  help(*job);
  if (!spin_until([&] { return job->done.load(std::memory_order_acquire) == count; }))
    for (uint64_t seen = job->done.load(); seen != count; seen = job->done.load()) job->done.wait(seen);
  const std::lock_guard lock(mutex_);
  std::erase(jobs_, job);
}

std::shared_ptr<Threads::Job> Threads::take() {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_)
    if (job->next.load(std::memory_order_relaxed) < job->count) return job;
  return nullptr;
}

void Threads::serve() {
  for (;;) {
    const uint32_t seen = posted_.load(std::memory_order_acquire);
    while (const auto job = take()) help(*job);
    if (spin_until([&] { return posted_.load(std::memory_order_acquire) != seen; })) {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      continue;
    }
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stop_ || posted_.load(std::memory_order_acquire) != seen; });
    if (stop_) return;
  }
}

}  // namespace adit::cpu
