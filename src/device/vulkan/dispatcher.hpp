// The thread that owns a device's queue. Callers hand it commands and never touch the queue themselves.
//
// - A caller appends its command to a list under a mutex; the command's number in the list is its ticket.
// - The thread takes the list, records, and submits when somebody waits, when a batch is full, or before it
// sleeps.
// - Waiting is done by the caller, on the timeline of tickets.
// - When the driver fails, every waiter and every later call throws Error(device_lost) with the same message.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/pool.hpp"
#include "device/vulkan/recorder.hpp"
#include "device/vulkan/timeline.hpp"

namespace adit::vulkan {

// A range that a command touches, and the chunk to stamp with the command's ticket.
struct Use {
  Touch touch;
  Pool::Chunk* chunk = nullptr;
};

class Dispatcher {
 public:
  explicit Dispatcher(std::shared_ptr<Core> core);
  ~Dispatcher();
  // What is queued is done, then the thread makes its last calls of the driver and ends. A thread of the
  // caller might be past its own end, where a layer keeps something for each thread.
  void finish();
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  Ticket run(const PipelineHandle& pipeline, uint32_t groups_x, uint32_t groups_y,
             std::span<const std::byte> block, std::span<const Use> uses);
  Ticket copy(const CopyRegion& region, std::span<const Use> uses);
  Ticket fill(const FillRegion& region, std::span<const Use> uses);
  Ticket write(VkBuffer to, uint64_t offset, std::span<const std::byte> data, std::span<const Use> uses);

  Ticket last() const { return pushed_.load(std::memory_order_acquire); }
  void flush();
  void wait(Ticket ticket);
  bool is_done(Ticket ticket) noexcept;  // asks, and waits for nothing
  void settle() noexcept;                // waits for everything; a lost device has nothing left to wait for
  void settle_and_sleep() noexcept;      // and until the thread has left the driver

  void check_alive() const {
    if (lost_.load(std::memory_order_acquire)) throw_lost();
  }
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  void fail_next_submit() { recorder_.fail_next_submit = true; }
  const Counters& counters() const { return recorder_.counters; }
  // Called by the thread after half a second without work, once for each time it was asked for, and at its
  // end.
  std::function<void()> on_idle;
  void want_idle() { idle_wanted_.store(true, std::memory_order_release); }
  void expect_new_kernels() { new_kernels_.store(true, std::memory_order_release); }

 private:
  struct Header;
  struct Run;
  struct Write;
  struct Commands {
    std::vector<uint64_t> words;
    std::vector<PipelineHandle> pipelines;  // of those that run kernels, in order
  };

  template <class Command>
  Ticket push(const Command& command, std::span<const Use> uses, std::span<const std::byte> data,
              const PipelineHandle& pipeline = nullptr);
  void request(Ticket ticket);
  void loop();
  bool has_work() const;
  bool take(Commands& commands);
  void sleep(std::unique_lock<std::mutex>& lock);
  void record(const Commands& commands);
  void note_submission();
  void last_calls();
  void become_lost(const std::string& why);
  [[noreturn]] void throw_lost() const;
  [[noreturn]] void suspect_and_throw();

  std::shared_ptr<Core> core_;
  Patience patience_;
  Timeline timeline_;
  std::atomic<bool> lost_{false};
  Recorder recorder_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;    // the thread sleeps here
  std::condition_variable asleep_;  // callers wait here until it does
  std::condition_variable room_;    // callers wait here while the list is too long
  std::condition_variable news_;    // callers that saw a failure wait here for its message
  std::vector<uint64_t> words_;     // commands to record
  std::vector<PipelineHandle> pipelines_;
  bool sleeping_ = false;
  std::string lost_message_;
  std::atomic<Ticket> pushed_{0};
  std::atomic<Ticket> wanted_{0};  // somebody waits for this one
  std::atomic<bool> stop_{false}, suspected_{false}, idle_wanted_{false}, new_kernels_{false};
  Ticket taken_ = 0;                      // the thread's own, as are those that follow
  uint32_t kinds_ = 0, known_kinds_ = 0;  // of commands that it met
  std::thread thread_;
};

}  // namespace adit::vulkan
