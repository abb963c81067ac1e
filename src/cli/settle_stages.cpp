// What processes that died while they wrote have left: its end.
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

#include "cli/own_files.hpp"
#include "cli/run_lock.hpp"
#include "cli/stage_folder.hpp"
#include "cli/staged_files.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

struct Left {
  enum class Kind : uint8_t { nothing, busy, stuck } kind = Kind::nothing;
  std::string obstacle;
};

// The process that made a stage of this name; 0: it is no such name.
pid_t writer_of(const std::string& name) {
  if (!name.starts_with(stage::prefix)) return 0;
  const char *first = name.data() + stage::prefix.size(), *last = name.data() + name.size();
  pid_t process = 0;
  const auto [dash, error] = std::from_chars(first, last, process);
  const bool counted = error == std::errc() && last - dash > 1 && *dash == '-' &&
                       std::all_of(dash + 1, last, [](char c) { return c >= '0' && c <= '9'; });
  return counted && process > 0 ? process : 0;
}

// A folder of a stage's name that the user made.
bool is_own_stage(const fs::path& path) {
  struct stat status {};
  return writer_of(path.filename().string()) > 0 && ::lstat(path.c_str(), &status) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

// The stages that a record names.
std::vector<fs::path> stages_in(const fs::path& record) {
  std::vector<fs::path> stages;
  const fs::path folder = record.parent_path().parent_path();
  for (const std::string& name : stage::names_in(record))
    if (stage::is_stage_name(name) && is_own_stage(folder / name)) stages.push_back(folder / name);
  return stages;
}

// By a plain file. Where nothing can be told it may, and reading it tells why.
bool counts(const fs::path& stage) {
  struct stat status {};
  if (::lstat((stage / stage::record_name).c_str(), &status) == 0) return S_ISREG(status.st_mode);
  return errno != ENOENT && errno != ENOTDIR;
}

// Whether a process lives that may still write in what it began: where its lock cannot tell, by its number,
// which may have become another's.
bool may_go_on(const fs::path& begun, pid_t writer) {
  constexpr std::chrono::minutes longest(1);
  std::error_code error;
  const auto since = fs::last_write_time(begun, error);
  return is_alive(writer) && (error || fs::file_time_type::clock::now() - since < longest);
}

// Before its origin is written a stage has nothing in it.
void remove_begun(const fs::path& stage, pid_t writer) {
  const fs::path origin = stage / stage::origin_name;
  if (may_go_on(origin, writer)) return;
  std::error_code error;
  for (fs::directory_iterator at(stage, error), end; !error && at != end; at.increment(error))
    if (at->path().filename() != stage::origin_name) return;
  if (error) return;
  ::unlink(origin.c_str());
  ::rmdir(stage.c_str());
}

// Where files cannot be locked, its number alone tells of the process.
bool is_held(int origin, pid_t writer) {
  if (::flock(origin, LOCK_EX | LOCK_NB) == 0) return false;
  return errno == EWOULDBLOCK || is_alive(writer);
}

bool names(const fs::path& record, const fs::path& stage) {
  std::error_code ignored;
  return std::ranges::any_of(stages_in(record),
                             [&](const fs::path& it) { return fs::equivalent(it, stage, ignored); });
}

// The stage that this one comes with, where that one counts; "": none. Each names the other: one alone could
// have been put there.
fs::path leader_of(const fs::path& stage) {
  for (const fs::path& leader : stages_in(stage / stage::part_name))
    if (counts(leader) && names(leader / stage::record_name, stage)) return leader;
  return {};
}

// The stages that come together, that with the record first. One that is not there any more is done.
std::vector<fs::path> group_of(const fs::path& leader) {
  std::vector<fs::path> group{leader};
  for (const fs::path& other : stages_in(leader / stage::record_name))
    if (names(other / stage::part_name, leader)) group.push_back(other);
  return group;
}

// The first place where a file may not come any more; "": none.
fs::path taken_place(const std::vector<fs::path>& group) {
  for (const fs::path& stage : group)
    for (const std::string& name : stage::files_in(stage))
      if (const fs::path to = stage.parent_path() / name; !may_come(stage / stage::files_name / name, to))
        return to;
  return {};
}

Left end_group(const fs::path& leader) {
  const std::vector<fs::path> group = group_of(leader);
  if (const fs::path taken = taken_place(group); !taken.empty())
    return {Left::Kind::stuck,
            fmt::format("{} is in the way, which is none of its kind by adit; move it away",
                        printable(taken.string()))};
  for (const fs::path& stage : group)
    for (const std::string& name : stage::files_in(stage)) {
      const fs::path to = stage.parent_path() / name;
      if (::rename((stage / stage::files_name / name).c_str(), to.c_str()) != 0)
        return {Left::Kind::stuck, fmt::format("{}: {}", printable(to.string()), std::strerror(errno))};
    }
  for (const fs::path& stage : group) {
    const char* record = stage == leader ? stage::record_name : stage::part_name;
    stage::remove_outdated(stage.parent_path(), stage::names_in(stage / record));
    stage::sync_folder(stage.parent_path());
  }
  for (size_t i = group.size(); i-- > 0;) stage::remove(group[i]);  // the record goes last
  return {};
}

Left unreadable(const fs::path& path, int reason) {
  return {Left::Kind::stuck,
          fmt::format("{} cannot be read: {}", printable(path.string()), std::strerror(reason))};
}

// Of a stage whose process is dead or alive, by its locked origin.
Left settle_stage(const fs::path& stage);
Left settle_by(int origin, const fs::path& stage) {
  struct stat status {};
  if (::fstat(origin, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const pid_t writer = writer_of(stage.filename().string());
  const auto said = stage::text_in(origin);
  if (!said) return unreadable(stage / stage::origin_name, errno);
  if (said->empty()) remove_begun(stage, writer);
  if (!said->starts_with("adit ")) return {};
  const bool held = is_held(origin, writer);
  // From here on: a process that is dead makes no record any more.
  const fs::path leader = leader_of(stage);
  const bool stays = counts(stage) || !leader.empty();
  if (held) return stays ? Left{Left::Kind::busy, "another command moves files there"} : Left{};
  if (counts(stage)) return end_group(stage);
  if (!leader.empty()) return settle_stage(leader);
  stage::remove(stage);
  return {};
}

// Another's is not ours to end: who made it may have put there what he likes.
Left settle_stage(const fs::path& stage) {
  if (!is_own_stage(stage)) return {};
  const fs::path path = stage / stage::origin_name;
  // To write, since some file systems lock no others.
  const int origin = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (origin < 0 && errno == ENOENT) {  // it ended at its first step, or its last
    if (!may_go_on(stage, writer_of(stage.filename().string()))) ::rmdir(stage.c_str());
    return {};
  }
  const bool is_other = errno == EISDIR || errno == ENXIO || errno == ELOOP;
  if (origin < 0) return is_other || !counts(stage) ? Left{} : unreadable(path, errno);
  Left left;
  try {
    left = settle_by(origin, stage);
  } catch (const Error& error) {
    left = {Left::Kind::stuck, error.what()};
  }
  ::close(origin);
  return left;
}

// Sets `error` where the folder cannot be listed.
std::vector<fs::path> stages_of(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> stages;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (writer_of(at->path().filename().string()) > 0) stages.push_back(at->path());
  return stages;
}

Left settle_once(const fs::path& folder) {
  std::error_code error;
  const std::vector<fs::path> stages = stages_of(folder, error);
  Left worst;
  if (error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system ||
      error == std::errc::not_enough_memory || error == std::errc::io_error)
    worst = unreadable(folder, error.value());
  for (const fs::path& stage : stages)
    if (Left left = settle_stage(stage); left.kind > worst.kind) worst = std::move(left);
  return worst;
}

}  // namespace

std::string StagedFiles::settle(const fs::path& folder) {
  constexpr int most_tries = 200;
  constexpr std::chrono::milliseconds pause(10);
  Left left = settle_once(folder);
  for (int i = 0; left.kind == Left::Kind::busy && i < most_tries; ++i) {
    std::this_thread::sleep_for(pause);
    left = settle_once(folder);
  }
  return left.obstacle;
}

StagedFiles::Claims StagedFiles::claims_of_others(const fs::path& folder) {
  Claims claims;
  std::error_code ignored;
  for (const fs::path& stage : stages_of(folder, ignored)) {
    struct stat status {
    }, record{};
    if (::lstat(stage.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
    if (::lstat((stage / stage::record_name).c_str(), &record) != 0 || !S_ISREG(record.st_mode)) continue;
    if (status.st_uid == ::geteuid()) continue;
    try {
      for (const std::string& name : stage::files_in(stage))
        claims[name] = fmt::format("{} of the user {}", printable(stage.string()), status.st_uid);
    } catch (const Error&) {  // what cannot be looked into claims nothing
    }
  }
  return claims;
}

}  // namespace adit::cli
