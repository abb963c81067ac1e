// What a test does in a process of its own, and what that one said.
#pragma once

#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace adit::test {

// Runs f in a child process; its status is what waitpid gives.
template <class F>
pid_t in_child(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      f();
    } catch (...) {  // or the child would go on with the tests of its parent
      ::_exit(91);
    }
    ::_exit(0);
  }
  return child;
}

inline int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// A child that ended: what waitpid gave, and what it wrote on standard error.
struct Child {
  int status = 0;
  std::string text{};
  int said(const std::string& words) const {
    int times = 0;
    for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
    return times;
  }
};

// A child that waits for ever is killed by a signal after 30 seconds.
template <class F>
Child run_in_child(F&& f) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = in_child([&] {
    ::alarm(30);
    ::dup2(ends[1], STDERR_FILENO);
    f();
  });
  ::close(ends[1]);
  Child ended;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], part, sizeof part)) > 0;)
    ended.text.append(part, static_cast<size_t>(got));
  ::close(ends[0]);
  ended.status = status_of(child);
  return ended;
}

// Another user, for tests that run as root.
inline constexpr uid_t nobody = 65534;
inline bool is_root() { return ::geteuid() == 0; }
inline void become_nobody() {
  if (is_root() && (::setegid(nobody) != 0 || ::seteuid(nobody) != 0)) ::_exit(90);
}

}  // namespace adit::test
