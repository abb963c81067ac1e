#include "device/doctor/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adit/doctor.hpp>
#ifdef __FreeBSD__
#include <sys/types.h>
// types.h comes first
#include <sys/sysctl.h>
#endif

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>

extern char** environ;  // NOLINT: POSIX leaves its declaration to the program

namespace adit::doctor {
namespace {

using Clock = std::chrono::steady_clock;

// Reads until the child closes its end; false when the time is up.
bool read_until(int descriptor, Clock::time_point deadline, std::string& output) {
  char block[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd wait{descriptor, POLLIN, 0};
    const int ready = ::poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) return true;
    if (ready <= 0) continue;
    const ssize_t done = ::read(descriptor, block, sizeof block);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return true;
    output.append(block, static_cast<size_t>(done));
  }
}

}  // namespace

ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      double timeout_seconds) {
  ChildResult result;
  int ends[2];
  if (::pipe(ends) != 0) return result;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);

  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  result.started = ::posix_spawn(&child, program.c_str(), &actions, nullptr, words.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (result.started) {
    const auto budget =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds));
    result.timed_out = !read_until(ends[0], Clock::now() + budget, result.output);
    if (result.timed_out) ::kill(child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  }
  ::close(ends[0]);
  return result;
}

std::string program_path() {
#ifdef __FreeBSD__
  int query[4] = {CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};
  char path[4096];
  size_t length = sizeof path;
  return ::sysctl(query, 4, path, &length, nullptr, 0) == 0 ? path : "";
#else
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : path.string();
#endif
}

}  // namespace adit::doctor
