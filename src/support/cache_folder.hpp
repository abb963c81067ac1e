// Where the cache lies, and whether it may be used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "support/own_folder.hpp"

namespace adit::cache {

inline constexpr std::string_view entry_suffix = ".adit";
inline constexpr std::string_view temporary_prefix = ".writing-";

// The open folder of the cache, and what messages call it. Closed where the cache is off, not yet there or
// not to be trusted; the last is said (below).
struct Folder {
  Descriptor it{};
  std::filesystem::path path{};
  explicit operator bool() const { return static_cast<bool>(it); }
};
Folder open_root(bool make);
// A folder in it.
Folder open_folder(const Folder& root, const std::string& name, bool make);

// The first call of a process prints its line (unless ADIT_LOG=silent); the others are of the same folder.
void say_once(const std::string& line);
// Why nothing is kept on disk, and what to do, by say_once.
void say_unusable(const std::string& trouble);

// Removes temporaries that dead processes left; returns how many.
uint64_t remove_stale_temporaries(const Folder& folder);

}  // namespace adit::cache
