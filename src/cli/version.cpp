// adit version: what this build is and what it found on this machine.
#include <fmt/format.h>

#include <adit/system.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"

namespace adit::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string cpu_code(const CodeGenerator& generator) {
  if (!generator.available) return generator.name;
  return fmt::format("{}, {}, {}-bit vectors", generator.name, generator.host, generator.vector_bits);
}

}  // namespace

int version(bool json) {
  const CodeGenerator generator = code_generator();
  Json document{{"version", ADIT_VERSION},
                {"build", ADIT_BUILD_TYPE},
                {"compiler", compiler()},
                {"native", generator.name},
                {"native_available", generator.available},
                {"host", generator.host},
                {"vector_bits", generator.vector_bits},
                {"vulkan", vulkan_state()}};
  if (json) {
    print_json(document);
    return 0;
  }
  print_out("adit {}\n", ADIT_VERSION);
  write_out(table({{"  build", fmt::format("{}, {}", ADIT_BUILD_TYPE, compiler())},
                   {"  cpu code", cpu_code(generator)},
                   {"  vulkan", vulkan_state()}}));
  return 0;
}

}  // namespace adit::cli
