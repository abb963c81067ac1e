#include "cli/interrupt.hpp"

#include <cerrno>
#include <string_view>
#include <unistd.h>

namespace adit::cli {
namespace {

volatile std::sig_atomic_t mark = 0, speaks = 0;

void on_interrupt(int) {
  const int error = errno;
  mark = 1;
  constexpr std::string_view words = "\nStopping; Ctrl-C again ends at once.\n";
  if (speaks && ::write(STDERR_FILENO, words.data(), words.size()) < 0) mark = 1;
  errno = error;
}

}  // namespace

Interrupt::Interrupt(bool quiet) {
  mark = 0;
  speaks = !quiet;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() { ::sigaction(SIGINT, &before_, nullptr); }

bool Interrupt::came() { return mark != 0; }

}  // namespace adit::cli
