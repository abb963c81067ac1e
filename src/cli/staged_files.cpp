#include "cli/staged_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adit/error.hpp>

#include "cli/interrupt.hpp"
#include "cli/run_lock.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark_name = ".incomplete";
constexpr const char* stage_name = "files";
// As the library calls what it writes aside: ".<name>.writing-<process>-<number>".
constexpr std::string_view writing = ".writing-";

[[noreturn]] void fail(const fs::path& path, const char* expected) {
  throw Error(ErrorKind::io, fmt::format("[sample] --output: expected {} {}, got: {}", expected,
                                         path.string(), std::strerror(errno)));
}

fs::path new_stage(const fs::path& folder) {
  constexpr int most = 1000;
  for (int i = 0; i < most; ++i) {
    const fs::path stage = folder / fmt::format(".{}{}{}-{}", stage_name, writing, ::getpid(), i);
    if (::mkdir(stage.c_str(), 0700) == 0) return stage;
    if (errno != EEXIST) break;
  }
  fail(folder, "to write in");
}

// Names of files are on the disk too when this returns, where the file system can be asked.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void set_mark(const fs::path& folder) {
  const fs::path mark = folder / mark_name;
  const int descriptor = ::open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0 && errno != EEXIST) fail(mark, "to write");
  if (descriptor >= 0) ::close(descriptor);
  sync_folder(folder);
}

// The process that wrote a file of this name aside; 0: it is no such name.
pid_t writer_of(const std::string& entry, const std::string& name) {
  const size_t at = entry.rfind(writing);
  if (!entry.starts_with("." + name) || at == std::string::npos || at == 0) return 0;
  if (!name.empty() && at != name.size() + 1) return 0;
  const char *first = entry.data() + at + writing.size(), *last = entry.data() + entry.size();
  pid_t process = 0;
  const auto [dash, error] = std::from_chars(first, last, process);
  const bool counted = error == std::errc() && last - dash > 1 && *dash == '-' &&
                       std::all_of(dash + 1, last, [](char c) { return c >= '0' && c <= '9'; });
  return counted && process > 0 ? process : 0;
}

}  // namespace

StagedFiles::StagedFiles(const fs::path& folder) : folder_(folder), stage_(new_stage(folder)) {}

StagedFiles::~StagedFiles() {
  std::error_code ignored;
  fs::remove_all(stage_, ignored);
}

void StagedFiles::commit(const std::vector<std::string>& outdated) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(stage_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  const Uninterrupted whole;
  set_mark(folder_);
  for (const std::string& name : outdated)
    if (!std::binary_search(names.begin(), names.end(), name) && ::unlink((folder_ / name).c_str()) != 0 &&
        errno != ENOENT)
      fail(folder_ / name, "to remove");
  for (const std::string& name : names)
    if (::rename((stage_ / name).c_str(), (folder_ / name).c_str()) != 0)
      fail(folder_ / name, "to put a new file in the place of");
  sync_folder(folder_);
  ::unlink((folder_ / mark_name).c_str());
  sync_folder(folder_);
}

bool StagedFiles::is_incomplete(const fs::path& folder) {
  struct stat status {};
  return ::lstat((folder / mark_name).c_str(), &status) == 0;
}

void StagedFiles::remove_leftovers(const fs::path& folder, const std::string& name) {
  std::error_code error;
  std::vector<fs::path> dead;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const pid_t writer = writer_of(at->path().filename().string(), name);
    if (writer > 0 && !is_alive(writer)) dead.push_back(at->path());
  }
  for (const fs::path& path : dead) fs::remove_all(path, error);
}

}  // namespace adit::cli
