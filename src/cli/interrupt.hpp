// Ctrl-C: the first asks the run to stop, the second ends the program.
#pragma once

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

 private:
  struct sigaction before_ {};
};

}  // namespace adit::cli
