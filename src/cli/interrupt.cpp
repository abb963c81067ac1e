#include "cli/interrupt.hpp"

#include <cerrno>
#include <string_view>
#include <unistd.h>

namespace adit::cli {
namespace {

volatile std::sig_atomic_t mark = 0, speaks = 0, saves = 0, waiting = 0;

void on_interrupt(int) {
  const int error = errno;
  mark = 1;
  constexpr std::string_view stopping = "\nStopping; Ctrl-C again ends at once.\n";
  constexpr std::string_view saving = "\nThe files are being written; Ctrl-C again ends at once.\n";
  const std::string_view words = saves ? saving : stopping;
  if (speaks && ::write(STDERR_FILENO, words.data(), words.size()) < 0) mark = 1;
  errno = error;
}

void remember(int signal) { waiting = signal; }

}  // namespace

Interrupt::Interrupt(bool quiet) {
  mark = 0;
  saves = 0;
  speaks = !quiet;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() { ::sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::came() { return mark != 0; }

void Interrupt::files_begin() { saves = 1; }

Uninterrupted::Uninterrupted() {
  waiting = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
}

Uninterrupted::~Uninterrupted() {
  for (size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  if (waiting != 0) ::raise(waiting);
}

}  // namespace adit::cli
