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
std::string vulkan_headers();  // "1.3.239": those that this was compiled with

// Empty where the build has none.
std::string blas_name();    // "OpenBLAS 0.3.21 (Haswell)": matrix products of the device "cpu"
std::string netcdf_name();  // "netCDF 4.9.0": draws for ArviZ

}  // namespace adit
#pragma GCC visibility pop
