// Stands in for the code generator in builds without LLVM: it says so.
#include <adit/error.hpp>

#include "native/compile.hpp"

namespace adit::native {

namespace {
[[noreturn]] void missing() {
  throw Error(
      ErrorKind::unsupported,
      "[cpu] this build has no code generator for the CPU: install LLVM (15 or later) and configure again, "
      "or name a Vulkan device");
}
}  // namespace

bool available() { return false; }
std::string generator() { return "none (built without LLVM)"; }
const Host& host() {
  static const Host& none = *new Host;
  return none;
}
uint32_t lanes_of(const kernel::Program&) { return 1; }
bool rest_is_apart(const kernel::Program&) { return false; }
std::vector<std::byte> emit_object(const kernel::Program&) { missing(); }
std::shared_ptr<const Code> load_object(const kernel::Program&, const std::vector<std::byte>&) { missing(); }
std::string emit_listing(const kernel::Program&) { missing(); }
std::string host_key() { return "none"; }

}  // namespace adit::native
