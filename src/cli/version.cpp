// adit version: what this build is and what it found on this machine.
#include <algorithm>
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

// Those of -fsanitize=, of which the build takes a list with commas.
std::vector<std::string> sanitizers() {
  std::vector<std::string> names;
  const std::string list = ADIT_SANITIZERS;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

Json or_null(const std::string& name) { return name.empty() ? Json() : Json(name); }
std::string or_none(const std::string& name) { return name.empty() ? "none" : name; }

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
                {"blas", or_null(blas_name())},
                {"netcdf", or_null(netcdf_name())},
                {"vulkan_headers", vulkan_headers()},
                {"vulkan", vulkan_state()},
                {"sanitizers", sanitizers()}};
  if (json) {
    print_json(document);
    return 0;
  }
  print_out("adit {}\n", ADIT_VERSION);
  write_out(table({{"  build", fmt::format("{}, {}", ADIT_BUILD_TYPE, compiler())},
                   {"  cpu code", cpu_code(generator)},
                   {"  blas", or_none(blas_name())},
                   {"  netcdf", or_none(netcdf_name())},
                   {"  vulkan", fmt::format("{}; headers {}", vulkan_state(), vulkan_headers())},
                   {"  sanitizers", or_none(fmt::format("{}", fmt::join(sanitizers(), ", ")))}}));
  return 0;
}

}  // namespace adit::cli
