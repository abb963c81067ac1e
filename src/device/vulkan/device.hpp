// The Vulkan device behind adit::Device.
#pragma once

#include <functional>
#include <memory>

#include <adit/device.hpp>

#include "device/memory.hpp"
#include "device/vulkan/dispatcher.hpp"
#include "device/vulkan/kernels.hpp"
#include "device/vulkan/staging.hpp"

namespace adit::vulkan {

// Shares the pool, so that a buffer may outlive its device.
class VulkanMemory : public Memory {
 public:
  VulkanMemory(const Device* device, std::shared_ptr<Pool> pool, Pool::Chunk* chunk)
      : Memory(device, chunk->address, chunk->bytes), pool_(std::move(pool)), chunk_(chunk) {}
  ~VulkanMemory() override { pool_->release(chunk_); }
  Pool::Chunk& chunk() const { return *chunk_; }

 private:
  std::shared_ptr<Pool> pool_;
  Pool::Chunk* chunk_;
};

class VulkanDevice : public Device {
 public:
  VulkanDevice(const Physical& physical, const std::function<void(Limits&)>& adjust);
  ~VulkanDevice() override;
  Statistics statistics() const override;
  bool lost() const override { return dispatcher_.lost(); }
  void fail_next_submit() { dispatcher_.fail_next_submit(); }
  void settle() noexcept { dispatcher_.settle_and_sleep(); }
  void rest() { dispatcher_.finish(); }  // for good, before the process ends

 protected:
  std::shared_ptr<Memory> do_allocate(uint64_t bytes) override;
  std::shared_ptr<const Kernel> do_compile(const kernel::Program& program) override;
  void do_run(const Kernel& kernel, uint64_t teams, std::span<const std::byte> block,
              std::span<const Argument> arguments) override;
  void do_write(const Buffer& buffer, const void* data, uint64_t bytes, uint64_t offset) override;
  void do_read(const Buffer& buffer, void* data, uint64_t bytes, uint64_t offset) override;
  void do_copy(const Buffer& from, const Buffer& to, uint64_t bytes) override;
  void do_fill(const Buffer& buffer, uint32_t pattern) override;
  void do_flush() override;
  void do_wait() override;
  void do_trim() override;

 private:
  void probe_arithmetic();
  void save_pipelines() noexcept;
  void note_result();
  void write_staged(const Buffer& buffer, const std::byte* data, uint64_t bytes, uint64_t offset);
  void read_staged(const Buffer& buffer, std::byte* data, uint64_t bytes, uint64_t offset);

  std::shared_ptr<Core> core_;
  std::shared_ptr<Pool> pool_;
  std::shared_ptr<Pipelines> pipelines_;
  std::unique_ptr<Kernels> kernels_;
  std::unique_ptr<Kernels> probes_;
  Staging uploads_, small_downloads_, downloads_;
  std::atomic<bool> kernels_are_new_{true};  // since the last result
  Dispatcher dispatcher_;  // last, so that it goes first: the others hold what its work may use
};

}  // namespace adit::vulkan
