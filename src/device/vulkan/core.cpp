#include "device/vulkan/core.hpp"

#include "device/vulkan/cooperative.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {

Core::Core(Physical physical) : physical_(std::move(physical)) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = physical_.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics{};
  atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  atomics.shaderBufferFloat32AtomicAdd = VK_TRUE;
  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT sizes{};
  sizes.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT;
  sizes.subgroupSizeControl = sizes.computeFullSubgroups = VK_TRUE;
  VkPhysicalDeviceVulkan12Features v12 = physical_.features12;
  VkPhysicalDeviceVulkan11Features v11 = physical_.features11;
  v11.pNext = &v12;
  void* first = nullptr;
  const auto put_first = [&](auto& part) {
    part.pNext = first;
    first = &part;
  };
  if (physical_.atomic_float) put_first(atomics);
  if (physical_.sizes_subgroups) put_first(sizes);
  MatrixChain matrices(physical_, first);
  v12.pNext = matrices.first();
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &v11;
  features.features = physical_.features;

  std::vector<const char*> extensions = matrices.extensions();
  if (physical_.atomic_float) extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  if (physical_.sizes_subgroups) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const Instance& here = instance();
  check(here.calls.create_device(physical_.handle, &info, nullptr, &handle_), "vkCreateDevice");
  calls = load_device_calls(here.calls, handle_);
  calls.get_device_queue(handle_, physical_.queue_family, 0, &queue_);
}

Core::~Core() {
  if (const process_end::Visit visit; visit) calls.destroy_device(handle_, nullptr);
}

}  // namespace adit::vulkan
