#include "cli/paths.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <adit/error.hpp>

#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

PathKind kind_by(int (*ask)(const char*, struct stat*), const std::string& where, const fs::path& path) {
  if (path.empty()) throw UsageError(fmt::format("{}: expected a path, got \"\"", where));
  struct stat status {};
  if (ask(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return PathKind::nothing;
    throw Error(ErrorKind::io, fmt::format("{}: expected a file or a folder, got {}: {}", where,
                                           path.string(), std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) return PathKind::folder;
  return S_ISREG(status.st_mode) ? PathKind::file : PathKind::other;
}

}  // namespace

PathKind kind_at(const std::string& where, const fs::path& path) { return kind_by(::stat, where, path); }

PathKind kind_of_name(const std::string& where, const fs::path& path) {
  return kind_by(::lstat, where, path);
}

std::vector<fs::path> entries_of(const std::string& where, const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  if (error)
    throw Error(ErrorKind::io, fmt::format("{}: expected a folder to look into, got {}: {}", where,
                                           folder.string(), error.message()));
  std::sort(entries.begin(), entries.end());
  return entries;
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void expect_utf8(const std::string& where, const std::string& path) {
  using Text = nlohmann::ordered_json;
  const std::string shown = Text(path).dump(-1, ' ', true, Text::error_handler_t::replace);
  if (Text::parse(shown) != Text(path))
    throw UsageError(fmt::format("{}: expected a name in UTF-8, as JSON tells it, got {}", where, shown));
}

}  // namespace adit::cli
