// Folders and files that nobody but this user, and root, can change: what they hold may be run as code.
//
// - A folder is ours if its owner is who we are (the effective user) and no other may write in it.
// - Whoever may write in a folder above it could put another in its place: those belong to us or to root, and
//   others write there only under the sticky bit (as in /tmp). The walk from "/" holds each folder open and
//   checks what it opened, so nothing can be exchanged in between. Symbolic links of ours and root's are
//   followed above, never at an entry.
#pragma once

#include <filesystem>
#include <string>

#include "support/descriptor.hpp"

namespace adit {

// `it`, or why it is not used; neither where it is not there.
struct Opened {
  Descriptor it{};
  std::string trouble{};
  explicit operator bool() const { return static_cast<bool>(it); }
};

// With `make`, folders that are missing are made, for us alone.
Opened open_own_folder(const std::filesystem::path& path, bool make);
// A folder in one that is open. `path` is what messages call it.
Opened open_own_folder_in(const Descriptor& parent, const std::string& name,
                          const std::filesystem::path& path, bool make);
// A regular file in such a folder, for reading; it never waits (a pipe would).
Opened open_own_file_in(const Descriptor& folder, const std::string& name, const std::filesystem::path& path);

}  // namespace adit
