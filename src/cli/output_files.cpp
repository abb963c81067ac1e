#include "cli/output_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/paths.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_put(const std::string& where, const fs::path& path) {
  const int reason = errno;
  throw Error(ErrorKind::io, fmt::format("{}: expected to write {}, got: {}", where, printable(path.string()),
                                         reason ? std::strerror(reason) : "an error"));
}

// Some file systems only tell of a full disk now; others cannot be asked.
bool write_and_close(int file, std::string_view text) {
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t done = ::write(file, text.data(), std::min<size_t>(text.size(), size_t{1} << 30));
    if (done >= 0)
      text.remove_prefix(static_cast<size_t>(done));
    else
      good = errno == EINTR;
  }
  good = good && (::fsync(file) == 0 || (errno != ENOSPC && errno != EIO && errno != EDQUOT));
  const int reason = errno;
  const bool closed = ::close(file) == 0;
  if (!good) errno = reason;
  return good && closed;
}

void sync_file(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

void OutputFiles::expect_unread(const fs::path& path) const {
  if (const std::string word = inputs_.word_of(path.string()); !word.empty())
    throw UsageError(fmt::format("{}: expected another folder than that of {}, got one where {} would go",
                                 where_, word, printable(path.string())));
}

OutputFiles::Folder& OutputFiles::folder_of(const fs::path& path) {
  const fs::path parent = parent_of(path);
  const auto found =
      std::find_if(folders_.begin(), folders_.end(), [&](const Folder& it) { return it.path == parent; });
  if (found != folders_.end()) return *found;
  settle(parent);
  folders_.push_back({parent, std::make_unique<StagedFiles>(where_, parent), {}});
  return folders_.back();
}

void OutputFiles::settle(const fs::path& folder) const {
  if (!StagedFiles::settle(folder))
    throw Error(
        ErrorKind::io,
        fmt::format("{}: expected a folder whose files are all in their places, got {}, where a command "
                    "ended while it moved them and this one cannot",
                    where_, printable(folder.string())));
}

std::string OutputFiles::aside(const fs::path& path, Content content) {
  expect_place(path, content);
  Folder& folder = folder_of(path);
  places_.push_back({path, content});
  return folder.files->path(path.filename().string()).string();
}

void OutputFiles::write(const fs::path& path, Content content, std::string_view text) {
  const std::string to = aside(path, content);
  const int file = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0 || !write_and_close(file, text)) fail_to_put(where_, path);
}

void OutputFiles::copy(const std::string& aside_, const fs::path& path, Content content) {
  const std::string to = aside(path, content);
  std::error_code error;
  fs::copy_file(aside_, to, error);
  if (error) {
    errno = error.value();
    fail_to_put(where_, path);
  }
  sync_file(to);
}

void OutputFiles::outdate(const fs::path& path) {
  folder_of(path).outdated.push_back(path.filename().string());
}

void OutputFiles::commit() {
  for (const Place& place : places_) expect_place(place.path, place.content);  // hours may have gone by
  for (Folder& folder : folders_) folder.files->commit(folder.outdated);
  forget();
}

void OutputFiles::forget() {
  folders_.clear();
  places_.clear();
}

std::string OutputFiles::with_places(std::string words) const {
  for (const Folder& folder : folders_) {
    const std::string stage = folder.files->path("").string(), place = (folder.path / "").string();
    for (size_t at = 0; (at = words.find(stage, at)) != std::string::npos; at += place.size())
      words.replace(at, stage.size(), place);
  }
  return words;
}

}  // namespace adit::cli
