#include "device/vulkan/pipelines.hpp"

#include <cstring>
#include <fmt/format.h>

#include "support/cache.hpp"
#include "support/log.hpp"
#include "support/process_end.hpp"
#include "support/stopwatch.hpp"

namespace adit::vulkan {

bool fits_driver(std::span<const std::byte> data, const VkPhysicalDeviceProperties& properties) {
  VkPipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize == sizeof header && header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
         header.vendorID == properties.vendorID && header.deviceID == properties.deviceID &&
         std::memcmp(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

namespace {

constexpr uint64_t most_saved = uint64_t{256} << 20;  // bytes, on disk

// What is on disk for this driver; empty when there is nothing usable.
std::vector<std::byte> load_fitting(const std::string& key, const VkPhysicalDeviceProperties& properties) {
  std::optional<std::vector<std::byte>> data = cache::load("pipelines", key);
  if (!data) return {};
  if (fits_driver(*data, properties)) return std::move(*data);
  log_debug("vulkan: the pipeline cache {} is of another driver; it is made anew", key);
  return {};
}

}  // namespace

Pipelines::Pipelines(std::shared_ptr<Core> core)
    : core_(std::move(core)), key_(core_->physical().driver_key()) {
  cache_ = open_cache(load_fitting(key_, core_->physical().properties));
  const VkPushConstantRange address{VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};  // what every driver has
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &address;
  const VkResult result = core_->calls.create_pipeline_layout(core_->handle(), &info, nullptr, &layout_);
  check(result, "vkCreatePipelineLayout");
}

Pipelines::~Pipelines() {
  const process_end::Visit visit;
  if (!visit) return;
  core_->calls.destroy_pipeline_layout(core_->handle(), layout_, nullptr);
}

Pipelines::Cache::~Cache() {
  if (const process_end::Visit visit; visit && handle != VK_NULL_HANDLE)
    core->calls.destroy_pipeline_cache(core->handle(), handle, nullptr);
}

std::shared_ptr<Pipelines::Cache> Pipelines::open_cache(std::span<const std::byte> data) const {
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = data.size();
  info.pInitialData = data.empty() ? nullptr : data.data();
  auto cache = std::make_shared<Cache>(core_);
  const VkResult result = core_->calls.create_pipeline_cache(core_->handle(), &info, nullptr, &cache->handle);
  if (result != VK_SUCCESS && !data.empty()) return open_cache({});
  check(result, "vkCreatePipelineCache");
  return cache;
}

std::shared_ptr<Pipelines::Cache> Pipelines::current() const {
  const std::lock_guard lock(mutex_);
  return cache_;
}

// A driver's cache keeps all that was ever made with it: endless new kernels get another one.
void Pipelines::begin_anew(uint64_t words) {
  constexpr uint64_t most_cached_words = uint64_t{16} << 20;
  {
    const std::lock_guard lock(mutex_);
    words_ += words;
    if (words_ < most_cached_words) return;
    words_ = 0;
  }
  save();
  auto fresh = open_cache({});
  const std::lock_guard lock(mutex_);
  cache_.swap(fresh);
}

std::shared_ptr<Pipeline> Pipelines::make(const std::string& name, std::span<const uint32_t> words,
                                          bool full_subgroups) {
  const DeviceCalls& calls = core_->calls;
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = words.size_bytes();
  code.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(calls.create_shader_module(core_->handle(), &code, nullptr, &module), "vkCreateShaderModule");
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT size{};
  size.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT;
  size.requiredSubgroupSize = core_->physical().required_subgroup;
  if (full_subgroups) {
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
    if (size.requiredSubgroupSize > 0) info.stage.pNext = &size;
  }
  info.layout = layout_;
  auto pipeline = std::make_shared<Pipeline>(core_, layout_, name);
  VkResult result = VK_SUCCESS;
  const std::shared_ptr<Cache> known = current();
  const double seconds = seconds_of([&] {
    result =
        calls.create_compute_pipelines(core_->handle(), known->handle, 1, &info, nullptr, &pipeline->handle);
  });
  log_debug("vulkan: the driver took {:.0f} ms for {}, {} words", seconds * 1e3, name, words.size());
  calls.destroy_shader_module(core_->handle(), module, nullptr);
  if (result == VK_ERROR_DEVICE_LOST || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
      result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
    check(result, "vkCreateComputePipelines");
  if (result != VK_SUCCESS)
    throw Error(ErrorKind::unsupported,
                fmt::format("[compile] kernel {}: the driver refused it ({})", name, result_name(result)));
  changed_ = true;
  begin_anew(words.size());
  process_end::renew();
  return pipeline;
}

std::vector<std::byte> Pipelines::data_of(VkPipelineCache cache) const {
  size_t bytes = 0;
  std::vector<std::byte> data;
  VkResult result = VK_INCOMPLETE;
  // The cache may grow between the two calls.
  for (int attempt = 0; attempt < 4 && result == VK_INCOMPLETE; ++attempt) {
    result = core_->calls.get_pipeline_cache_data(core_->handle(), cache, &bytes, nullptr);
    if (result != VK_SUCCESS) break;
    data.resize(bytes);
    result = core_->calls.get_pipeline_cache_data(core_->handle(), cache, &bytes, data.data());
    data.resize(bytes);
  }
  if (result != VK_SUCCESS) data.clear();
  return data;
}

void Pipelines::save() {
  std::lock_guard lock(saving_);
  if (!changed_.exchange(false)) return;
  // Another process may have written meanwhile: its pipelines and ours together. Merging goes into a cache
  // that no other thread uses, since the target must be ours alone.
  const auto merged = open_cache(load_fitting(key_, core_->physical().properties));
  const auto own = current();
  if (core_->calls.merge_pipeline_caches(core_->handle(), merged->handle, 1, &own->handle) != VK_SUCCESS)
    return;
  std::vector<std::byte> data = data_of(merged->handle);
  if (data.size() > most_saved) data = data_of(own->handle);  // what others made long ago goes
  if (data.size() <= most_saved && fits_driver(data, core_->physical().properties))
    cache::save("pipelines", key_, data);
}

}  // namespace adit::vulkan
