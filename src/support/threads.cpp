#include "support/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>
#if defined(__linux__)
#include <sched.h>
#endif

#include <adit/error.hpp>

#include "support/machine.hpp"
#include "support/process_end.hpp"
#include "support/work_meter.hpp"

namespace adit {

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

// --- Processor time ---

std::atomic<int> meters{0};             // that want helpers' time to be taken
std::atomic<int64_t> helpers_spent{0};  // nanoseconds

int64_t thread_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

// --- Jobs ---

struct Job {
  const WorkRange* work = nullptr;
  uint64_t count = 0, chunk = 1;
  unsigned room = 0;  // for helpers; under the lock of the jobs
  bool from_inside = process_end::is_inside();
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> done{0};  // how much of count is finished or left out
  std::atomic<bool> failed{false};
  std::exception_ptr failure{};  // of the first that failed; read when all is done

  void perform(uint64_t begin, uint64_t end) {
    if (failed.load(std::memory_order_relaxed)) return;
    try {
      (*work)(begin, end);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  // A helper's time is noted before the chunk counts as done: who waits for that reads it next.
  void perform_metered(uint64_t begin, uint64_t end) {
    const int64_t before = thread_nanoseconds();
    perform(begin, end);
    helpers_spent.fetch_add(thread_nanoseconds() - before, std::memory_order_relaxed);
  }
  void help(bool is_caller) {
    const process_end::Helping helping(from_inside && !is_caller);
    for (;;) {
      const uint64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= count) return;
      const uint64_t size = std::min(count - begin, chunk);
      if (is_caller || meters.load(std::memory_order_relaxed) == 0)
        perform(begin, begin + size);
      else
        perform_metered(begin, begin + size);
      if (done.fetch_add(size, std::memory_order_acq_rel) + size == count) done.notify_all();
    }
  }
  void wait() {
    if (spin_until([&] { return done.load(std::memory_order_acquire) == count; })) return;
    for (uint64_t seen = done.load(); seen != count; seen = done.load()) done.wait(seen);
  }
};

class Workers {
 public:
  void start(unsigned wanted);
  void post(const std::shared_ptr<Job>& job);
  void remove(const std::shared_ptr<Job>& job) {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }

 private:
  [[noreturn]] void serve();
  std::shared_ptr<Job> take();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::atomic<uint32_t> posted_{0};  // changes with every job; what idle workers watch
  std::atomic<unsigned> count_{0};
};

// Never destroyed: threads of the caller may still compute while the process ends.
Workers& workers() {
  static Workers& only = *new Workers;
  return only;
}

void Workers::start(unsigned wanted) {
  if (count_.load(std::memory_order_acquire) >= wanted) return;
  const std::vector<int> others = other_processors();
  const std::lock_guard lock(mutex_);
  try {
    for (unsigned k = count_; k < wanted; ++k) {
      const int first = others.empty() ? -1 : others[k % others.size()];
      std::thread([this, first] {
        visit(first);
        serve();
      }).detach();
      count_ = k + 1;
    }
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
  }
}

void Workers::post(const std::shared_ptr<Job>& job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
    posted_.fetch_add(1, std::memory_order_release);  // under the lock: a worker may be about to sleep
  }
  wake_.notify_all();
}

std::shared_ptr<Job> Workers::take() {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_)
    if (job->room > 0 && job->next.load(std::memory_order_relaxed) < job->count) {
      --job->room;
      return job;
    }
  return nullptr;
}

void Workers::serve() {
  for (;;) {
    const uint32_t seen = posted_.load(std::memory_order_acquire);
    while (const auto job = take()) job->help(false);
    const auto news = [&] { return posted_.load(std::memory_order_acquire) != seen; };
    if (spin_until(news)) continue;
    std::unique_lock lock(mutex_);
    wake_.wait(lock, news);
  }
}

}  // namespace

unsigned thread_count() {
  const char* text = std::getenv("ADIT_THREADS");
  if (!text || !*text) return machine::processors();
  char* end = nullptr;
  const long wanted = std::strtol(text, &end, 10);
  if (*end != 0 || wanted < 1 || wanted > 1024)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[threads] ADIT_THREADS: expected 1 to 1024, got \"{}\"", text));
  return static_cast<unsigned>(wanted);
}

void parallel(unsigned threads, uint64_t count, uint64_t chunk, const WorkRange& work) {
  chunk = std::max<uint64_t>(chunk, 1);
  if (threads <= 1 || count <= chunk) {
    if (count > 0) work(0, count);
    return;
  }
  const auto job = std::make_shared<Job>();
  job->work = &work;
  job->count = count;
  job->chunk = chunk;
  job->room = threads - 1;
  workers().start(threads - 1);
  workers().post(job);
  job->help(true);
  job->wait();
  workers().remove(job);
  if (job->failure) std::rethrow_exception(job->failure);
}

WorkMeter::WorkMeter() {
  meters.fetch_add(1);
  begin_ = thread_nanoseconds() + helpers_spent.load();
}

WorkMeter::~WorkMeter() { meters.fetch_sub(1); }

double WorkMeter::seconds() const {
  return static_cast<double>(thread_nanoseconds() + helpers_spent.load() - begin_) * 1e-9;
}

}  // namespace adit
