#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "device/vulkan/cooperative.hpp"
#include "device/vulkan/instance.hpp"
#include "support/machine.hpp"

namespace adit::vulkan {
namespace {

// Mesa's software rasteriser silently ends an invocation's loops after this many back-edges in all.
constexpr uint64_t llvmpipe_loop_trips = 65'535;

DeviceKind kind_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return DeviceKind::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return DeviceKind::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_CPU: return DeviceKind::software;
    default: return DeviceKind::virtual_machine;
  }
}

// A family that computes but does not draw, if there is one: its queue has less to switch between.
bool pick_queue_family(Physical& device) {
  uint32_t count = 0;
  instance().calls.get_queue_family_properties(device.handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  instance().calls.get_queue_family_properties(device.handle, &count, families.data());
  bool found = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    const bool draws = families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT;
    if (!found || !draws) device.queue_family = i;
    found = true;
    if (!draws) break;
  }
  return found;
}

bool has_extension(VkPhysicalDevice device, const char* name) {
  uint32_t count = 0;
  instance().calls.enumerate_device_extension_properties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  instance().calls.enumerate_device_extension_properties(device, nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const auto& one) { return std::strcmp(one.extensionName, name) == 0; });
}

// Reads the features and keeps those that kernels may use.
void read_features(Physical& device) {
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics{};
  atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  VkPhysicalDeviceVulkan12Features v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceVulkan11Features v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  v11.pNext = &v12;
  if (has_extension(device.handle, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME)) v12.pNext = &atomics;
  VkPhysicalDeviceFeatures2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  all.pNext = &v11;
  instance().calls.get_features2(device.handle, &all);

  device.features.shaderFloat64 = all.features.shaderFloat64;
  device.features.shaderInt64 = all.features.shaderInt64;
  device.features11.sType = v11.sType;
  device.features11.storageBuffer16BitAccess = v11.storageBuffer16BitAccess;
  device.features12.sType = v12.sType;
  device.features12.storageBuffer8BitAccess = v12.storageBuffer8BitAccess;
  device.features12.shaderFloat16 = v12.shaderFloat16;
  device.features12.shaderBufferInt64Atomics = v12.shaderBufferInt64Atomics;
  device.features12.shaderSharedInt64Atomics = v12.shaderSharedInt64Atomics;
  device.features12.shaderSubgroupExtendedTypes = v12.shaderSubgroupExtendedTypes;
  device.features12.timelineSemaphore = v12.timelineSemaphore;
  device.features12.bufferDeviceAddress = v12.bufferDeviceAddress;
  device.features12.vulkanMemoryModel = v12.vulkanMemoryModel;
  device.features12.vulkanMemoryModelDeviceScope = v12.vulkanMemoryModelDeviceScope;
  device.atomic_float = v12.pNext && atomics.shaderBufferFloat32AtomicAdd;

  if (!v12.bufferDeviceAddress) device.problem = "it lacks bufferDeviceAddress";
  if (!v12.timelineSemaphore) device.problem = "it lacks timelineSemaphore";
}

// Some devices have one mode for several widths; then a mode is asked for only where all of them have it.
void keep_what_may_differ(VkShaderFloatControlsIndependence may_differ, bool& half, bool& single,
                          bool& twice) {
  if (may_differ == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL) return;
  half = twice = half && twice;
  if (may_differ == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE) half = single = twice = half && single;
}

void read_float_controls(Physical& device, const VkPhysicalDeviceVulkan12Properties& told) {
  spirv::Target& target = device.target;
  target.denorm_preserve16 = told.shaderDenormPreserveFloat16;
  target.denorm_preserve32 = told.shaderDenormPreserveFloat32;
  target.denorm_preserve64 = told.shaderDenormPreserveFloat64;
  target.signed_zero_inf_nan16 = told.shaderSignedZeroInfNanPreserveFloat16;
  target.signed_zero_inf_nan32 = told.shaderSignedZeroInfNanPreserveFloat32;
  target.signed_zero_inf_nan64 = told.shaderSignedZeroInfNanPreserveFloat64;
  target.rounding_rte16 = told.shaderRoundingModeRTEFloat16;
  keep_what_may_differ(told.denormBehaviorIndependence, target.denorm_preserve16, target.denorm_preserve32,
                       target.denorm_preserve64);
  // Only halves ask for a rounding; where the widths may not differ, nobody does.
  target.rounding_rte16 &= told.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
}

// The type that serves both sides at full speed, where host and device share their memory.
bool memory_is_unified(const Physical& device) {
  if (device.info.kind != DeviceKind::integrated && device.info.kind != DeviceKind::software) return false;
  const VkMemoryPropertyFlags both =
      VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
      VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  for (uint32_t i = 0; i < device.memory.memoryTypeCount; ++i)
    if ((device.memory.memoryTypes[i].propertyFlags & both) == both) return true;
  return false;
}

void fill_limits(Physical& device, const VkPhysicalDeviceVulkan11Properties& told) {
  Limits& limits = device.limits;
  const VkPhysicalDeviceLimits& driver = device.properties.limits;
  limits.max_loop_trips = device.driver_id == VK_DRIVER_ID_MESA_LLVMPIPE ? llvmpipe_loop_trips : 0;
#if defined(__aarch64__)
  // It generates code for the CPU's name, with vector divisions that a virtual machine may not have.
  device.target.native_integers = device.driver_id != VK_DRIVER_ID_MESA_LLVMPIPE;
#endif
  limits.max_buffer_bytes = std::min<uint64_t>(told.maxMemoryAllocationSize, device.info.memory_bytes);
  limits.max_lanes = std::min(driver.maxComputeWorkGroupInvocations, driver.maxComputeWorkGroupSize[0]);
  limits.shared_bytes = driver.maxComputeSharedMemorySize;
  limits.float16 = device.features12.shaderFloat16;
  limits.float64 = device.features.shaderFloat64;
  limits.int8 = limits.int16 = true;  // the code generator computes with them in 32 bits
  limits.int64 = device.features.shaderInt64;
  limits.storage8 = device.features12.storageBuffer8BitAccess;
  limits.storage16 = device.features11.storageBuffer16BitAccess;
  device.target.signed_widening = device.driver_id != VK_DRIVER_ID_MESA_LLVMPIPE;
  // NVIDIA's driver claims it, but keeps subnormals in sums and products only; fma, comparisons, roundings
  // and conversions take them for zero (580.159, measured on an H200).
  device.target.comparisons_flush = device.driver_id == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
  limits.keeps_denormals = device.target.denorm_preserve32 && !device.target.comparisons_flush;
  device.target.vulkan_memory_model =
      device.features12.vulkanMemoryModel && device.features12.vulkanMemoryModelDeviceScope;
  limits.int64_atomics =
      device.features12.shaderBufferInt64Atomics && device.features12.shaderSharedInt64Atomics;
  limits.float_atomics = device.atomic_float;
  limits.lanes_by_hand = true;
  limits.unified_memory = memory_is_unified(device);
  limits.subgroup_size = told.subgroupSize;
  if (told.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) {
    limits.subgroup_arithmetic = told.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    limits.subgroup_shuffle = told.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
    limits.subgroup_vote = told.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_VOTE_BIT;
    limits.subgroup_ballot = device.target.subgroup_ballot =
        told.subgroupSupportedOperations & VK_SUBGROUP_FEATURE_BALLOT_BIT;
  }
}

// What an extension tells, as part of all features or all properties.
template <class Told, class All, class Call>
Told ask(const Physical& device, Call call, VkStructureType all_type, VkStructureType type) {
  Told told{};
  told.sType = type;
  All all{};
  all.sType = all_type;
  all.pNext = &told;
  call(device.handle, &all);
  return told;
}

template <class Told>
Told properties_of(const Physical& device, VkStructureType type) {
  return ask<Told, VkPhysicalDeviceProperties2>(device, instance().calls.get_properties2,
                                                VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, type);
}

template <class Told>
Told features_of(const Physical& device, VkStructureType type) {
  return ask<Told, VkPhysicalDeviceFeatures2>(device, instance().calls.get_features2,
                                              VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, type);
}

// Bytes of memory that the teams of a multiprocessor share, which no driver tells: by the maker's documents,
// for parts that hold so many subgroups at a time; the newest of the large ones by their names.
uint32_t nvidia_shared_bytes(const std::string& name, uint32_t subgroups) {
  for (const char* part : {"H100", "H200", "GH200", "B100", "B200", "GB200"})
    if (name.find(part) != std::string::npos) return 228 * 1024;
  if (subgroups >= 64) return name.find("V100") != std::string::npos ? 96 * 1024 : 164 * 1024;
  return subgroups >= 48 ? 100 * 1024 : 64 * 1024;
}

// Vulkan has no word for them, and only two makers tell. The guesses are those of a middling device.
void describe_processors(Physical& device) {
  Limits& limits = device.limits;
  limits.multiprocessor_shared_bytes = 2 * limits.shared_bytes;
  if (has_extension(device.handle, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    constexpr uint32_t parts = 4;  // of a multiprocessor, each of which issues for one subgroup at a time
    const auto told = properties_of<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV>(
        device, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
    limits.multiprocessors = told.shaderSMCount;
    limits.processors = parts * told.shaderSMCount;
    limits.multiprocessor_shared_bytes = nvidia_shared_bytes(device.info.name, told.shaderWarpsPerSM);
  } else if (has_extension(device.handle, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    const auto told = properties_of<VkPhysicalDeviceShaderCorePropertiesAMD>(
        device, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD);
    limits.multiprocessors =
        told.shaderEngineCount * told.shaderArraysPerEngineCount * told.computeUnitsPerShaderArray;
    limits.processors = limits.multiprocessors * told.simdPerComputeUnit;
    limits.multiprocessor_shared_bytes = 64 * 1024;
  }
  if (limits.processors > 1) {
    limits.sure_teams = std::max(1u, limits.multiprocessors);
    return;
  }
  switch (device.info.kind) {
    case DeviceKind::software: limits.processors = machine::processors(); break;
    case DeviceKind::integrated: limits.processors = 64; break;
    default: limits.processors = 256;
  }
  limits.multiprocessors = std::max(1u, limits.processors / 4);
}

// How large subgroups are: the same for all kernels, or as a pipeline asks.
void read_subgroup_sizes(Physical& device) {
  if (!has_extension(device.handle, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) return;
  const auto features = features_of<VkPhysicalDeviceSubgroupSizeControlFeaturesEXT>(
      device, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT);
  const auto told = properties_of<VkPhysicalDeviceSubgroupSizeControlPropertiesEXT>(
      device, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT);

  device.target.smallest_subgroup = std::max(told.minSubgroupSize, 1u);
  const uint32_t usual = device.limits.subgroup_size;
  const bool is_fixed = told.minSubgroupSize == told.maxSubgroupSize;
  // A team of a required size may have so many subgroups and no more.
  const bool may_ask = told.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT &&
                       told.maxComputeWorkgroupSubgroups >= device.limits.max_lanes / std::max(usual, 1u);
  device.sizes_subgroups =
      features.subgroupSizeControl && features.computeFullSubgroups && (is_fixed || may_ask);
  if (!device.sizes_subgroups) return;
  device.target.subgroup_size = usual;
  device.limits.fixed_subgroups = true;
  if (!is_fixed) device.required_subgroup = usual;
}

void read_properties(Physical& device) {
  VkPhysicalDeviceVulkan12Properties v12{};
  v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  VkPhysicalDeviceVulkan11Properties v11{};
  v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  v11.pNext = &v12;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &v11;
  instance().calls.get_properties2(device.handle, &all);
  device.driver_id = v12.driverID;
  device.info.driver = fmt::format("{} {}", v12.driverName, v12.driverInfo);
  read_float_controls(device, v12);
  fill_limits(device, v11);
  describe_processors(device);
  read_subgroup_sizes(device);
}

Physical describe(VkPhysicalDevice handle, uint32_t index) {
  Physical device;
  device.handle = handle;
  instance().calls.get_properties(handle, &device.properties);
  instance().calls.get_memory_properties(handle, &device.memory);
  device.info.id = fmt::format("vulkan:{}", index);
  device.info.name = device.properties.deviceName;
  device.info.kind = kind_of(device.properties.deviceType);
  for (uint32_t i = 0; i < device.memory.memoryHeapCount; ++i)
    if (device.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      device.info.memory_bytes = std::max(device.info.memory_bytes, device.memory.memoryHeaps[i].size);
  if (device.info.kind == DeviceKind::software)
    device.info.memory_bytes = std::min(device.info.memory_bytes, machine::memory_bytes());
  const uint32_t version = device.properties.apiVersion;
  if (version < VK_API_VERSION_1_2) {
    device.problem = fmt::format("its driver has Vulkan {}.{}; 1.2 is needed", VK_API_VERSION_MAJOR(version),
                                 VK_API_VERSION_MINOR(version));
  } else {
    read_features(device);
    read_properties(device);
    read_matrices(device, has_extension(handle, cooperative::matrix_extension),
                  has_extension(handle, cooperative::bfloat16_extension));
    if (!pick_queue_family(device)) device.problem = "it has no queue that computes";
  }
  device.info.reason = device.problem;
  return device;
}

}  // namespace

std::string Physical::driver_key() const {
  std::string key =
      fmt::format("{:08x}{:08x}{:08x}", properties.vendorID, properties.deviceID, properties.driverVersion);
  for (uint8_t byte : properties.pipelineCacheUUID) key += fmt::format("{:02x}", byte);
  return key;
}

std::vector<Physical> physical_devices() {
  std::vector<Physical> found;
  if (!instance().problem.empty()) return found;
  uint32_t count = 0;
  instance().calls.enumerate_physical_devices(instance().handle, &count, nullptr);
  std::vector<VkPhysicalDevice> handles(count);
  if (count) instance().calls.enumerate_physical_devices(instance().handle, &count, handles.data());
  handles.resize(count);
  for (uint32_t i = 0; i < count; ++i) found.push_back(describe(handles[i], i));
  return found;
}

}  // namespace adit::vulkan
