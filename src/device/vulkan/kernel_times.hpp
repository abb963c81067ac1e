// The device's time by kernel, for whoever looks for the slow one: ADIT_TIMES=1 prints a table when the
// device closes. A stamp follows each command, so a kernel's time is what passed since the command before it
// ended, the wait between them included.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/vulkan/core.hpp"

namespace adit::vulkan {

class KernelTimes {
 public:
  // Nothing where nobody asked, or where the device's queue has no clock.
  static std::unique_ptr<KernelTimes> if_wanted(std::shared_ptr<Core> core);

  // One command buffer's stamps.
  struct Stamps {
    VkQueryPool pool = VK_NULL_HANDLE;
    std::vector<std::string> names;  // of the commands, in order
  };
  Stamps make() const;
  void destroy(const Stamps& stamps) const;
  void begin(VkCommandBuffer commands, Stamps& stamps) const;
  void after(VkCommandBuffer commands, Stamps& stamps, const std::string& name) const;
  void collect(const Stamps& stamps);  // the buffer's work is done
  void print() const;

 private:
  explicit KernelTimes(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  struct Total {
    uint64_t count = 0;
    double seconds = 0;
  };
  std::shared_ptr<Core> core_;
  std::map<std::string, Total> totals_;
};

}  // namespace adit::vulkan
