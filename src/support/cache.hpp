// The cache directory: content-addressed files that any number of processes of one user may share.
//
// - ADIT_CACHE names it; else $XDG_CACHE_HOME/adit, else ~/.cache/adit. ADIT_CACHE="" (set, empty) turns it
// off.
// - What it holds is run as code. So it is used only where nobody else can have written (own_folder.hpp):
//   folders are made for their owner alone, and owner and mode of folders and files are checked when opened.
// - A file is a header (magic, format version, payload length, xxh3-128 of the payload) and the payload.
// - Writing: a temporary name in the same folder, then rename. A process killed in between leaves only a
// temporary.
// - Reading: anything that does not check out (short, flipped, foreign, no file) is said at debug level,
//   deleted, and reported as absent, so that the caller rebuilds it.
// - A directory that cannot be used is said once a process, without being asked; nothing fails for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <adit/cache.hpp>

namespace adit::cache {

// The kinds of entry, each a folder: "kernels" (SPIR-V), "objects" (machine code), "pipelines" (driver),
// "profiles", "executables" (graphs, compiled).
//
// Where it is, what it holds and how it is emptied: <adit/cache.hpp>.

// Larger payloads are not kept.
inline constexpr uint64_t max_payload_bytes = uint64_t{256} << 20;

std::optional<std::vector<std::byte>> load(const std::string& kind, const std::string& key);
void save(const std::string& kind, const std::string& key, std::span<const std::byte> payload);

}  // namespace adit::cache
