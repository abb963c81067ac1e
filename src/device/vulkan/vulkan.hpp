// The Vulkan devices of this machine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <adit/device.hpp>

namespace adit::vulkan {

// One entry a physical device, usable or not: `reason` says why one is not. Never throws; empty without a
// loader or a driver. ADIT_VULKAN_LOADER names another loader library than libvulkan.
std::vector<DeviceInfo> list();

// Opens device `index` of list(). `adjust` may correct the limits that the driver tells before anything uses
// them.
std::shared_ptr<Device> open(uint32_t index, const std::function<void(Limits&)>& adjust = {});

// "Vulkan 1.3.239 (libvulkan.so.1)", or why there is no Vulkan here.
std::string loader_state();

// ADIT_VALIDATION=1 turns the validation layer on, if it is installed.
bool validation_available();
// With it on: warnings and errors that the validation layer has told so far.
uint64_t validation_messages();

// For tests: the next submission reports a lost device.
void lose_next_submission(Device& device);

}  // namespace adit::vulkan
