// Ctrl-C: the first asks the run to stop, the second ends the program, but never between the files of a run.
#pragma once

#include <array>
#include <csignal>

namespace adit::cli {

// While it lives, the first SIGINT only sets a mark; the next has its usual effect.
class Interrupt {
 public:
  explicit Interrupt(bool quiet);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  static bool came();
  // Sampling is over: who asks to stop now is told that files are being written.
  static void files_begin();

 private:
  struct sigaction before_ {};
};

// While it lives, signals that end a program wait.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace adit::cli
