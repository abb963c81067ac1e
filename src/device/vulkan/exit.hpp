// The end of the process, with devices still open.
//
// Drivers and layers take themselves down among the exit handlers, in reverse order of what they registered,
// some of it not before their first work. Our handler must run before theirs: so it is registered when a
// device is open, and again after its first result. It brings the devices to rest and keeps them for good;
// buffers and kernels that live on call nothing any more.
#pragma once

#include <memory>

namespace adit::vulkan {

class VulkanDevice;

void rest_at_exit();
void rest_at_exit(const std::shared_ptr<VulkanDevice>& device);

}  // namespace adit::vulkan
