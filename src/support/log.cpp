#include "support/log.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace adit {

LogLevel log_level() {
  static const LogLevel level = [] {
    const char* word = std::getenv("ADIT_LOG");
    const std::string_view wanted = word ? word : "";
    if (wanted == "debug") return LogLevel::debug;
    if (wanted == "info") return LogLevel::info;
    if (wanted == "silent") return LogLevel::silent;
    return LogLevel::warning;
  }();
  return level;
}

void log_line(LogLevel level, std::string_view line) {
  if (level == LogLevel::silent || level > log_level()) return;
  // One write a line: lines of several threads and processes do not mix.
  const char* word = level == LogLevel::warning ? "" : level == LogLevel::debug ? " debug" : " info";
  const std::string text = fmt::format("adit{}: {}\n", word, line);
  const char* next = text.data();
  size_t left = text.size();
  while (left > 0) {
    const ssize_t done = ::write(STDERR_FILENO, next, left);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;  // nobody listens
    next += done;
    left -= static_cast<size_t>(done);
  }
}

}  // namespace adit
