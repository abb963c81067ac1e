#include <fmt/format.h>
#include <vulkan/vulkan_core.h>

#include <adit/system.hpp>

#include "device/vulkan/vulkan.hpp"
#include "native/compile.hpp"

namespace adit {

CodeGenerator code_generator() {
  if (!native::available()) return {false, native::generator(), native::host().triple, 0};
  return {true, native::generator(), native::host().triple, native::host().vector_bits};
}

std::string vulkan_state() { return vulkan::loader_state(); }

std::string vulkan_headers() {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(VK_HEADER_VERSION_COMPLETE),
                     VK_API_VERSION_MINOR(VK_HEADER_VERSION_COMPLETE), VK_HEADER_VERSION);
}

}  // namespace adit
