// What this host's CPU can do, as the operating system reports it. A CPU's name can promise more than a
// virtual machine gives (Neoverse V1 without SVE), so names choose nothing here.
#include <fmt/format.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Config/llvm-config.h>
#include <mutex>
#include <string>

#if defined(__aarch64__) && (defined(__linux__) || defined(__FreeBSD__))
#include <sys/auxv.h>
#endif

#include "native/compile.hpp"

namespace adit::native {

namespace {

std::string take(char* text) {
  std::string copy = text ? text : "";
  LLVMDisposeMessage(text);
  return copy;
}

#if defined(__aarch64__)
unsigned long hardware_bits() {
#if defined(__linux__)
  return getauxval(16 /* AT_HWCAP */);
#elif defined(__FreeBSD__)
  unsigned long bits = 0;
  elf_aux_info(AT_HWCAP, &bits, sizeof bits);
  return bits;
#else
  return 0;
#endif
}

Host detect() {
  // Bits of AT_HWCAP on aarch64; the same on Linux and FreeBSD.
  static constexpr struct {
    int bit;
    const char* feature;
  } known[] = {{1, "+neon"}, {8, "+lse"}, {10, "+fullfp16"}, {12, "+rdm"}, {20, "+dotprod"}};
  Host host;
  host.cpu = "generic";
  const unsigned long bits = hardware_bits();
  for (const auto& [bit, feature] : known)
    if (bits >> bit & 1) host.features += (host.features.empty() ? "" : ",") + std::string(feature);
  host.vector_bits = 128;
  host.many_registers = host.bounds_pass_nan = host.fma_overwrites_addend = true;
  return host;
}
#else
Host detect() {
  Host host;
  host.cpu = "generic";
#if defined(__x86_64__)
  // cpuid with the OS's XSAVE state, each feature said present or absent.
  host.cpu = "x86-64";
  host.features = take(LLVMGetHostCPUFeatures());
  host.vector_bits = host.features.find("+avx2") != std::string::npos ? 256 : 128;
  host.many_registers = host.masks_memory = host.features.find("+avx512vl") != std::string::npos;
#endif
  return host;
}
#endif

}  // namespace

const Host& host() {
  static const Host& value = *new Host([] {
    Host found = detect();
    found.triple = take(LLVMGetDefaultTargetTriple());
    return found;
  }());
  return value;
}

bool available() { return true; }

std::string generator() { return "LLVM " LLVM_VERSION_STRING; }

}  // namespace adit::native
