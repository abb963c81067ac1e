#include "device/vulkan/recorder.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "support/log.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {
namespace {

constexpr uint64_t ring_bytes = uint64_t{8} << 20;
constexpr uint32_t commands_a_batch = 128;
constexpr uint32_t commands_when_idle = 32;  // an idle device gets its first work sooner
constexpr size_t most_flying = 64;
constexpr double seconds_ahead = 0.5;  // that are in flight, more or less, within these bounds:
constexpr Ticket least_ahead = 32, most_ahead = most_flying * commands_a_batch;

constexpr VkPipelineStageFlags compute_stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags work_stages = compute_stage | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags compute_access = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_SHADER_READ_BIT;
constexpr VkAccessFlags work_writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags work_access = compute_access | work_writes | VK_ACCESS_TRANSFER_READ_BIT;

// One writer: no read-modify-write needed.
void count(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

Pipeline::~Pipeline() {
  if (const process_end::Visit visit; visit && handle != VK_NULL_HANDLE)
    core->calls.destroy_pipeline(core->handle(), handle, nullptr);
}

Recorder::Recorder(std::shared_ptr<Core> core, Timeline& timeline, const std::atomic<bool>& stop)
    : core_(std::move(core)),
      calls_(core_->calls),
      timeline_(timeline),
      stop_(stop),
      times_(KernelTimes::if_wanted(core_)),
      ring_(core_, ring_bytes, RegionUse::commands) {
  begin();
}

Recorder::~Recorder() {
  const process_end::Visit visit;
  if (!visit) return;
  calls_.device_wait_idle(core_->handle());
  auto destroy = [&](const Batch& batch) {
    if (times_) times_->destroy(batch.stamps);
    calls_.destroy_command_pool(core_->handle(), batch.pool, nullptr);
  };
  for (const auto& batch : flying_) destroy(*batch);
  for (const auto& batch : free_) destroy(*batch);
  if (current_) destroy(*current_);
}

std::unique_ptr<Recorder::Batch> Recorder::make_batch() const {
  auto batch = std::make_unique<Batch>();
  if (times_) batch->stamps = times_->make();
  VkCommandPoolCreateInfo pool{};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  pool.queueFamilyIndex = core_->physical().queue_family;
  check(calls_.create_command_pool(core_->handle(), &pool, nullptr, &batch->pool), "vkCreateCommandPool");
  VkCommandBufferAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = batch->pool;
  info.commandBufferCount = 1;
  const VkResult result = calls_.allocate_command_buffers(core_->handle(), &info, &batch->commands);
  if (result != VK_SUCCESS) calls_.destroy_command_pool(core_->handle(), batch->pool, nullptr);
  check(result, "vkAllocateCommandBuffers");
  batch->kernels.reserve(commands_a_batch);
  return batch;
}

// A batch to write into; nothing when too many are in flight.
std::unique_ptr<Recorder::Batch> Recorder::free_batch() {
  if (free_.empty()) retire();
  if (free_.empty()) return flying_.size() < most_flying ? make_batch() : nullptr;
  std::unique_ptr<Batch> batch = std::move(free_.back());
  free_.pop_back();
  return batch;
}

void Recorder::begin() {
  if (current_ || !(current_ = free_batch())) return;
  check(calls_.reset_command_pool(core_->handle(), current_->pool, 0), "vkResetCommandPool");
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(calls_.begin_command_buffer(current_->commands, &info), "vkBeginCommandBuffer");
  current_->kernels.clear();
  current_->last = 0;
  if (times_) times_->begin(current_->commands, current_->stamps);
  full_barrier();
  host_reads_ = core_->unified();
  // Likely the next one too.
  current_->bound_first = bound_;
  if (bound_) calls_.cmd_bind_pipeline(current_->commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound_->handle);
}

void Recorder::open() {
  for (begin(); !current_; begin()) wait_oldest();
}

void Recorder::barrier(VkPipelineStageFlags from, VkAccessFlags written, VkPipelineStageFlags to,
                       VkAccessFlags access) {
  VkMemoryBarrier all{};
  all.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  all.srcAccessMask = written;
  all.dstAccessMask = access;
  calls_.cmd_pipeline_barrier(current_->commands, from, to, 0, 1, &all, 0, nullptr, 0, nullptr);
}

void Recorder::full_barrier() {
  barrier(work_stages, work_writes, work_stages, work_access);
  transfers_pending_ = transfers_unready_ = false;
}

void Recorder::before(Work work, std::span<const Touch> touches) {
  const bool conflict = hazards_.enter(touches);
  const bool transfer = work == Work::transfer;
  if (conflict || (transfer && transfers_unready_)) {
    if (transfer || transfers_pending_) {
      full_barrier();
    } else {
      barrier(compute_stage, VK_ACCESS_SHADER_WRITE_BIT, compute_stage, compute_access);
      transfers_unready_ = true;
    }
    count(counters.barriers);
  }
  transfers_pending_ |= transfer;
}

void Recorder::finish_command(const std::string& name) {
  if (times_) times_->after(current_->commands, current_->stamps, name);
  ++recorded_;
  ++in_batch_;
  if (in_batch_ >= std::min<Ticket>(commands_a_batch, allowed_ / 2) ||
      (in_batch_ == commands_when_idle && timeline_.reached(submitted_)))
    submit();
}

void Recorder::run(const PipelineHandle& pipeline, uint32_t groups_x, uint32_t groups_y,
                   std::span<const std::byte> block, std::span<const Touch> touches) {
  // The block itself, or where it lies in the ring.
  VkDeviceAddress address = 0;
  const bool is_inline = pipeline->arguments_inline;
  if (!is_inline) address = ring_->address + place(block);
  const void* pushed = is_inline ? static_cast<const void*>(block.data()) : &address;
  const auto pushed_bytes = static_cast<uint32_t>(is_inline ? block.size() : sizeof address);
  open();
  before(Work::compute, touches);
  if (bound_ != pipeline) {
    calls_.cmd_bind_pipeline(current_->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->handle);
    bound_ = pipeline;
  }
  calls_.cmd_push_constants(current_->commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                            pushed_bytes, pushed);
  calls_.cmd_dispatch(current_->commands, groups_x, groups_y, 1);
  current_->kernels.push_back(pipeline);
  count(counters.kernels_run);
  finish_command(pipeline->name);
}

void Recorder::copy(const CopyRegion& region, std::span<const Touch> touches) {
  open();
  before(Work::transfer, touches);
  host_reads_ |= region.for_host;
  const VkBufferCopy where{region.from_offset, region.to_offset, region.bytes};
  calls_.cmd_copy_buffer(current_->commands, region.from, region.to, 1, &where);
  finish_command("copy");
}

void Recorder::fill(const FillRegion& region, std::span<const Touch> touches) {
  open();
  before(Work::transfer, touches);
  calls_.cmd_fill_buffer(current_->commands, region.buffer, region.offset, region.bytes, region.pattern);
  finish_command("fill");
}

void Recorder::write(VkBuffer to, uint64_t offset, std::span<const std::byte> data,
                     std::span<const Touch> touches) {
  const uint64_t from = place(data);
  copy({ring_->buffer, to, from, offset, data.size()}, touches);
}

// Copies into the ring. When it is full, what is recorded starts and the oldest batch makes room.
uint64_t Recorder::place(std::span<const std::byte> data) {
  constexpr uint64_t alignment = 64;
  const uint64_t need = (data.size() + alignment - 1) / alignment * alignment;
  if (need > ring_bytes / 4)
    throw Error(ErrorKind::bad_argument, fmt::format("[run] arguments: expected at most {} bytes, got {}",
                                                     ring_bytes / 4, data.size()));
  uint64_t start = ring_head_;
  if (start % ring_bytes + need > ring_bytes) start += ring_bytes - start % ring_bytes;
  while (start + need - ring_tail_ > ring_bytes) {
    if (retire()) continue;
    if (flying_.empty()) submit();
    wait_oldest();
  }
  ring_head_ = start + need;
  std::memcpy(ring_->host + start % ring_bytes, data.data(), data.size());
  return start % ring_bytes;
}

void Recorder::submit() {
  if (recorded_ == submitted_) return;
  if (host_reads_) barrier(work_stages, work_writes, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  check(calls_.end_command_buffer(current_->commands), "vkEndCommandBuffer");
  const VkSemaphore semaphore = timeline_.semaphore();
  VkTimelineSemaphoreSubmitInfo timeline{};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &recorded_;
  VkSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &current_->commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &semaphore;
  if (fail_next_submit.exchange(false, std::memory_order_relaxed))
    check(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
  check(calls_.queue_submit(core_->queue(), 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
  count(counters.batches);
  current_->last = submitted_ = recorded_;
  timeline_.submitted(submitted_);
  current_->ring_end = ring_head_;
  current_->since = Clock::now();
  flying_.push_back(std::move(current_));
  in_batch_ = 0;
  hazards_.clear();
  keep_pace();
  begin();
}

// Who queues faster than the device works would otherwise queue minutes, which nobody can take back.
void Recorder::keep_pace() {
  retire();
  while (submitted_ - timeline_.completed() > allowed_ && flying_.size() > 1 && !stop_) wait_oldest();
}

void Recorder::print_times() noexcept {
  if (!times_) return;
  try {
    retire();
    times_->print();
  } catch (const std::exception& problem) {
    log_debug("vulkan: {}", problem.what());  // the device was lost at its end
  }
}

// Commands up to `last` were seen to end, of which the first could start at `since`: the time since then is
// what they took, unless those before were seen late, which makes these look fast. So the bound rises step by
// step, and falls at once.
void Recorder::note_end(Clock::time_point since, Ticket last) {
  const Clock::time_point now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - std::max(since, last_end_)).count();
  const auto commands = static_cast<double>(last - last_ended_);
  last_end_ = now;
  last_ended_ = last;
  const double ahead = seconds_ahead * commands / std::max(seconds, 1e-6);
  const Ticket most = std::min(most_ahead, 2 * allowed_);
  allowed_ = ahead < static_cast<double>(most) ? std::max(least_ahead, static_cast<Ticket>(ahead)) : most;
}

bool Recorder::retire() {
  const Clock::time_point since = flying_.empty() ? Clock::time_point() : flying_.front()->since;
  Ticket last = 0;
  while (!flying_.empty() && timeline_.reached(flying_.front()->last)) {
    last = flying_.front()->last;
    ring_tail_ = flying_.front()->ring_end;
    if (times_) times_->collect(flying_.front()->stamps);
    flying_.front()->kernels.clear();
    flying_.front()->bound_first.reset();
    free_.push_back(std::move(flying_.front()));
    flying_.pop_front();
  }
  if (last != 0) note_end(since, last);
  return last != 0;
}

void Recorder::wait_oldest() {
  if (!flying_.empty() && !timeline_.wait(flying_.front()->last, stop_))
    check(VK_ERROR_DEVICE_LOST, "vkQueueSubmit");
  retire();
}

std::string Recorder::kernels_in_flight() const {
  std::vector<std::string> names;
  auto add = [&](const Batch& batch) {
    if (batch.last != 0 && batch.last <= timeline_.completed()) return;
    for (const PipelineHandle& kernel : batch.kernels)
      if (std::find(names.begin(), names.end(), kernel->name) == names.end()) names.push_back(kernel->name);
  };
  for (const auto& batch : flying_) add(*batch);
  if (current_) add(*current_);
  if (names.size() > 8) names.resize(8), names.push_back("...");
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace adit::vulkan
