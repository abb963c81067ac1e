// Command buffers being written and those in flight. Only the dispatcher's thread uses it, but for the
// counters.
//
// - A batch is one command buffer; it starts with a full barrier, and hazards within it get theirs. Between
// kernels
//   a barrier speaks of compute alone, which is cheaper; the next transfer then gets a full one.
// - Argument blocks and small writes lie in a ring of memory that the host writes and the device reads; a
// batch's
//   part of the ring is used again when the batch is done.
// - The next batch is begun as soon as one is submitted, so that the next command finds it open.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/vulkan/hazards.hpp"
#include "device/vulkan/kernel_times.hpp"
#include "device/vulkan/timeline.hpp"

namespace adit::vulkan {

// What the recorder needs of a kernel. The kernel has it, and so have the commands that run it until they are
// done: who goes last takes it down.
struct Pipeline {
  Pipeline(std::shared_ptr<Core> of, VkPipelineLayout with, std::string called)
      : core(std::move(of)), layout(with), name(std::move(called)) {}
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  std::shared_ptr<Core> core;
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  bool arguments_inline = false;  // pushed whole, rather than by address
  std::string name;
};
using PipelineHandle = std::shared_ptr<const Pipeline>;

struct CopyRegion {
  VkBuffer from = VK_NULL_HANDLE, to = VK_NULL_HANDLE;
  uint64_t from_offset = 0, to_offset = 0, bytes = 0;
  bool for_host = false;  // the host reads it
};

struct FillRegion {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0, bytes = 0;
  uint32_t pattern = 0;
};

struct Counters {
  std::atomic<uint64_t> kernels_run{0}, batches{0}, barriers{0};
};

class Recorder {
 public:
  Recorder(std::shared_ptr<Core> core, Timeline& timeline, const std::atomic<bool>& stop);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Each takes the next ticket. They throw when the driver fails.
  void run(const PipelineHandle& pipeline, uint32_t groups_x, uint32_t groups_y,
           std::span<const std::byte> block, std::span<const Touch> touches);
  void copy(const CopyRegion& region, std::span<const Touch> touches);
  void fill(const FillRegion& region, std::span<const Touch> touches);
  void write(VkBuffer to, uint64_t offset, std::span<const std::byte> data, std::span<const Touch> touches);

  Ticket recorded() const { return recorded_; }
  Ticket submitted() const { return submitted_; }
  void submit();                // what is recorded, if anything
  void print_times() noexcept;  // all is done; where somebody asked for them
  // The kernels that were recorded or submitted and not seen to end, for the message about a lost device.
  std::string kernels_in_flight() const;

  Counters counters;
  std::atomic<bool> fail_next_submit{false};  // for tests

 private:
  using Clock = std::chrono::steady_clock;
  struct Batch {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    Ticket last = 0;
    Clock::time_point since;  // submitted
    uint64_t ring_end = 0;
    PipelineHandle bound_first;  // before any kernel ran
    std::vector<PipelineHandle> kernels;
    KernelTimes::Stamps stamps;
  };

  std::unique_ptr<Batch> make_batch() const;
  std::unique_ptr<Batch> free_batch();
  void open();   // makes sure that a batch is being written
  void begin();  // the same, when one is free
  enum class Work { compute, transfer };
  void before(Work work, std::span<const Touch> touches);
  void finish_command(const std::string& name);
  void full_barrier();
  void barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
               VkAccessFlags access);
  bool retire();       // true when a batch was done
  void wait_oldest();  // until it is done
  void keep_pace();    // with the device
  void note_end(Clock::time_point since, Ticket last);
  uint64_t place(std::span<const std::byte> data);  // in the ring; returns the offset

  std::shared_ptr<Core> core_;
  const DeviceCalls& calls_;
  Timeline& timeline_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<KernelTimes> times_;  // where somebody asked for them
  OwnRegion ring_;
  uint64_t ring_head_ = 0, ring_tail_ = 0;  // counted without wrapping
  std::vector<std::unique_ptr<Batch>> free_;
  std::deque<std::unique_ptr<Batch>> flying_;
  std::unique_ptr<Batch> current_;
  PipelineHandle bound_;
  uint32_t in_batch_ = 0;
  Ticket recorded_ = 0, submitted_ = 0;
  Ticket allowed_ = 256;  // commands in flight, by how long they take
  Clock::time_point last_end_;
  Ticket last_ended_ = 0;
  Hazards hazards_;
  bool transfers_pending_ = false;  // since the last barrier
  bool transfers_unready_ = false;  // the last barrier did not speak of transfers to come
  bool host_reads_ = false;         // what this batch writes
};

}  // namespace adit::vulkan
