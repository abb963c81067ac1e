#include "support/code_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include <adit/error.hpp>

#include "support/machine.hpp"

namespace adit {

uint64_t code_memory() {
  const char* text = std::getenv("ADIT_CODE_MEMORY");
  if (!text || !*text) return std::min(uint64_t{512} << 20, machine::memory_bytes() / 8);
  char* end = nullptr;
  const long wanted = std::strtol(text, &end, 10);
  if (*end != 0 || wanted < 1 || wanted > 1 << 20)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[device] ADIT_CODE_MEMORY: expected MiB from 1 to {}, got \"{}\"", 1 << 20, text));
  return static_cast<uint64_t>(wanted) << 20;
}

}  // namespace adit
