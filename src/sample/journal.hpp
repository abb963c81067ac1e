// A run's checkpoint: what tells that it is of the same run, and when it is written.
#pragma once

#include <chrono>
#include <memory>

#include "sample/checkpoint.hpp"
#include "sample/run.hpp"

namespace adit::sampling {

const char* name_of(Metric metric);
// Names, shapes and constraints, as a checkpoint tells them.
std::vector<std::string> variables_of(const stats::ModelState& model);

// What must be the same for a run to go on: options, device, the kernel and its data.
CheckpointHeader header_of(const Run& run, const stats::ModelState& model, const SampleOptions& options,
                           Device& device);

// As SampleOptions::layout takes it; "" where the header does not tell.
std::string layout_of(const CheckpointHeader& header);
std::string precision_of(const CheckpointHeader& header);

class Journal {
 public:
  using Clock = std::chrono::steady_clock;
  // A new file, or one that goes on. Throws where the run in it is another. `shortest`: seconds between
  // states at first.
  Journal(const std::string& path, const CheckpointHeader& header, bool resume, double shortest);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Whether a run could go on from it.
  bool holds_state() const { return holds_state_; }
  // What was in it up to its last state, once.
  CheckpointContents take_contents() { return std::move(contents_); }
  // About each second at first, then each tenth of the time so far: a state is as large as hundreds of rows.
  bool due() const;
  // Whether so many seconds of work are worth what a state costs: a twentieth of them. A million chains'
  // takes as long to write as to sample.
  bool is_worth(double seconds) const { return seconds >= 20 * shortest_ * cost_; }
  void rows(std::span<const uint32_t> counts, std::span<const std::byte> bytes) {
    writer_->rows(counts, bytes);
  }
  // `begin`: when the work for it began, which decides when the next is due.
  void state(std::span<const std::byte> bytes, Clock::time_point begin);

 private:
  CheckpointContents contents_;
  std::unique_ptr<CheckpointWriter> writer_;
  bool holds_state_ = false;
  uint64_t generation_ = 0;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
  double shortest_ = 1, cost_ = 0;  // seconds; of the last time, or guessed
};

}  // namespace adit::sampling
