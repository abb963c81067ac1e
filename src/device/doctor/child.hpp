// Another process that runs this program, for work that may not come back.
#pragma once

#include <string>
#include <vector>

namespace adit::doctor {

struct ChildResult {
  bool started = false;
  bool timed_out = false;  // it was killed
  int exit_status = -1;    // -1: ended by a signal
  int signal = 0;
  std::string output;  // what it wrote on standard output; its standard error is ours
};

ChildResult run_child(const std::string& program, const std::vector<std::string>& arguments,
                      double timeout_seconds);

}  // namespace adit::doctor
