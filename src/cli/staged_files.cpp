#include "cli/staged_files.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/interrupt.hpp"
#include "cli/own_files.hpp"
#include "cli/run_lock.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stage_prefix = ".adit.writing-";
constexpr const char *origin_name = "origin", *record_name = "commit", *files_name = "files";

[[noreturn]] void fail(const std::string& where, const fs::path& path, const std::string& expected) {
  const int reason = errno;
  throw Error(ErrorKind::io, fmt::format("{}: expected {} {}, got: {}", where, expected,
                                         printable(path.string()), std::strerror(reason)));
}

// A new file of the stage, closed and on the disk; where `kept` is asked for, it stays open and locked.
int put_text(const std::string& where, const fs::path& path, std::string_view text, bool kept) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) fail(where, path.parent_path().parent_path(), "to write in");
  if (kept) ::flock(file, LOCK_EX | LOCK_NB);  // not every file system locks
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
    const fs::path stage = folder / fmt::format("{}{}-{}", stage_prefix, ::getpid(), i);
    if (::mkdir(stage.c_str(), 0700) == 0) return stage;
    if (errno != EEXIST) break;
  }
  fail(where, folder, "to write in");
}

// Names of files are on the disk too when this returns, where the file system can be asked.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

bool is_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

// Names that are new to the folder come first: they alone can find no room.
std::vector<std::string> names_to_move(const fs::path& stage, const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(stage / files_name, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  std::stable_partition(names.begin(), names.end(),
                        [&](const std::string& name) { return !is_there(folder / name); });
  return names;
}

// Files of ours alone: what a list names may have been changed since.
void remove_outdated(const fs::path& folder, const std::vector<std::string>& outdated) {
  for (const std::string& name : outdated) {
    const bool is_name = !name.empty() && name.find('/') == std::string::npos;
    if (is_name && is_own_file(folder / name)) ::unlink((folder / name).c_str());
  }
}

void remove_stage(const fs::path& stage) {
  std::error_code ignored;
  fs::remove(stage / record_name, ignored);
  fs::remove_all(stage, ignored);
}

// --- What others have left ---------------------------------------------------------------------------------

// The process that made a stage of this name; 0: it is no such name.
pid_t writer_of(const std::string& name) {
  if (!name.starts_with(stage_prefix)) return 0;
  const char *first = name.data() + stage_prefix.size(), *last = name.data() + name.size();
  pid_t process = 0;
  const auto [dash, error] = std::from_chars(first, last, process);
  const bool counted = error == std::errc() && last - dash > 1 && *dash == '-' &&
                       std::all_of(dash + 1, last, [](char c) { return c >= '0' && c <= '9'; });
  return counted && process > 0 ? process : 0;
}

std::string text_in(int file) {
  std::string text(1 << 16, '\0');
  std::string all;
  for (ssize_t got = 0; (got = ::read(file, text.data(), text.size())) > 0;)
    all.append(text, 0, static_cast<size_t>(got));
  return all;
}

// Names, each with a zero behind it.
std::vector<std::string> outdated_in(const fs::path& record) {
  const int file = ::open(record.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return {};
  const std::string text = text_in(file);
  ::close(file);
  std::vector<std::string> names;
  for (size_t at = 0, end = 0; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
    names.push_back(text.substr(at, end - at));
  return names;
}

enum class Left : uint8_t { nothing, busy, stuck };

// A stage whose process is dead: its lock is free.
Left end_stage(const fs::path& folder, const fs::path& stage, bool is_ours) {
  if (!is_there(stage / record_name)) {
    if (is_ours) remove_stage(stage);
    return Left::nothing;
  }
  const std::vector<std::string> outdated = outdated_in(stage / record_name),
                                 names = names_to_move(stage, folder);
  for (const std::string& name : names)
    if (::rename((stage / files_name / name).c_str(), (folder / name).c_str()) != 0) return Left::stuck;
  remove_outdated(folder, outdated);
  sync_folder(folder);
  remove_stage(stage);
  return Left::nothing;
}

Left settle_stage(const fs::path& folder, const fs::path& stage, pid_t writer) {
  struct stat status {};
  if (::lstat(stage.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return Left::nothing;
  const bool counts = is_there(stage / record_name);
  // Another's: who made it may have put there what he likes.
  if (status.st_uid != ::geteuid()) return counts ? Left::stuck : Left::nothing;
  const int origin = ::open((stage / origin_name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (origin < 0) {
    if (!is_alive(writer)) ::rmdir(stage.c_str());  // it ended at its first step
    return Left::nothing;
  }
  Left left = Left::nothing;
  const std::string said = text_in(origin);
  const bool is_ours = said.empty() || said.starts_with("adit ");
  if (::flock(origin, LOCK_EX | LOCK_NB) != 0)
    left = counts ? Left::busy : Left::nothing;
  else if (is_ours && (counts || !is_alive(writer)))  // one that lives may be about to lock it
    left = end_stage(folder, stage, is_ours);
  ::close(origin);
  return left;
}

Left settle_once(const fs::path& folder) {
  std::vector<std::pair<fs::path, pid_t>> stages;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const pid_t writer = writer_of(at->path().filename().string()); writer > 0)
      stages.emplace_back(at->path(), writer);
  Left worst = Left::nothing;
  for (const auto& [stage, writer] : stages) worst = std::max(worst, settle_stage(folder, stage, writer));
  return worst;
}

}  // namespace

StagedFiles::StagedFiles(std::string where, const fs::path& folder)
    : where_(std::move(where)), folder_(folder), stage_(new_stage(where_, folder)) {
  try {
    lock_ =
        put_text(where_, stage_ / origin_name, fmt::format("adit {} {}\n", ADIT_VERSION, ::getpid()), true);
    if (::mkdir((stage_ / files_name).c_str(), 0700) != 0) fail(where_, folder_, "to write in");
  } catch (...) {  // no destructor runs yet
    remove_stage(stage_);
    if (lock_ >= 0) ::close(lock_);
    throw;
  }
}

StagedFiles::~StagedFiles() {
  if (!stays_) remove_stage(stage_);
  ::close(lock_);
}

// It appears whole, or not at all.
void StagedFiles::record(const std::vector<std::string>& outdated) const {
  std::string text;
  for (const std::string& name : outdated) text += name + '\0';
  const fs::path draft = stage_ / "draft";
  put_text(where_, draft, text, false);
  if (::rename(draft.c_str(), (stage_ / record_name).c_str()) != 0) fail(where_, folder_, "to write in");
  sync_folder(stage_);
}

void StagedFiles::move(const std::vector<std::string>& names) {
  std::vector<std::string> moved;
  bool replaced = false;
  for (const std::string& name : names) {
    const bool replaces = is_there(folder_ / name);
    if (::rename(path(name).c_str(), (folder_ / name).c_str()) == 0) {
      moved.push_back(name);
      replaced = replaced || replaces;
      continue;
    }
    const int reason = errno;
    stays_ = replaced;  // what is gone cannot be had back: the new files count
    if (!replaced)
      for (const std::string& back : moved) ::rename((folder_ / back).c_str(), path(back).c_str());
    errno = reason;
    fail(where_, folder_ / name, "to put a new file in the place of");
  }
}

void StagedFiles::commit(std::vector<std::string> outdated) {
  const std::vector<std::string> names = names_to_move(stage_, folder_);
  std::erase_if(outdated, [&](const std::string& name) { return is_there(path(name)); });
  const Uninterrupted whole;
  sync_folder(stage_ / files_name);
  if (names.size() + outdated.size() > 1) record(outdated);
  move(names);
  remove_outdated(folder_, outdated);
  sync_folder(folder_);
  remove_stage(stage_);
}

bool StagedFiles::settle(const fs::path& folder) {
  constexpr int most_tries = 200;
  constexpr std::chrono::milliseconds pause(10);
  Left left = settle_once(folder);
  for (int i = 0; left == Left::busy && i < most_tries; ++i) {
    std::this_thread::sleep_for(pause);
    left = settle_once(folder);
  }
  return left == Left::nothing;
}

}  // namespace adit::cli
