// Programs made ready: SPIR-V from disk or from the generator, and the driver's pipeline.
#pragma once

#include <memory>
#include <string>

#include <adit/device.hpp>

#include "device/kernel_cache.hpp"
#include "device/vulkan/pipelines.hpp"
#include "spirv/emit.hpp"

namespace adit::vulkan {

// Shares the pipelines, so that it may outlive its device.
class VulkanKernel : public Kernel {
 public:
  VulkanKernel(const kernel::Program& program, const Device& maker, std::shared_ptr<Pipelines> pipelines,
               std::span<const uint32_t> words, bool full_subgroups);
  const std::shared_ptr<const Pipeline>& pipeline() const { return pipeline_; }
  const kernel::Team& team() const { return team_; }

 private:
  std::shared_ptr<Pipelines> pipelines_;
  std::shared_ptr<const Pipeline> pipeline_;
  kernel::Team team_;
};

class Kernels {
 public:
  Kernels(const Device& device, std::shared_ptr<Pipelines> pipelines, const spirv::Target& target);
  // An equal program gives the same kernel. Any thread may call; different programs compile side by side.
  std::shared_ptr<const Kernel> get(const kernel::Program& program);

  const KernelCache& cache() const { return cache_; }
  uint64_t compiled() const { return compiled_.load(std::memory_order_relaxed); }
  uint64_t loaded() const { return loaded_.load(std::memory_order_relaxed); }

 private:
  std::vector<uint32_t> words_for(const kernel::Program& program, const std::string& key);

  const Device& device_;
  std::shared_ptr<Pipelines> pipelines_;
  spirv::Target target_;
  std::string target_hash_;
  KernelCache cache_;
  std::atomic<uint64_t> compiled_{0}, loaded_{0};
};

}  // namespace adit::vulkan
