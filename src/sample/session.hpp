// One call of the sampler from its options to its draws: device, kernel, warm-up, rows, checkpoint.
#pragma once

#include <chrono>
#include <future>
#include <optional>

#include "sample/journal.hpp"
#include "sample/precision_watch.hpp"

namespace adit::sampling {

class Session {
 public:
  // `sets`: data in place of the model's, for each data set.
  Session(const stats::ModelState& model, const SampleOptions& options, const std::vector<DataSet>& sets,
          const Forced& forced = {});

  // Warm-up and draws; fewer where the caller stopped it.
  void run();
  // The draws of a data set, `model` with its data; of each set once, in order.
  Draws draws_of(const stats::ModelState& model, int64_t set);

 private:
  using Clock = std::chrono::steady_clock;
  struct Block {
    int64_t count = 0;
    RawBytes bytes;  // [chain][row]
  };
  struct Rows {
    int64_t wanted = 0, taken = 0;  // a chain
    std::vector<Block> blocks;
    std::vector<int64_t> written;  // rows of each chain that the checkpoint has
  };

  void go();
  // Beside the chains: compiles what follows them.
  void prepare_the_end();
  void begin();
  void read_header();
  std::string layout() const;
  // Whether single precision holds where the chains are now; where it does not, and the precision is the
  // sampler's choice, the run begins anew in f64.
  bool watch_precision(Rows& rows);
  bool look_at_precision(Rows& rows, int64_t iteration);
  bool is_precise_enough() const;
  void look_at_chains(int64_t first, int64_t chains, int64_t count, bool gradients, Seen& seen) const;
  // Chains that sit nowhere when the metric is settled go on from others' states; false: the caller stopped
  // the run.
  bool free_stuck_chains(Rows& rows);
  void note_taken_over(const stats::ModelState& model, int64_t set, double constant, Draws& draws) const;
  // Chains whose draws say that they sit nowhere.
  void note_stuck(const stats::ModelState& model, int64_t set, double constant, Draws& draws) const;
  void note_stuck_alone(const stats::ModelState& model, int64_t set, Draws& draws) const;
  std::string why_left() const;
  Draws collect(const stats::ModelState& model, int64_t set);
  void watch_draws(const stats::ModelState& model, int64_t set, const std::vector<double>& points,
                   Draws& draws) const;
  std::string wider_precisions(double energy_error) const;
  // Where memory ends, the error tells what is kept.
  template <class Work>
  auto within_memory(Work work) const;
  void resume();
  bool reach(int64_t iteration, Rows& rows);
  void take(Rows& rows);
  void keep(Rows& rows);
  void write_taken(Rows& rows);
  void write_ahead(Rows& rows);
  void report();
  std::vector<double> numbers_of(Rows& rows, int64_t set) const;
  void describe(const stats::ModelState& model, int64_t set, Draws& draws) const;

  Clock::time_point begin_ = Clock::now();
  const stats::ModelState& model_;
  SampleOptions options_;
  std::vector<DataSet> sets_;
  Forced forced_;
  std::shared_ptr<Device> device_;
  Choice choice_;
  bool chooses_precision_ = false;
  std::optional<Seen> seen_;           // in warm-up, of a run in f32
  PrecisionErrors errors_;             // there, where they decide
  std::string note_, placement_note_;  // for the draws
  std::string checkpoint_layout_;      // of the run that this one goes on with
  mutable std::optional<Run> run_;     // reading from a device is no change
  std::optional<Journal> journal_;
  Rows warmup_, draws_;
  Seconds seconds_;
  std::future<void> prepared_;  // whoever lets go of it waits
};

// adit::sample, with some of its decisions taken by the caller.
Draws sample_as(const stats::ModelState& model, const SampleOptions& options, const Forced& forced);

}  // namespace adit::sampling
