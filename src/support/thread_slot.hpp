// Memory that threads write without meeting: each has a slot of its own, until there are more threads than
// slots. What lies in a slot may still be shared, so it is atomic or has a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace adit {

constexpr unsigned thread_slots = 64;

// Of this thread. No destructor: threads use theirs to their very end.
inline unsigned thread_slot() {
  static std::atomic<unsigned> threads{0};
  thread_local const unsigned mine = threads.fetch_add(1, std::memory_order_relaxed) % thread_slots;
  return mine;
}

template <class T>
class PerThread {
 public:
  T& mine() { return slots_[thread_slot()].value; }
  template <class F>
  void each(const F& f) {
    for (Slot& slot : slots_) f(slot.value);
  }
  template <class F>
  void each(const F& f) const {
    for (const Slot& slot : slots_) f(slot.value);
  }

 private:
  struct alignas(128) Slot {  // processors fetch lines of memory in pairs
    T value{};
  };
  std::array<Slot, thread_slots> slots_;
};

// A count that many threads add to and few read.
class ThreadCount {
 public:
  void add() { counts_.mine().fetch_add(1, std::memory_order_relaxed); }
  uint64_t sum() const {
    uint64_t all = 0;
    counts_.each([&](const std::atomic<uint64_t>& count) { all += count.load(std::memory_order_relaxed); });
    return all;
  }

 private:
  PerThread<std::atomic<uint64_t>> counts_;
};

}  // namespace adit
