// An opened VkDevice and what lives exactly as long: its functions, its queue, its memory types.
// Buffers and kernels share it, so that they may outlive the Device that made them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/pool.hpp"
#include "device/vulkan/instance.hpp"

namespace adit::vulkan {

class Core {
 public:
  explicit Core(Physical physical);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const Physical& physical() const { return physical_; }
  VkDevice handle() const { return handle_; }
  VkQueue queue() const { return queue_; }  // only the dispatcher's thread uses it
  bool unified() const { return physical_.limits.unified_memory; }

  DeviceCalls calls{};

 private:
  Physical physical_;
  VkDevice handle_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
};

// A VkBuffer over memory of its own.
struct Region {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  uint64_t bytes = 0;
  std::byte* host = nullptr;  // mapped for good where the type can be
};

// What a region is for decides its memory type.
enum class RegionUse {
  storage,   // buffers of the caller
  commands,  // written by the host bit by bit, read once by the device
  upload,    // written by the host in bulk
  download   // read by the host
};

// Nothing when memory is short.
std::optional<Region> create_region(const Core& core, uint64_t bytes, RegionUse use);
void destroy_region(const Core& core, const Region& region);

// A region that is given back with its owner.
class OwnRegion {
 public:
  OwnRegion(std::shared_ptr<Core> core, uint64_t bytes, RegionUse use);
  ~OwnRegion();
  OwnRegion(const OwnRegion&) = delete;
  OwnRegion& operator=(const OwnRegion&) = delete;
  const Region* operator->() const { return &region_; }

 private:
  std::shared_ptr<Core> core_;
  Region region_;
};

// Blocks of the memory pool. Never asks for more than the heap has: a software device would take the host's.
class RegionSource : public BlockSource {
 public:
  explicit RegionSource(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  std::optional<Block> obtain(uint64_t bytes) override;
  void release(const Block& block) override;
  void settle() override;
  bool is_done(uint64_t stamp) override;
  void close() override;
  // What settle() and is_done() do while the device is open.
  std::function<void()> on_settle;
  std::function<bool(uint64_t)> on_is_done;

 private:
  std::shared_ptr<Core> core_;
  std::atomic<uint64_t> held_{0};
};

inline VkBuffer buffer_of(const Pool::Chunk& chunk) {
  return static_cast<Region*>(chunk.block().handle)->buffer;
}

}  // namespace adit::vulkan
