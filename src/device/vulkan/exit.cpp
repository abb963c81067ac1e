#include "device/vulkan/exit.hpp"

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
  for (auto& weak : all.cores)
    if (std::shared_ptr<Core> core = weak.lock()) all.kept.push_back(std::move(core));
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

void rest_at_exit() { std::atexit(at_exit); }

}  // namespace adit::vulkan
