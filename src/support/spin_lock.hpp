// A lock for a few instructions at a time: who waits for it spins rather than asks the system to sleep and be
// woken, which takes a hundred times as long.
#pragma once

#include <atomic>
#include <thread>

namespace adit {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; held_.exchange(true, std::memory_order_acquire); ++tries) {
      // Where its holder was put aside by the system, spinning keeps it from coming back.
      while (held_.load(std::memory_order_relaxed))
        if (++tries > patience) std::this_thread::yield();
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  static constexpr int patience = 200;
  std::atomic<bool> held_{false};
};

}  // namespace adit
