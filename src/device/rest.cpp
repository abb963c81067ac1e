#include "device/rest.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <vector>

#include "support/log.hpp"
#include "support/process_end.hpp"

namespace adit::rest {
namespace {

struct Watched {
  std::weak_ptr<Keeper> keeper;
  Clock::time_point when;
};

struct State {
  std::mutex working;  // held while a keeper gives back: nobody forks in the middle
  std::mutex mutex;    // everything below
  std::condition_variable news;
  std::vector<Watched> all;
  bool started = false, is_off = false;  // off: there is no thread
};

State& state() {
  static State& only = *new State;
  return only;
}

// Those whose time has come, taken off the list.
std::vector<std::weak_ptr<Keeper>> wait_for_due() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  for (;;) {
    std::vector<std::weak_ptr<Keeper>> due;
    const Clock::time_point now = Clock::now();
    auto next = Clock::time_point::max();
    std::erase_if(s.all, [&](const Watched& it) {
      if (it.when > now) next = std::min(next, it.when);
      if (it.when <= now) due.push_back(it.keeper);
      return it.when <= now;
    });
    if (!due.empty()) return due;
    if (s.all.empty())
      s.news.wait(lock);
    else
      s.news.wait_until(lock, next);
  }
}

[[noreturn]] void serve() {
  for (;;) {
    for (const std::weak_ptr<Keeper>& each : wait_for_due()) {
      const process_end::Visit visit;  // before any lock: at the end of the process this thread sleeps here
      const std::lock_guard working(state().working);
      try {
        const std::shared_ptr<Keeper> keeper = each.lock();
        if (!keeper) continue;
        if (const auto again = keeper->give_back(Clock::now())) watch(keeper, *again);
      } catch (const std::exception& problem) {
        log_debug("[device] memory that rests: {}", problem.what());
      }
    }
  }
}

void before_fork() {
  state().working.lock();
  state().mutex.lock();
}
void after_fork() {
  state().mutex.unlock();
  state().working.unlock();
}
void in_the_copy() {
  state().is_off = true;
  after_fork();
}

void start() {
  State& s = state();
  if (s.started) return;
  s.started = true;
  ::pthread_atfork(before_fork, after_fork, in_the_copy);
  try {
    std::thread(serve).detach();
  } catch (const std::system_error&) {
    s.is_off = true;  // memory is given back by trim() alone
  }
}

}  // namespace

void watch(const std::weak_ptr<Keeper>& keeper, Clock::time_point when) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.is_off) return;
  start();
  s.all.push_back({keeper, when});
  s.news.notify_one();
}

}  // namespace adit::rest
