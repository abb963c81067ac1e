// What is in the cache, and being rid of it. Names are taken relative to folders that are open and checked:
// nothing outside the cache is counted or removed, wherever a link in it points.
#include <algorithm>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>

#include "support/cache.hpp"
#include "support/cache_folder.hpp"

namespace adit::cache {
namespace {

constexpr time_t stale_seconds = 3600;

bool is_temporary(const std::string& name) { return name.starts_with(temporary_prefix); }
bool is_entry(const std::string& name) { return name.ends_with(entry_suffix) && !name.starts_with('.'); }

// f(name, status) of what is in the folder, links as themselves.
template <class F>
void for_each_in(const Folder& folder, F&& f) {
  // The folder itself is only good for passing through.
  Descriptor listed(::openat(folder.it.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::fdopendir(listed.number()), ::closedir);
  if (!list) return;
  listed.release();
  while (const dirent* found = ::readdir(list.get())) {
    const std::string name = found->d_name;
    struct stat status {};
    if (name != "." && name != ".." &&
        ::fstatat(folder.it.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      f(name, status);
  }
}

// f(name, folder) of the folders of the cache, by name.
template <class F>
void for_each_folder(F&& f) {
  const Folder root = open_root(false);
  if (!root) return;
  std::vector<std::string> names;
  for_each_in(root, [&](const std::string& name, const struct stat& status) {
    if (S_ISDIR(status.st_mode)) names.push_back(name);
  });
  std::sort(names.begin(), names.end());
  for (const std::string& name : names)
    if (const Folder folder = open_folder(root, name, false)) f(name, folder);
}

bool remove(const Folder& folder, const std::string& name) {
  return ::unlinkat(folder.it.number(), name.c_str(), 0) == 0;
}

}  // namespace

uint64_t remove_stale_temporaries(const Folder& folder) {
  uint64_t removed = 0;
  const time_t now = std::time(nullptr);
  for_each_in(folder, [&](const std::string& name, const struct stat& status) {
    if (S_ISREG(status.st_mode) && is_temporary(name) && now - status.st_mtime > stale_seconds)
      removed += remove(folder, name);
  });
  return removed;
}

std::vector<Usage> usage() {
  std::vector<Usage> kinds;
  for_each_folder([&](const std::string& kind, const Folder& folder) {
    Usage usage{kind};
    for_each_in(folder, [&](const std::string& name, const struct stat& status) {
      if (!S_ISREG(status.st_mode) || !is_entry(name)) return;
      ++usage.files;
      usage.bytes += static_cast<uint64_t>(status.st_size);
    });
    kinds.push_back(usage);
  });
  return kinds;
}

uint64_t clear() {
  uint64_t removed = 0;
  for_each_folder([&](const std::string&, const Folder& folder) {
    removed += remove_stale_temporaries(folder);
    for_each_in(folder, [&](const std::string& name, const struct stat& status) {
      if (!S_ISDIR(status.st_mode) && is_entry(name)) removed += remove(folder, name);
    });
  });
  return removed;
}

}  // namespace adit::cache
