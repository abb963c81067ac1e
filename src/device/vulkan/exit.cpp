// The end of the process, with devices still open.
//
// Drivers and layers take themselves down among the exit handlers, in reverse order of what they registered,
// some of it not before their first work. Our handler must run before theirs: so it is registered after a
// device is open, and again after its first result. It brings the devices to rest and keeps them for good;
// buffers and kernels that live on call nothing any more.
#include <cstdlib>
#include <mutex>

#include "device/vulkan/device.hpp"

namespace adit::vulkan {
namespace {

// Never destroyed: it is used while everything else is.
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

void at_exit() {
  Living& all = living();
  std::lock_guard lock(all.mutex);
  if (Core::process_ends) return;
  for (auto& weak : all.devices)
    if (std::shared_ptr<VulkanDevice> device = weak.lock()) {
      device->close();
      all.kept.push_back(std::move(device));
    }
  for (auto& weak : all.cores) all.kept.push_back(weak.lock());
  Core::process_ends = true;
}

}  // namespace

void rest_at_exit(const std::shared_ptr<VulkanDevice>& device) {
  std::lock_guard lock(living().mutex);
  const auto gone = [](const auto& weak) { return weak.expired(); };
  std::erase_if(living().devices, gone);
  std::erase_if(living().cores, gone);
  living().devices.push_back(device);
  living().cores.push_back(device->core());
  std::atexit(at_exit);
}

void rest_at_exit_again() { std::atexit(at_exit); }

}  // namespace adit::vulkan
