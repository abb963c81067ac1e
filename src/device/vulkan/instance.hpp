// The one Vulkan instance of the process, and what its drivers tell about their devices.
#pragma once

#include <string>
#include <vector>

#include <adit/device.hpp>

#include "device/vulkan/loader.hpp"
#include "spirv/emit.hpp"

namespace adit::vulkan {

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  InstanceCalls calls{};
  uint32_t version = 0;
  bool validation = false;
  std::string problem;  // why there is none
};

// Made at the first call, kept to the end of the process.
const Instance& instance();

// A physical device and the part of its features and limits that matters here.
struct Physical {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  std::string problem;  // why it cannot be used; empty if it can
  VkPhysicalDeviceProperties properties{};
  VkDriverId driver_id{};
  VkPhysicalDeviceMemoryProperties memory{};
  uint32_t queue_family = 0;
  Limits limits;
  spirv::Target target;
  // Features to open the device with.
  VkPhysicalDeviceFeatures features{};
  VkPhysicalDeviceVulkan11Features features11{};
  VkPhysicalDeviceVulkan12Features features12{};
  bool atomic_float = false;
  bool sizes_subgroups = false;    // VK_EXT_subgroup_size_control, with full subgroups
  uint32_t required_subgroup = 0;  // to ask for where the driver has several sizes

  // Names this device and this build of its driver.
  std::string driver_key() const;
};

std::vector<Physical> physical_devices();

}  // namespace adit::vulkan
