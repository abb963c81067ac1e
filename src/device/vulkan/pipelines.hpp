// The driver's pipeline cache, kept on disk for the next process.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "device/vulkan/core.hpp"
#include "device/vulkan/recorder.hpp"

namespace adit::vulkan {

// True when a pipeline cache's header names this very device and driver. Drivers should check it too; not all
// do.
bool fits_driver(std::span<const std::byte> data, const VkPhysicalDeviceProperties& properties);

class Pipelines {
 public:
  explicit Pipelines(std::shared_ptr<Core> core);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Compute pipelines take one push constant: the address of the argument block. `full_subgroups`: as
  // spirv::fills_subgroups says. Any thread may call.
  std::shared_ptr<Pipeline> make(const std::string& name, std::span<const uint32_t> words,
                                 bool full_subgroups);
  // Writes the cache to disk if pipelines were made since it was read or written last.
  void save();

 private:
  // A driver's cache: who makes a pipeline with it keeps it.
  struct Cache {
    explicit Cache(std::shared_ptr<Core> of) : core(std::move(of)) {}
    std::shared_ptr<Core> core;
    VkPipelineCache handle = VK_NULL_HANDLE;
    ~Cache();
  };
  std::shared_ptr<Cache> open_cache(std::span<const std::byte> data) const;
  std::shared_ptr<Cache> current() const;
  std::vector<std::byte> data_of(VkPipelineCache cache) const;
  void begin_anew(uint64_t words);

  std::shared_ptr<Core> core_;
  std::string key_;
  mutable std::mutex mutex_;
  std::shared_ptr<Cache> cache_;
  uint64_t words_ = 0;  // of all pipelines that were made with it
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  std::atomic<bool> changed_{false};
  std::mutex saving_;
};

}  // namespace adit::vulkan
