#include <algorithm>

#include "device/vulkan/core.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {
namespace {

constexpr VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags coherent =
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags cached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

struct Wish {
  VkMemoryPropertyFlags with, without;
};

// Best first.
std::vector<Wish> wishes(const Core& core, RegionUse use) {
  switch (use) {
    case RegionUse::storage:
      if (core.unified()) return {{local | coherent | cached, 0}};
      return {{local, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT}, {local, 0}};
    case RegionUse::commands: return {{local | coherent, 0}, {coherent, 0}};
    case RegionUse::upload: return {{coherent, local | cached}, {coherent, local}, {coherent, 0}};
    case RegionUse::download: return {{coherent | cached, local}, {coherent | cached, 0}, {coherent, 0}};
  }
  return {};
}

// Memory types in the order to try. Types with other properties need features that we do not ask for.
std::vector<uint32_t> types_for(const Core& core, RegionUse use, uint32_t allowed) {
  const VkPhysicalDeviceMemoryProperties& memory = core.physical().memory;
  std::vector<uint32_t> types;
  for (const Wish& wish : wishes(core, use))
    for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
      const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
      if (!(allowed >> i & 1) || (flags & ~(local | coherent | cached))) continue;
      if ((flags & wish.with) != wish.with || (flags & wish.without)) continue;
      if (std::find(types.begin(), types.end(), i) == types.end()) types.push_back(i);
    }
  return types;
}

VkDeviceMemory allocate(const Core& core, uint64_t bytes, uint32_t type) {
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = bytes;
  info.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  const VkResult result = core.calls.allocate_memory(core.handle(), &info, nullptr, &memory);
  return result == VK_SUCCESS ? memory : VK_NULL_HANDLE;
}

// Memory of the first type that has room, bound and, where the host can see it, mapped.
bool back_with_memory(const Core& core, Region& region, RegionUse use) {
  VkMemoryRequirements needs{};
  core.calls.get_buffer_memory_requirements(core.handle(), region.buffer, &needs);
  const VkPhysicalDeviceMemoryProperties& memory = core.physical().memory;
  for (uint32_t type : types_for(core, use, needs.memoryTypeBits)) {
    if (needs.size > memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size) continue;
    region.memory = allocate(core, needs.size, type);
    if (region.memory == VK_NULL_HANDLE) continue;
    if (core.calls.bind_buffer_memory(core.handle(), region.buffer, region.memory, 0) != VK_SUCCESS)
      return false;
    const bool visible = memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    if (!visible || (use == RegionUse::storage && !core.unified())) return true;
    void* host = nullptr;
    if (core.calls.map_memory(core.handle(), region.memory, 0, VK_WHOLE_SIZE, 0, &host) != VK_SUCCESS)
      return false;
    region.host = static_cast<std::byte*>(host);
    return true;
  }
  return false;
}

}  // namespace

std::optional<Region> create_region(const Core& core, uint64_t bytes, RegionUse use) {
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  Region region;
  region.bytes = bytes;
  if (core.calls.create_buffer(core.handle(), &info, nullptr, &region.buffer) != VK_SUCCESS)
    return std::nullopt;
  if (!back_with_memory(core, region, use)) {
    destroy_region(core, region);
    return std::nullopt;
  }
  VkBufferDeviceAddressInfo address{};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = region.buffer;
  region.address = core.calls.get_buffer_device_address(core.handle(), &address);
  return region;
}

void destroy_region(const Core& core, const Region& region) {
  const process_end::Visit visit;
  if (!visit) return;
  core.calls.destroy_buffer(core.handle(), region.buffer, nullptr);
  core.calls.free_memory(core.handle(), region.memory, nullptr);  // unmaps too
}

OwnRegion::OwnRegion(std::shared_ptr<Core> core, uint64_t bytes, RegionUse use) : core_(std::move(core)) {
  const std::optional<Region> made = create_region(*core_, bytes, use);
  if (!made)
    throw Error(ErrorKind::out_of_memory,
                "[open] memory: expected room for " + std::to_string(bytes) + " bytes of staging, got none");
  region_ = *made;
}

OwnRegion::~OwnRegion() { destroy_region(*core_, region_); }

std::optional<adit::Block> RegionSource::obtain(uint64_t bytes) {
  if (held_.load() + bytes > core_->physical().info.memory_bytes) return std::nullopt;
  const std::optional<Region> region = create_region(*core_, bytes, RegionUse::storage);
  if (!region) return std::nullopt;
  held_ += bytes;
  return adit::Block{region->address, bytes, region->host, new Region(*region)};
}

void RegionSource::release(const adit::Block& block) {
  auto* region = static_cast<Region*>(block.handle);
  held_ -= block.bytes;
  destroy_region(*core_, *region);
  delete region;
}

void RegionSource::settle() {
  if (on_settle) on_settle();
}

bool RegionSource::is_done(uint64_t stamp) { return !on_is_done || on_is_done(stamp); }

void RegionSource::close() {
  on_settle = nullptr;
  on_is_done = nullptr;
}

}  // namespace adit::vulkan
