// adit version: what this build is and what it found on this machine.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"
#include "device/vulkan/vulkan.hpp"
#include "native/compile.hpp"

namespace adit::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string cpu_code() {
  if (!native::available()) return native::generator();
  return fmt::format("{}, {}, {}-bit vectors", native::generator(), native::host().triple,
                     native::host().vector_bits);
}

}  // namespace

int version(bool json) {
  const native::Host& host = native::host();
  Json document{{"version", ADIT_VERSION},
                {"build", ADIT_BUILD_TYPE},
                {"compiler", compiler()},
                {"native", native::generator()},
                {"native_available", native::available()},
                {"host", host.triple},
                {"vector_bits", native::available() ? host.vector_bits : 0},
                {"vulkan", vulkan::loader_state()}};
  if (json) {
    fmt::print("{}\n", document.dump(2));
    return 0;
  }
  fmt::print("adit {}\n", ADIT_VERSION);
  fmt::print("{}", table({{"  build", fmt::format("{}, {}", ADIT_BUILD_TYPE, compiler())},
                          {"  cpu code", cpu_code()},
                          {"  vulkan", vulkan::loader_state()}}));
  return 0;
}

}  // namespace adit::cli
