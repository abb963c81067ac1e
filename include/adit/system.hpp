// What this build of the engine holds, and what it found on this machine.
#pragma once

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace adit {

struct CodeGenerator {
  bool available = false;    // false where the build has no LLVM
  std::string name;          // "LLVM 19.1.7", or why there is none
  std::string host;          // the triple of this machine
  uint32_t vector_bits = 0;  // 0 where none is available
};
CodeGenerator code_generator();  // of the device "cpu"

// "Vulkan 1.3.239 (libvulkan.so.1)", or why there is no Vulkan here.
std::string vulkan_state();

}  // namespace adit
#pragma GCC visibility pop
