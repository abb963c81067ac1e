#include <adit/system.hpp>

#include "device/vulkan/vulkan.hpp"
#include "native/compile.hpp"

namespace adit {

CodeGenerator code_generator() {
  if (!native::available()) return {false, native::generator(), native::host().triple, 0};
  return {true, native::generator(), native::host().triple, native::host().vector_bits};
}

std::string vulkan_state() { return vulkan::loader_state(); }

}  // namespace adit
