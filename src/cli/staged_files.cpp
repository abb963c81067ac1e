#include "cli/staged_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/interrupt.hpp"
#include "cli/stage_folder.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& where, const fs::path& path, const std::string& expected) {
  const int reason = errno;
  throw Error(ErrorKind::io, fmt::format("{}: expected {} {}, got: {}", where, expected,
                                         printable(path.string()), std::strerror(reason)));
}

// A new file of the stage, closed and on the disk; where `kept` is asked for, it stays open and locked.
int put_text(const std::string& where, const fs::path& path, std::string_view text, bool kept) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fail(where, path.parent_path().parent_path(), "to write in");
  if (kept)  // not every file system locks
    while (::flock(file, LOCK_EX) != 0 && errno == EINTR) {
    }
  const bool whole = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                     (kept || ::fsync(file) == 0 || (errno != ENOSPC && errno != EIO && errno != EDQUOT));
  if (whole && kept) return file;
  const int reason = errno;
  ::close(file);
  errno = reason;
  if (!whole) fail(where, path.parent_path().parent_path(), "to write in");
  return -1;
}

fs::path new_stage(const std::string& where, const fs::path& folder) {
  constexpr int most = 1000;
  for (int i = 0; i < most; ++i) {
    const fs::path made = folder / fmt::format("{}{}-{}", stage::prefix, ::getpid(), i);
    if (::mkdir(made.c_str(), 0700) == 0) return made;
    if (errno != EEXIST) break;
  }
  fail(where, folder, "to write in");
}

}  // namespace

StagedFiles::StagedFiles(std::string where, const fs::path& folder)
    : where_(std::move(where)), folder_(folder), stage_(new_stage(where_, folder)) {
  try {
    lock_ = put_text(where_, stage_ / stage::origin_name,
                     fmt::format("adit {} {}\n", ADIT_VERSION, ::getpid()), true);
    if (::mkdir((stage_ / stage::files_name).c_str(), 0700) != 0) fail(where_, folder_, "to write in");
  } catch (...) {  // no destructor runs yet
    stage::remove(stage_);
    if (lock_ >= 0) ::close(lock_);
    throw;
  }
}

StagedFiles::~StagedFiles() {
  if (!stays_) stage::remove(stage_);
  ::close(lock_);
}

// That of the first stage appears last, whole or not at all, and with it all of them count.
void StagedFiles::record(const std::vector<Part>& parts) {
  const StagedFiles& first = *parts.front().files;
  std::vector<std::string> names = parts.front().outdated;
  for (size_t i = 1; i < parts.size(); ++i) {
    const StagedFiles& other = *parts[i].files;
    names.push_back(stage::name_of_stage(other.stage_, first.folder_));
    std::vector<std::string> part = parts[i].outdated;
    part.push_back(stage::name_of_stage(first.stage_, other.folder_));
    put_text(other.where_, other.stage_ / stage::part_name, stage::text_of(part), false);
    stage::sync_folder(other.stage_);
    stage::sync_folder(other.folder_);
  }
  const fs::path draft = first.stage_ / "draft", record = first.stage_ / stage::record_name;
  put_text(first.where_, draft, stage::text_of(names), false);
  if (::rename(draft.c_str(), record.c_str()) != 0) fail(first.where_, first.folder_, "to write in");
  stage::sync_folder(first.stage_);
  stage::sync_folder(first.folder_);
}

void StagedFiles::move(const std::vector<Part>& parts, const std::vector<Names>& names) {
  struct Step {
    fs::path from, to;
    bool replaces;
  };
  std::vector<Step> steps;
  for (size_t i = 0; i < parts.size(); ++i)
    for (const std::string& name : names[i]) {
      const fs::path to = parts[i].files->folder_ / name;
      steps.push_back({parts[i].files->path(name), to, stage::is_there(to)});
    }
  // Names that are new to a folder come first: they alone can find no room.
  std::stable_partition(steps.begin(), steps.end(), [](const Step& step) { return !step.replaces; });
  for (size_t i = 0; i < steps.size(); ++i) {
    if (::rename(steps[i].from.c_str(), steps[i].to.c_str()) == 0) continue;
    const int reason = errno;
    size_t moved = i;
    while (moved > 0 && !steps[moved - 1].replaces &&
           ::rename(steps[moved - 1].to.c_str(), steps[moved - 1].from.c_str()) == 0)
      --moved;
    after_failure(parts, moved == 0);
    errno = reason;
    fail(parts.front().files->where_, steps[i].to, "to put a new file in the place of");
  }
}

// What was replaced cannot be had back: then the new files count.
void StagedFiles::after_failure(const std::vector<Part>& parts, bool nothing_moved) {
  for (const Part& part : parts) part.files->stays_ = !nothing_moved;
  if (nothing_moved) ::unlink((parts.front().files->stage_ / stage::record_name).c_str());
}

void StagedFiles::commit_together(std::vector<Part> parts) {
  size_t changes = 0;
  std::vector<Names> names;
  for (Part& part : parts) {
    const StagedFiles& files = *part.files;
    std::erase_if(part.outdated, [&](const std::string& name) { return stage::is_there(files.path(name)); });
    names.push_back(stage::files_in(files.stage_));
    changes += names.back().size() + part.outdated.size();
  }
  const Uninterrupted whole;
  for (const Part& part : parts) stage::sync_folder(part.files->stage_ / stage::files_name);
  if (changes > 1) record(parts);
  move(parts, names);
  for (const Part& part : parts) {
    stage::remove_outdated(part.files->folder_, part.outdated);
    stage::sync_folder(part.files->folder_);
  }
  for (size_t i = parts.size(); i-- > 0;) stage::remove(parts[i].files->stage_);  // the record goes last
}

}  // namespace adit::cli
