#include "support/apart.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace adit {
namespace {

using Clock = std::chrono::steady_clock;

// The soft limit, so that the signal comes; a second later nothing can ignore it.
void lower_limit(int resource, uint64_t value, uint64_t grace = 0) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, value);
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value + grace);
  ::setrlimit(resource, &limit);
}

// Addresses that this process has mapped; nothing on systems that do not say.
std::optional<uint64_t> mapped_bytes() {
  FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return {};
  unsigned long long pages = 0;
  const bool read = std::fscanf(file, "%llu", &pages) == 1;
  std::fclose(file);
  if (!read) return {};
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void apply(const ApartLimits& limits) {
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_CPU, static_cast<uint64_t>(std::ceil(limits.cpu_seconds)), 1);
  if (const auto mapped = mapped_bytes()) lower_limit(RLIMIT_AS, *mapped + limits.memory_bytes);
}

void write_all(int descriptor, const void* data, size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::write(descriptor, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) ::_exit(1);
    at += done;
    size -= static_cast<size_t>(done);
  }
}

// The caller's handlers are for the caller's faults, and a library's last words are for nobody.
void leave_the_caller() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGPIPE, SIGTERM, SIGINT})
    std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] void be_apart(int output, const ApartLimits& limits,
                           const std::function<std::vector<std::byte>()>& work) {
  const int high = ::fcntl(output, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (high < 0) ::_exit(1);
  leave_the_caller();
  apply(limits);
  const std::vector<std::byte> bytes = work();
  const uint64_t size = bytes.size();
  write_all(high, &size, sizeof size);
  write_all(high, bytes.data(), bytes.size());
  ::_exit(0);
}

// A copy of this process: what comes from it through a pipe (a size, then as many bytes), and how it ended.
class Copy {
 public:
  Copy(pid_t id, int pipe) : id_(id), pipe_(pipe) {}
  ~Copy() {
    ::close(pipe_);
    if (!ended_) ::kill(id_, SIGKILL);
    reap(0);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // False when the time is up.
  bool receive(Clock::time_point deadline);
  bool complete() const { return filled_ >= sizeof size_ && filled_ - sizeof size_ == size_; }
  // Waits for its end; nothing where the caller has children reaped for it.
  std::optional<int> status() {
    reap(0);
    return status_;
  }
  std::vector<std::byte> bytes;

 private:
  void reap(int options) {
    if (ended_) return;
    int code = 0;
    pid_t found = 0;
    while ((found = ::waitpid(id_, &code, options)) < 0 && errno == EINTR) {
    }
    ended_ = found != 0;
    if (found == id_) status_ = code;
  }
  bool read_some();
  bool take(void* to, size_t room) {
    const ssize_t got = ::read(pipe_, to, room);
    if (got > 0) filled_ += static_cast<size_t>(got);
    return got > 0 || (got < 0 && errno == EINTR);
  }

  pid_t id_;
  int pipe_;
  bool ended_ = false;
  std::optional<int> status_;
  uint64_t size_ = 0, filled_ = 0;
};

// False at the end of the pipe.
bool Copy::read_some() {
  if (filled_ < sizeof size_) return take(reinterpret_cast<char*>(&size_) + filled_, sizeof size_ - filled_);
  constexpr uint64_t part = uint64_t{1} << 20;  // no room for a size before half of its bytes are here
  const uint64_t have = filled_ - sizeof size_;
  if (bytes.size() == have) bytes.resize(std::min(size_, 2 * have + part));
  return take(bytes.data() + have, bytes.size() - have);
}

bool Copy::receive(Clock::time_point deadline) {
  while (!complete()) {
    if (Clock::now() >= deadline) return false;
    pollfd wait{pipe_, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 100);
    if (ready > 0 && !read_some()) return true;
    if (ready != 0) continue;
    // Whoever was forked meanwhile holds the pipe open too, so the end of the pipe is not waited for alone.
    if (ended_) return true;
    reap(WNOHANG);
  }
  return true;
}

std::string words_of(std::optional<int> status, const ApartLimits& limits) {
  if (!status) return "ended early";
  if (!WIFSIGNALED(*status)) return fmt::format("ended with status {}", WEXITSTATUS(*status));
  const int number = WTERMSIG(*status);
  if (number == SIGXCPU) return fmt::format("had no end after {:.0f} s", std::ceil(limits.cpu_seconds));
  return fmt::format("ended by signal {} ({})", number, ::strsignal(number));
}

}  // namespace

ApartResult run_apart(const ApartLimits& limits, const std::function<std::vector<std::byte>()>& work) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(limits.wall_seconds));
  int ends[2];
  if (::pipe(ends) != 0) return {fmt::format("had no pipe: {}", std::strerror(errno)), {}};
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  const pid_t id = ::fork();
  if (id == 0) be_apart(ends[1], limits, work);
  const int reason = errno;
  ::close(ends[1]);
  if (id < 0) {
    ::close(ends[0]);
    return {fmt::format("had no process: {}", std::strerror(reason)), {}};
  }
  Copy copy(id, ends[0]);
  if (!copy.receive(deadline)) return {fmt::format("had no end after {:.0f} s", limits.wall_seconds), {}};
  if (!copy.complete()) return {words_of(copy.status(), limits), {}};
  return {{}, std::move(copy.bytes)};
}

}  // namespace adit
