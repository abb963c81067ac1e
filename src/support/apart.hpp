// Work that may crash or never end, in a process of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace adit {

struct ApartLimits {
  double cpu_seconds = 0, wall_seconds = 0;
  uint64_t memory_bytes = 0;  // beyond what this process has already
};

struct ApartResult {
  std::string fault;  // how the process ended, where it brought nothing: "ended by signal 11 (...)"
  std::vector<std::byte> bytes;
};

// What `work` returns in a copy of this process that has this thread alone. The copy shares no locks with
// other threads: what `work` calls must not wait for one that they may hold now. It must not throw.
ApartResult run_apart(const ApartLimits& limits, const std::function<std::vector<std::byte>()>& work);

}  // namespace adit
