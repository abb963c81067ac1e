// Which devices there are, which one is chosen, and the open ones.
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>

#include <adit/device.hpp>

#include "device/cpu/cpu.hpp"
#include "device/profile.hpp"
#include "device/vulkan/vulkan.hpp"
#include "support/process_end.hpp"

namespace adit {

namespace {

std::string wanted_by_environment() {
  const char* name = std::getenv("ADIT_DEVICE");
  return name ? name : "";
}

// Every device with the reason why it cannot be used, or none.
std::vector<DeviceInfo> all_devices() {
  std::vector<DeviceInfo> devices = vulkan::list();
  devices.push_back(cpu::describe());
  return devices;
}

// Lower is better; software Vulkan is never chosen for its own sake.
int preference(const DeviceInfo& device) {
  switch (device.kind) {
    case DeviceKind::discrete: return 0;
    case DeviceKind::integrated: return 1;
    case DeviceKind::virtual_machine: return 2;
    case DeviceKind::cpu: return 3;
    case DeviceKind::software: return 100;
  }
  return 100;
}

const DeviceInfo* best(const std::vector<DeviceInfo>& devices) {
  const DeviceInfo* found = nullptr;
  for (const DeviceInfo& d : devices)
    if (d.reason.empty() && preference(d) < 100 && (!found || preference(d) < preference(*found))) found = &d;
  return found;
}

// "vulkan" stands for the first Vulkan device that can be used.
const DeviceInfo* named(const std::vector<DeviceInfo>& devices, const std::string& id) {
  for (const DeviceInfo& d : devices)
    if (d.id == id || (id == "vulkan" && d.kind != DeviceKind::cpu && d.reason.empty())) return &d;
  return nullptr;
}

std::string listing(const std::vector<DeviceInfo>& devices) {
  std::string text;
  for (const DeviceInfo& d : devices)
    text += fmt::format("{}{} ({}{}{})", text.empty() ? "" : ", ", d.id, d.name,
                        d.reason.empty() ? "" : "; cannot be used: ", d.reason);
  return text;
}

const DeviceInfo& pick(const std::vector<DeviceInfo>& devices, const std::string& asked) {
  const std::string id = asked.empty() ? wanted_by_environment() : asked;
  const DeviceInfo* found = id.empty() ? best(devices) : named(devices, id);
  const std::string from = asked.empty() && !id.empty() ? " (from ADIT_DEVICE)" : "";
  if (!found && id.empty())
    throw Error(ErrorKind::not_found,
                fmt::format("[device] no device is chosen by itself; name one of: {}", listing(devices)));
  if (!found)
    throw Error(ErrorKind::not_found, fmt::format("[device] no device is named \"{}\"{}; there are: {}", id,
                                                  from, listing(devices)));
  if (!found->reason.empty())
    throw Error(ErrorKind::unsupported,
                fmt::format("[device] {}{} cannot be used: {}", found->id, from, found->reason));
  return *found;
}

void explain(std::vector<DeviceInfo>& devices) {
  const std::string wanted = wanted_by_environment();
  const DeviceInfo* chosen = wanted.empty() ? best(devices) : named(devices, wanted);
  for (DeviceInfo& d : devices) {
    if (!d.reason.empty()) {
      d.reason = "cannot be used: " + d.reason;
      continue;
    }
    d.chosen = &d == chosen;
    if (d.chosen && !wanted.empty())
      d.reason = fmt::format("named by ADIT_DEVICE={}", wanted);
    else if (d.chosen)
      d.reason = d.kind == DeviceKind::cpu ? "no GPU can be used"
                                           : fmt::format("the best kind present: {}", name_of(d.kind));
    else if (d.kind == DeviceKind::software)
      d.reason = "software Vulkan is used only when it is named";
    else if (chosen)
      d.reason = fmt::format("{} comes first", chosen->id);
    else
      d.reason = fmt::format("ADIT_DEVICE={} names another", wanted);
  }
}

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<Device>> open;
};

Registry& registry() {
  static Registry& value = *new Registry;
  return value;
}

}  // namespace

std::vector<DeviceInfo> Device::list() {
  std::vector<DeviceInfo> devices = all_devices();
  explain(devices);
  return devices;
}

std::shared_ptr<Device> Device::open(const std::string& id) {
  const process_end::Visit visit;
  visit.expect();
  Registry& open_devices = registry();
  const std::lock_guard lock(open_devices.mutex);
  const auto still_good = [&](const std::string& name) -> std::shared_ptr<Device> {
    const auto found = open_devices.open.find(name);
    std::shared_ptr<Device> device = found == open_devices.open.end() ? nullptr : found->second.lock();
    return device && !device->lost() ? device : nullptr;
  };
  if (!id.empty())
    if (auto device = still_good(id)) return device;
  const std::vector<DeviceInfo> devices = all_devices();
  const DeviceInfo& chosen = pick(devices, id);
  if (auto device = still_good(chosen.id)) return device;
  const auto adjust = [&](Limits& limits) { apply_profile(chosen, limits); };
  std::shared_ptr<Device> device =
      chosen.kind == DeviceKind::cpu
          ? cpu::open(adjust)
          : vulkan::open(static_cast<uint32_t>(std::stoul(chosen.id.substr(7))), adjust);
  open_devices.open[chosen.id] = device;
  return device;
}

}  // namespace adit
