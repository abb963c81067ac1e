#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace adit::cli {
namespace {

int fault = 0;  // errno of the first write to standard output that failed

void note_fault(bool failed) {
  if (failed && fault == 0) fault = errno != 0 ? errno : EIO;
}

// Standard output that was closed cannot be written to, so that nobody takes lost output for printed.
void occupy(int descriptor, int mode) {
  if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
  int opened = ::open("/dev/null", mode);
  if (opened < 0) opened = ::open("/", O_RDONLY);  // a place without devices
  if (opened < 0 || opened == descriptor) return;
  ::dup2(opened, descriptor);
  if (opened > STDERR_FILENO) ::close(opened);
}

}  // namespace

void occupy_standard_descriptors() {
  occupy(STDIN_FILENO, O_RDONLY);
  occupy(STDOUT_FILENO, O_RDONLY);
  occupy(STDERR_FILENO, O_WRONLY);
}

void write_out(std::string_view text) {
  errno = 0;
  note_fault(std::fwrite(text.data(), 1, text.size(), stdout) != text.size());
}

void write_err(std::string_view text) {
  errno = 0;
  note_fault(std::fflush(stdout) != 0);
  std::fwrite(text.data(), 1, text.size(), stderr);  // nobody can be told if this fails
  std::fflush(stderr);
}

void print_json(const nlohmann::ordered_json& document) {
  write_out(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

std::string output_fault() {
  errno = 0;
  note_fault(std::fflush(stdout) != 0 || std::ferror(stdout) != 0);
  return fault == 0 ? "" : std::strerror(fault);
}

bool has_terminal() {
  const auto word = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string_view(value ? value : "");
  };
  return ::isatty(STDERR_FILENO) && word("NO_COLOR").empty() && word("TERM") != "dumb";
}

}  // namespace adit::cli
