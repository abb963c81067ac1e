#include <cstdlib>
#include <fmt/format.h>
#include <mutex>

#include "device/vulkan/device.hpp"
#include "device/vulkan/vulkan.hpp"
#include "support/log.hpp"

namespace adit::vulkan {
namespace {

// Devices that live, to be brought to rest before the process ends. Never destroyed: it is used while it
// ends.
struct Living {
  std::mutex mutex;
  std::vector<std::weak_ptr<VulkanDevice>> devices;
  std::vector<std::weak_ptr<Core>> cores;
  std::vector<std::shared_ptr<void>> kept;
};

Living& living() {
  static Living* const all = new Living;
  return *all;
}

// Drivers take themselves down at exit, before objects that were made earlier than they were loaded. A device
// that somebody still holds then is put to rest here and kept for good; buffers and kernels that live on call
// nothing.
void at_exit() {
  Living& all = living();
  std::lock_guard lock(all.mutex);
  for (auto& weak : all.devices)
    if (std::shared_ptr<VulkanDevice> device = weak.lock()) {
      device->close();
      all.kept.push_back(std::move(device));
    }
  for (auto& weak : all.cores) all.kept.push_back(weak.lock());
  Core::process_ends = true;
}

void remember(const std::shared_ptr<VulkanDevice>& device) {
  std::lock_guard lock(living().mutex);
  const auto gone = [](const auto& weak) { return weak.expired(); };
  std::erase_if(living().devices, gone);
  std::erase_if(living().cores, gone);
  living().devices.push_back(device);
  living().cores.push_back(device->core());
  static const int registered = std::atexit(at_exit);  // after the driver was loaded: handlers run in reverse
  static_cast<void>(registered);
}

}  // namespace

std::vector<DeviceInfo> list() {
  std::vector<DeviceInfo> infos;
  try {
    for (const Physical& device : physical_devices()) infos.push_back(device.info);
  } catch (const std::exception& problem) {
    log_info("vulkan: {}", problem.what());
  }
  return infos;
}

std::shared_ptr<Device> open(uint32_t index, const std::function<void(Limits&)>& adjust) {
  if (!instance().problem.empty())
    throw Error(ErrorKind::unsupported, fmt::format("[open] vulkan:{}: {}", index, instance().problem));
  const std::vector<Physical> devices = physical_devices();
  if (index >= devices.size())
    throw Error(ErrorKind::not_found,
                fmt::format("[open] vulkan:{}: expected one of {} Vulkan devices", index, devices.size()));
  if (!devices[index].problem.empty())
    throw Error(ErrorKind::unsupported, fmt::format("[open] vulkan:{}: {}", index, devices[index].problem));
  // Where memory lies is decided before anything else is.
  Physical physical = devices[index];
  Limits corrected = physical.limits;
  if (adjust) adjust(corrected);
  physical.limits.unified_memory = physical.limits.unified_memory && corrected.unified_memory;
  physical.limits.max_buffer_bytes = corrected.max_buffer_bytes;
  auto device = std::make_shared<VulkanDevice>(physical, adjust);
  remember(device);
  return device;
}

bool is_lost(const Device& device) {
  const auto* ours = dynamic_cast<const VulkanDevice*>(&device);
  return ours != nullptr && ours->lost();
}

void lose_next_submission(Device& device) {
  if (auto* ours = dynamic_cast<VulkanDevice*>(&device)) ours->fail_next_submit();
}

}  // namespace adit::vulkan
