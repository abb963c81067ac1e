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

int new_file(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(file, text.data(), std::min<size_t>(text.size(), size_t{1} << 30));
    if (done < 0 && errno != EINTR) return false;
    if (done > 0) text.remove_prefix(static_cast<size_t>(done));
  }
  return true;
}

bool copy_all(int from, int to) {
  std::vector<char> part(size_t{1} << 20);
  ssize_t got = 0;
  while ((got = ::read(from, part.data(), part.size())) > 0)
    if (!write_all(to, {part.data(), static_cast<size_t>(got)})) return false;
  return got == 0;
}

// Some file systems only tell of a full disk now; others cannot be asked.
bool write_and_close(int file, std::string_view text) {
  bool good = write_all(file, text);
  good = good && (::fsync(file) == 0 || (errno != ENOSPC && errno != EIO && errno != EDQUOT));
  const int reason = errno;
  const bool closed = ::close(file) == 0;
  if (!good) errno = reason;
  return good && closed;
}

}  // namespace

void OutputFiles::expect_place(const fs::path& path, Content content) const {
  expect_own_place(where_, path, content, inputs_);
  expect_unclaimed(path);
}

// What another user has left half done is not ours to end, and would come over what is written now.
void OutputFiles::expect_unclaimed(const fs::path& path) const {
  const fs::path folder = parent_of(path);
  if (!claims_.contains(folder)) claims_[folder] = StagedFiles::claims_of_others(folder);
  const auto claim = claims_[folder].find(path.filename().string());
  if (claim != claims_[folder].end())
    throw Error(ErrorKind::io,
                fmt::format("{}: expected a name of which nothing is under way, got {}, which {} is to have; "
                            "any command of that user's that looks into the folder ends it, or remove it",
                            where_, printable(path.string()), claim->second));
}

void OutputFiles::expect_unread(const fs::path& path) const {
  if (const std::string word = inputs_.word_of(path.string()); !word.empty())
    throw UsageError(fmt::format("{}: expected another folder than that of {}, got one where {} would go",
                                 where_, word, printable(path.string())));
}

void OutputFiles::expect_unread_stream(const std::string& path, int descriptor) const {
  if (const std::string word = inputs_.word_of_stream(descriptor); !word.empty())
    throw UsageError(fmt::format("{}: expected another file than that of {}, got {}, which is the same",
                                 where_, word, printable(path)));
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
  if (const std::string obstacle = StagedFiles::settle(folder); !obstacle.empty())
    throw Error(
        ErrorKind::io,
        fmt::format("{}: expected a folder whose files are all in their places, got {}, where a command "
                    "ended while it moved them and this one cannot: {}",
                    where_, printable(folder.string()), obstacle));
}

std::string OutputFiles::aside(const fs::path& path, Content content) {
  expect_place(path, content);
  Folder& folder = folder_of(path);
  places_.push_back({path, content});
  return folder.files->path(path.filename().string()).string();
}

void OutputFiles::write(const fs::path& path, Content content, std::string_view text) {
  const std::string to = aside(path, content);
  const int file = new_file(to);
  if (file < 0 || !write_and_close(file, text)) fail_to_put(where_, path);
}

void OutputFiles::copy(const std::string& aside_, const fs::path& path, Content content) {
  const std::string to = aside(path, content);
  const int from = ::open(aside_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), file = new_file(to);
  const bool good = from >= 0 && file >= 0 && copy_all(from, file);
  const int reason = errno;
  if (from >= 0) ::close(from);
  errno = reason;
  if (!good) {
    if (file >= 0) ::close(file);
    errno = reason;
    fail_to_put(where_, path);
  }
  if (!write_and_close(file, "")) fail_to_put(where_, path);
}

void OutputFiles::outdate(const fs::path& path) {
  folder_of(path).outdated.push_back(path.filename().string());
}

void OutputFiles::commit() {
  claims_.clear();  // hours may have gone by
  for (const Place& place : places_) expect_place(place.path, place.content);
  std::vector<StagedFiles::Part> parts;
  for (const Folder& folder : folders_) parts.push_back({folder.files.get(), folder.outdated});
  StagedFiles::commit_together(parts);
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
