// The clock of a queue: a semaphore that counts the commands that are done.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "device/vulkan/core.hpp"

namespace adit::vulkan {

using Ticket = uint64_t;  // commands are numbered from 1 in the order of the queue

// How long a thread spins before it sleeps. Sleeping and waking costs more than a small kernel runs; on one
// or two cores the spinning itself would stand in the way.
struct Patience {
  std::chrono::nanoseconds waiter, dispatcher;
  static Patience of_this_host();
};

// Tells the core that this thread spins.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Timeline {
 public:
  explicit Timeline(std::shared_ptr<Core> core);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  VkSemaphore semaphore() const { return semaphore_; }
  // The last ticket known to be done; asks the driver if that is not enough for `wanted`. Throws when the
  // device is lost.
  bool reached(Ticket wanted);
  Ticket completed() const { return completed_.load(std::memory_order_acquire); }
  // Spins, then sleeps, until `wanted` is done or `stop` is set; false in the latter case.
  bool wait(Ticket wanted, const std::atomic<bool>& stop);
  // By the dispatcher's thread: a batch that ends with this ticket was submitted.
  void submitted(Ticket last);
  void wake();  // after `stop` was set

 private:
  // The semaphore only ever takes the last ticket of a batch, and some layers wait forever for a value
  // between.
  Ticket end_of_batch(Ticket wanted) const;  // 0 before it is submitted
  bool spin(Ticket wanted, const std::atomic<bool>& stop);

  std::shared_ptr<Core> core_;
  VkSemaphore semaphore_ = VK_NULL_HANDLE;
  Patience patience_;
  std::atomic<Ticket> completed_{0};
  std::atomic<int> spinning_{0};
  int most_spinning_ = 1;
  // The last tickets of the latest batches. Far fewer than these are in flight: older ones are done.
  std::array<std::atomic<Ticket>, 256> ends_{};
  std::atomic<uint64_t> batches_{0};
  std::mutex mutex_;
  std::condition_variable news_;  // waiters whose batch is not submitted yet sleep here
  int sleepers_ = 0;
};

}  // namespace adit::vulkan
