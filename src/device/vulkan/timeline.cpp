#include "device/vulkan/timeline.hpp"

#include <algorithm>
#include <thread>

#include "support/machine.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

Patience Patience::of_this_host() {
  if (machine::processors() > 2) return {100us, 200us};
  return {3us, 3us};
}

Timeline::Timeline(std::shared_ptr<Core> core) : core_(std::move(core)), patience_(Patience::of_this_host()) {
  most_spinning_ = std::max(1, static_cast<int>(machine::processors() / 2));
  VkSemaphoreTypeCreateInfo type{};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  check(core_->calls.create_semaphore(core_->handle(), &info, nullptr, &semaphore_), "vkCreateSemaphore");
}

Timeline::~Timeline() {
  if (const process_end::Visit visit; visit)
    core_->calls.destroy_semaphore(core_->handle(), semaphore_, nullptr);
}

bool Timeline::reached(Ticket wanted) {
  if (completed() >= wanted) return true;
  Ticket value = 0;
  check(core_->calls.get_semaphore_counter_value(core_->handle(), semaphore_, &value),
        "vkGetSemaphoreCounterValue");
  Ticket known = completed();
  while (known < value && !completed_.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
  return value >= wanted;
}

void Timeline::submitted(Ticket last) {
  const uint64_t batch = batches_.load(std::memory_order_relaxed);
  ends_[batch % ends_.size()].store(last, std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  batches_.store(batch + 1, std::memory_order_release);
  if (sleepers_ > 0) news_.notify_all();
}

void Timeline::wake() {
  std::lock_guard lock(mutex_);
  news_.notify_all();
}

Ticket Timeline::end_of_batch(Ticket wanted) const {
  const uint64_t batches = batches_.load(std::memory_order_acquire);
  Ticket end = 0;
  for (uint64_t back = 1; back <= std::min<uint64_t>(batches, ends_.size()); ++back) {
    const Ticket earlier = ends_[(batches - back) % ends_.size()].load(std::memory_order_relaxed);
    if (earlier < wanted) break;
    end = earlier;
  }
  return end;
}

bool Timeline::spin(Ticket wanted, const std::atomic<bool>& stop) {
  const process_end::Visit visit;
  visit.expect();
  const bool allowed = spinning_.fetch_add(1, std::memory_order_relaxed) < most_spinning_;
  const Clock::time_point until = Clock::now() + patience_.waiter;
  bool done = false;
  while (allowed && !(done = reached(wanted)) && !stop.load(std::memory_order_relaxed) &&
         Clock::now() < until)
    relax();
  spinning_.fetch_sub(1, std::memory_order_relaxed);
  return done;
}

bool Timeline::wait(Ticket wanted, const std::atomic<bool>& stop) {
  if (completed() >= wanted || spin(wanted, stop)) return true;
  Ticket end = end_of_batch(wanted);
  if (end == 0) {
    std::unique_lock lock(mutex_);
    ++sleepers_;
    news_.wait(lock, [&] { return stop.load() || (end = end_of_batch(wanted)) != 0; });
    --sleepers_;
  }
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &end;
  constexpr uint64_t slice = 50'000'000;  // then look at `stop` again
  for (;;) {
    const process_end::Visit visit;
    visit.expect();
    if (reached(wanted)) return true;
    if (stop.load(std::memory_order_acquire)) return false;
    const VkResult result = core_->calls.wait_semaphores(core_->handle(), &info, slice);
    if (result != VK_TIMEOUT) check(result, "vkWaitSemaphores");
  }
}

}  // namespace adit::vulkan
