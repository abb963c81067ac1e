#include "cli/progress.hpp"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.hpp"

namespace adit::cli {
namespace {

using namespace std::chrono_literals;

std::string short_number(double x) {
  if (x >= 1e9) return fmt::format("{:.1f}G", x / 1e9);
  if (x >= 1e6) return fmt::format("{:.1f}M", x / 1e6);
  if (x >= 1e4) return fmt::format("{:.0f}k", x / 1e3);
  return fmt::format("{:.0f}", x);
}

std::string time_in_words(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole % 3600 / 60);
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

}  // namespace

std::string progress_text(const Progress& first, const Progress& now) {
  const double percent =
      now.iterations ? 100.0 * static_cast<double>(now.iteration) / static_cast<double>(now.iterations) : 0;
  std::string text =
      fmt::format("{}  {} of {} ({:.0f} %)", now.iteration < now.warmup ? "warm-up " : "sampling",
                  now.iteration, now.iterations, percent);
  const double seconds = now.seconds - first.seconds;
  const auto done = static_cast<double>(now.iteration - first.iteration);
  if (seconds > 0)
    text += fmt::format("  {} leapfrogs/s",
                        short_number(static_cast<double>(now.leapfrogs - first.leapfrogs) / seconds));
  text += fmt::format("  {} divergence{}", now.divergences, now.divergences == 1 ? "" : "s");
  if (seconds > 0 && done > 0 && now.iteration < now.iterations)
    text += fmt::format("  ETA {}",
                        time_in_words(static_cast<double>(now.iterations - now.iteration) / done * seconds));
  return text;
}

ProgressLine::Mode ProgressLine::mode_for(bool quiet, bool json) {
  if (quiet) return Mode::none;
  if (has_terminal()) return Mode::rewritten;
  return json ? Mode::none : Mode::lines;
}

void ProgressLine::update(const Progress& now) {
  if (mode_ == Mode::none) return;
  if (!begun_) first_ = now;
  if (mode_ == Mode::lines) {
    const int64_t tenths = now.iterations ? now.iteration * 10 / now.iterations : 0;
    if (begun_ ? tenths > tenths_ : tenths > 0) print_err("{}\n", progress_text(first_, now));
    tenths_ = tenths;
    begun_ = true;
    return;
  }
  begun_ = true;
  const auto time = std::chrono::steady_clock::now();
  if (shown_ && time - last_ < 100ms && now.iteration < now.iterations) return;
  last_ = time;
  rewrite(progress_text(first_, now));
}

// Never wider than the terminal: a line that wraps cannot be written over.
void ProgressLine::rewrite(const std::string& text) {
  write_err(fmt::format("\r{}\x1b[K", text.substr(0, static_cast<size_t>(terminal_width() - 1))));
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  write_err("\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace adit::cli
