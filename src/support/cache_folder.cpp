#include "support/cache_folder.hpp"

#include <atomic>
#include <cstdlib>
#include <sys/stat.h>

#include "support/cache.hpp"
#include "support/log.hpp"

namespace adit::cache {
namespace {

namespace fs = std::filesystem;

const char* absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value && *value == '/' ? value : nullptr;
}

bool is_off() {
  const char* named = std::getenv("ADIT_CACHE");
  return named && *named == '\0';
}

// What is wrong before any folder is looked at. A home that is not there is not made: it is nobody's.
std::string trouble_with_home() {
  if (std::getenv("ADIT_CACHE") || absolute_variable("XDG_CACHE_HOME")) return {};
  const char* home = absolute_variable("HOME");
  if (!home) return "expected HOME or XDG_CACHE_HOME to name a folder, got neither";
  struct stat status {};
  if (::stat(home, &status) == 0 && S_ISDIR(status.st_mode)) return {};
  return fmt::format("{}: expected HOME to be a folder, got none", home);
}

Opened open_chosen(bool make) {
  if (is_off()) return {};
  std::string trouble = trouble_with_home();
  if (!trouble.empty()) return {{}, std::move(trouble)};
  return open_own_folder(*directory(), make);
}

Folder said(Opened opened, fs::path path) {
  if (!opened.trouble.empty()) say_unusable(opened.trouble);
  return {std::move(opened.it), std::move(path)};
}

}  // namespace

std::optional<fs::path> directory() {
  if (is_off()) return std::nullopt;
  if (const char* named = std::getenv("ADIT_CACHE")) return fs::path(named);
  // The XDG rule: a path that is not absolute counts as none.
  if (const char* xdg = absolute_variable("XDG_CACHE_HOME")) return fs::path(xdg) / "adit";
  if (const char* home = absolute_variable("HOME")) return fs::path(home) / ".cache" / "adit";
  return std::nullopt;
}

std::optional<std::string> unusable() {
  Opened opened = open_chosen(false);
  if (opened.trouble.empty()) return std::nullopt;
  return std::move(opened.trouble);
}

Folder open_root(bool make) { return said(open_chosen(make), directory().value_or(fs::path())); }

Folder open_folder(const Folder& root, const std::string& name, bool make) {
  if (!root) return {};
  const fs::path path = root.path / name;
  return said(open_own_folder_in(root.it, name, path, make), path);
}

void say_once(const std::string& line) {
  static std::atomic<bool> said_it{false};
  if (!said_it.exchange(true)) log_warning("[cache] {}", line);
}

void say_unusable(const std::string& trouble) {
  say_once(trouble + "; nothing is kept on disk. ADIT_CACHE=FOLDER names another folder, ADIT_CACHE= none");
}

}  // namespace adit::cache
