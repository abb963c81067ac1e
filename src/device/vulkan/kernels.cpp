#include "device/vulkan/kernels.hpp"

#include <cstring>
#include <fmt/format.h>

#include "support/cache.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"

namespace adit::vulkan {
namespace {

constexpr uint32_t spirv_magic = 0x07230203;

}  // namespace

VulkanKernel::VulkanKernel(const kernel::Program& program, std::shared_ptr<Pipelines> pipelines,
                           std::span<const uint32_t> words, bool full_subgroups)
    : Kernel(program),
      pipelines_(std::move(pipelines)),
      pipeline_(pipelines_->make(program.name, words, full_subgroups)),
      team_(program.team) {
  pipeline_->arguments_inline = spirv::arguments_inline(program);
}

VulkanKernel::~VulkanKernel() { pipelines_->destroy(*pipeline_); }

Kernels::Kernels(std::shared_ptr<Pipelines> pipelines, const spirv::Target& target)
    : pipelines_(std::move(pipelines)), target_(target), target_hash_(hex_hash(spirv::target_key(target))) {}

std::vector<uint32_t> Kernels::words_for(const kernel::Program& program, const std::string& key) {
  if (const std::optional<std::vector<std::byte>> data = cache::load("kernels", key)) {
    std::vector<uint32_t> words(data->size() / sizeof(uint32_t));
    std::memcpy(words.data(), data->data(), words.size() * sizeof(uint32_t));
    if (words.size() > 5 && words[0] == spirv_magic && data->size() % sizeof(uint32_t) == 0) {
      loaded_.fetch_add(1, std::memory_order_relaxed);
      return words;
    }
    log_debug("vulkan: the cached kernel {} is not SPIR-V; it is made anew", key);
  }
  std::vector<uint32_t> words = spirv::emit(program, target_);
  compiled_.fetch_add(1, std::memory_order_relaxed);
  cache::save("kernels", key, std::as_bytes(std::span(words)));
  return words;
}

std::shared_ptr<const VulkanKernel> Kernels::get(const kernel::Program& program) {
  const std::string key = kernel::content_hash(program) + "-" + target_hash_;
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard lock(mutex_);
    std::shared_ptr<Entry>& slot = entries_[key];
    if (!slot) slot = std::make_shared<Entry>();
    entry = slot;
  }
  std::lock_guard lock(entry->mutex);  // of two threads with one program, the second waits for the first
  if (!entry->kernel)
    entry->kernel = std::make_shared<VulkanKernel>(program, pipelines_, words_for(program, key),
                                                   spirv::fills_subgroups(program, target_));
  return entry->kernel;
}

}  // namespace adit::vulkan
