#include "cli/run_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <adit/error.hpp>
#include <adit/text.hpp>

namespace adit::cli {
namespace {

constexpr const char* lock_name = ".adit.lock";
constexpr std::string_view lock_mark = "adit ";  // then the number of the process

std::string lock_text(int descriptor) {
  char text[32];
  const ssize_t size = ::pread(descriptor, text, sizeof text, 0);
  return {text, static_cast<size_t>(std::max<ssize_t>(size, 0))};
}

pid_t written_in(int descriptor) {
  const std::string text = lock_text(descriptor);
  pid_t process = 0;
  if (text.starts_with(lock_mark))
    std::from_chars(text.data() + lock_mark.size(), text.data() + text.size(), process);
  return process;
}

}  // namespace

bool is_alive(pid_t process) { return process > 0 && (::kill(process, 0) == 0 || errno == EPERM); }

RunLock::RunLock(const std::string& where, const std::filesystem::path& folder)
    : where_(where), folder_(folder), path_(folder / lock_name) {
  constexpr int most_tries = 100;  // each fails only if another run has ended meanwhile
  for (int i = 0; i < most_tries; ++i)
    if (open()) return;
  fail("cannot be locked: other runs come and go");
}

// Whoever ends removes the file while it holds the lock: a lock on a file without a name is worth nothing. In
// the folder that was taken, wherever that is now.
RunLock::~RunLock() {
  if (names_ >= 0) {
    if (is_named(names_, lock_name)) ::unlinkat(names_, lock_name, 0);
    ::close(names_);
  } else if (is_held()) {
    ::unlink(path_.c_str());
  }
  ::close(descriptor_);
}

bool RunLock::is_held() const { return is_named(AT_FDCWD, path_.c_str()); }

void RunLock::expect_held() const {
  if (!is_held())
    fail(
        "was moved or replaced while the run worked there; its checkpoint, if it was long enough for one, is "
        "where the folder is now");
}

void RunLock::fail(const std::string& why) const {
  throw Error(ErrorKind::io, fmt::format("{}: {} {}", where_, printable(folder_.string()), why));
}

bool RunLock::open() {
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(fmt::format("cannot be written: {}", std::strerror(errno)));
  try {
    // Not every file system locks.
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const pid_t other = written_in(descriptor_);
      fail(fmt::format("is taken: another run{} is working there",
                       other > 0 ? fmt::format(" (process {})", other) : ""));
    }
    if (is_plain() && is_held()) {
      sign();
      names_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // none: it cannot be listed
      if (names_ >= 0 && !is_named(names_, lock_name)) ::close(std::exchange(names_, -1));
      return true;
    }
  } catch (...) {  // no destructor runs yet
    ::close(descriptor_);
    throw;
  }
  ::close(descriptor_);
  return false;
}

bool RunLock::is_named(int folder, const char* path) const {
  struct stat mine {
  }, named{};
  return ::fstat(descriptor_, &mine) == 0 && ::fstatat(folder, path, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         mine.st_dev == named.st_dev && mine.st_ino == named.st_ino;
}

bool RunLock::is_plain() const {
  struct stat mine {};
  if (::fstat(descriptor_, &mine) != 0) fail(fmt::format("cannot be locked: {}", std::strerror(errno)));
  if (!S_ISREG(mine.st_mode) || mine.st_nlink > 1)
    fail(fmt::format("cannot be locked: its {} is no plain file", lock_name));
  if (const std::string text = lock_text(descriptor_); !text.empty() && !text.starts_with(lock_mark))
    fail(fmt::format("cannot be locked: its {} is a file of others", lock_name));
  return true;
}

// Says who works here; and shows that the folder can be written.
void RunLock::sign() const {
  const std::string text = fmt::format("{}{}\n", lock_mark, ::getpid());
  if (::ftruncate(descriptor_, 0) == 0 &&
      ::pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
    return;
  const int reason = errno;
  ::unlink(path_.c_str());
  fail(fmt::format("cannot be written: {}", std::strerror(reason)));
}

RunLock::Holder RunLock::holder(const std::filesystem::path& folder) {
  const std::string path = (folder / lock_name).string();
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {};
  struct stat status {};
  const bool plain = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const pid_t process = plain ? written_in(descriptor) : 0;
  ::close(descriptor);
  std::error_code ignored;
  return is_alive(process) ? Holder{process, std::filesystem::last_write_time(path, ignored)} : Holder{};
}

}  // namespace adit::cli
