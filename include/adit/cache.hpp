// The cache directory: what the engine keeps on disk for the next process. docs/architecture.md says what.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace adit::cache {

// ADIT_CACHE, else $XDG_CACHE_HOME/adit, else ~/.cache/adit; nothing where it is off (ADIT_CACHE set and
// empty).
std::optional<std::filesystem::path> directory();
// Why the directory is not used (docs/security.md); none where it is used, not yet there, or off.
std::optional<std::string> unusable();

struct Usage {
  std::string kind;
  uint64_t files = 0, bytes = 0;
};
std::vector<Usage> usage();
// Removes every entry (and stale temporaries); returns how many files went.
uint64_t clear();

}  // namespace adit::cache
#pragma GCC visibility pop
