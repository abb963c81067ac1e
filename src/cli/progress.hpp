// How far a run is, on standard error.
#pragma once

#include <chrono>
#include <string>

#include <adit/sample.hpp>

namespace adit::cli {

// "warm-up  430 of 2000 (21 %)  1.2M leapfrogs/s  0 divergences  ETA 3 s"; rates count from `first`.
std::string progress_text(const Progress& first, const Progress& now);

class ProgressLine {
 public:
  // Nothing; a line at every tenth of the run; or one line that is written over, for a terminal.
  enum class Mode { none, lines, rewritten };
  // What suits standard error.
  static Mode mode_for(bool quiet, bool json);

  explicit ProgressLine(Mode mode) : mode_(mode) {}
  ~ProgressLine() { clear(); }
  void update(const Progress& now);
  void clear();  // takes the rewritten line away

 private:
  void rewrite(const std::string& text);

  Mode mode_;
  bool begun_ = false, shown_ = false;
  int64_t tenths_ = 0;
  Progress first_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace adit::cli
