#include <fmt/format.h>

#include "device/vulkan/device.hpp"
#include "device/vulkan/vulkan.hpp"
#include "support/log.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {

std::vector<DeviceInfo> list() {
  const process_end::Visit visit;
  if (!visit) return {};
  std::vector<DeviceInfo> infos;
  try {
    for (const Physical& device : physical_devices()) infos.push_back(device.info);
  } catch (const std::exception& problem) {
    log_info("vulkan: {}", problem.what());
  }
  return infos;
}

std::shared_ptr<Device> open(uint32_t index, const std::function<void(Limits&)>& adjust) {
  const process_end::Visit visit;
  visit.expect();
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
  process_end::keep(device, {[at = device.get()] { at->settle(); }, [at = device.get()] { at->rest(); }});
  return device;
}

void lose_next_submission(Device& device) {
  if (auto* ours = dynamic_cast<VulkanDevice*>(&device)) ours->fail_next_submit();
}

}  // namespace adit::vulkan
