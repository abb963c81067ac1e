#include "device/vulkan/kernels.hpp"

#include <cstring>
#include <fmt/format.h>

#include "support/cache.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"

namespace adit::vulkan {
namespace {

constexpr uint32_t spirv_magic = 0x07230203;
// What a driver keeps of a pipeline nobody tells: this is what Mesa's software driver was seen to take.
constexpr uint64_t own_bytes = uint64_t{128} << 10, bytes_a_word = 64;

}  // namespace

VulkanKernel::VulkanKernel(const kernel::Program& program, const Device& maker,
                           std::shared_ptr<Pipelines> pipelines, std::span<const uint32_t> words,
                           bool full_subgroups)
    : Kernel(program, maker), pipelines_(std::move(pipelines)), team_(program.team) {
  const std::shared_ptr<Pipeline> pipeline = pipelines_->make(program.name, words, full_subgroups);
  pipeline->arguments_inline = spirv::arguments_inline(program);
  pipeline_ = pipeline;
  bytes_ = own_bytes + bytes_a_word * words.size();
}

Kernels::Kernels(const Device& device, std::shared_ptr<Pipelines> pipelines, const spirv::Target& target)
    : device_(device),
      pipelines_(std::move(pipelines)),
      target_(target),
      target_hash_(hex_hash(spirv::target_key(target))) {}

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

std::shared_ptr<const Kernel> Kernels::get(const kernel::Program& program) {
  const std::string key = kernel::content_hash(program) + "-" + target_hash_;
  return cache_.get(key, [&] {
    return std::make_shared<VulkanKernel>(program, device_, pipelines_, words_for(program, key),
                                          spirv::fills_subgroups(program, target_));
  });
}

}  // namespace adit::vulkan
