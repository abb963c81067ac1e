// A run of the sampler's kernel on a device: its memory, its slices, what came out.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <adit/sample.hpp>

#include "density/bind.hpp"
#include "nuts/kernel.hpp"
#include "sample/chain_numbers.hpp"
#include "sample/outside_density.hpp"
#include "sample/packing.hpp"
#include "sample/pooling.hpp"
#include "sample/shape.hpp"
#include "sample/summary.hpp"
#include "support/raw_bytes.hpp"

namespace adit::sampling {

// Of the ring: so many bytes, or so many rows of every chain where they take more: a chain that may go on for
// a few transitions only is read from memory and written back for each of them.
inline constexpr uint64_t most_row_bytes = uint64_t{256} << 20;
inline constexpr int64_t fewest_rows = 8;

class Run {
 public:
  Run(const stats::ModelState& model, const SampleOptions& options, const Choice& choice,
      const std::vector<DataSet>& sets, std::shared_ptr<Device> device, const Forced& forced = {});

  int64_t chains() const { return chains_; }
  int64_t groups() const { return groups_; }  // of chains that wait for each other
  const NutsKernel& kernel() const { return *kernel_; }
  const Choice& choice() const { return choice_; }
  const Density& density() const { return *density_; }
  const std::string& layout() const { return layout_; }  // layout_text.hpp
  double constant() const { return outside_ ? outside_->constant() : data_.constant; }
  std::vector<Buffer> data() const {
    return outside_ ? outside_->leaves() : std::vector{data_.reals, data_.places};
  }

  // One dispatch, on the way to `limit` (iterations). Where chains adapt together, the last one to reach the
  // end of a window joins their estimates. Throws where a chain failed.
  void step(int64_t limit);
  // Brings every chain to `iteration`; false where `should_stop` ended it before.
  bool advance(int64_t iteration);

  // Rows are saved from an iteration on, warm-up's end unless told; the first of them is row 0.
  void save_rows_from(int64_t iteration);
  int64_t saved_from() const { return save_from_; }
  int64_t saved() const { return rows_until(slowest_); }  // rows that all chains have
  int64_t ring() const { return ring_; }                  // rows of a chain that are kept, the latest
  // Rows `first` to `first + count` of all chains: [chain][row][stats + size]; as numbers, or as they lie.
  std::vector<double> rows(int64_t first, int64_t count);
  RawBytes row_bytes(int64_t first, int64_t count);
  // Rows from firsts[c] on, counts[c] of chain c; and how many chain c has made.
  RawBytes rows_of_chains(std::span<const int64_t> firsts, std::span<const int64_t> counts);
  int64_t made(int64_t chain) const;
  std::vector<double> numbers(std::span<const std::byte> bytes) const;
  void append_numbers(std::span<const std::byte> bytes, std::vector<double>& to) const;

  std::vector<double> state_of(int64_t chain, int64_t offset, int64_t count);
  // The same of several chains, one after the other.
  std::vector<double> states_of(int64_t first_chain, int64_t chains, int64_t offset, int64_t count);
  const std::vector<uint32_t>& words() const {  // of all chains
    refresh();
    return seen_;
  }
  // Everything that a run needs to go on but its rows, always of one size; `taken`: rows that left the ring.
  // And back, which gives `taken`; rows of chains that were ahead of that return by themselves.
  std::vector<std::byte> save(int64_t taken);
  uint64_t state_bytes() const;
  int64_t restore(std::span<const std::byte> bytes);
  void restore_rows(int64_t taken, std::span<const std::byte> rows);
  // Start points on the unconstrained scale; those of no numbers are left to the kernel. `points` and the
  // parts of `warm`: one for all chains, or one for each of a data set's.
  void start_at(const std::vector<std::vector<double>>& points);
  void set_metric(const WarmStart& warm);

  // The iteration at which the metric is settled and steps are still learnt; none where warm-up is too short
  // to judge chains by.
  std::optional<int64_t> metric_settled_at() const;
  // Log density and log volume of each chain of a data set, where all chains stand now.
  std::vector<double> masses(int64_t set);
  std::vector<double> volumes(int64_t set);  // the latter
  // A chain that sits nowhere goes on from another one's state, metric and step. Where it sat is kept with
  // it.
  void take_over(const std::vector<int64_t>& stuck, const std::vector<int64_t>& sources);
  struct TakenOver {
    int64_t chain = 0, source = 0;
    double lp = 0;
    std::vector<double> position;
  };
  std::vector<TakenOver> taken_over(int64_t set);

  uint64_t leapfrogs() const { return leapfrogs_; }
  // Rounds of workgroups times the chains in them.
  uint64_t executed() const { return packing_->executed(); }
  uint64_t divergences() const { return divergences_; }
  uint64_t warmup_divergences() const { return warmup_divergences_; }
  int64_t slowest() const { return slowest_; }

 private:
  void open_outside();
  void allocate();
  void initialise();
  void plan_windows();
  void slice(int64_t limit, double share);
  void rounds_outside(int64_t limit, uint32_t rounds);
  void ask_again();
  void look(int64_t limit);
  void look_at_all();
  void refresh() const;  // of all chains' words, where only their summary is known
  void check_failures();
  std::vector<Argument> arguments(int64_t limit, uint32_t rounds, uint64_t first_team) const;
  void run_in_parts(int64_t limit, uint64_t teams, uint32_t rounds);
  double share_that_goes_on(int64_t limit) const;
  double turns(double share) const;
  void set_budget(double seconds, double share);
  void set_parts(double rounds);
  void set_beat(uint64_t leaves, uint64_t transitions);
  struct Dispatch {
    uint64_t teams = 0;
    uint32_t rounds = 0;
  };
  void place(int64_t limit, Dispatch& dispatch);
  int64_t rows_until(int64_t iteration) const;
  // Reads the numbers of all chains, lets `change` change them and the words, and writes both back.
  void edit(const std::function<void(ChainNumbers&)>& change);
  std::span<uint32_t> words_of(int64_t chain) {
    return std::span(seen_).subspan(static_cast<size_t>(chain) * word_count, word_count);
  }
  // The estimates of a data set's chains become one metric for all of them; the search for step sizes starts
  // at their geometric mean.
  void pool_adaptation();
  void pool_steps();

  const stats::ModelState& model_;
  SampleOptions options_;
  Choice choice_;
  Forced forced_;
  std::shared_ptr<Device> device_;
  int64_t chains_ = 0, sets_ = 1;
  std::vector<DataSet> data_sets_;
  std::shared_ptr<Density> density_;
  std::shared_ptr<NutsKernel> kernel_;
  std::shared_ptr<const Kernel> compiled_;
  std::optional<Packing> packing_;
  std::string layout_;
  uint64_t teams_ = 0;  // of a dispatch of all chains
  int64_t chains_a_team_ = 1;
  int64_t groups_ = 1;
  bool is_placed_ = false;  // chains lie in vectors or share teams, and are placed anew for each dispatch
  uint64_t places_a_team_ = 1;
  bool sampling_ = false;  // some dispatch began after warm-up
  BoundData data_;
  std::unique_ptr<OutsideDensity> outside_;  // where the density is computed outside of the kernel
  Buffer state_, words_, rows_, places_;
  int64_t ring_ = 1, save_from_ = 0;
  uint32_t init_buffer_ = 75, term_buffer_ = 50, window_ = 25;
  bool adapts_metric_ = true;
  std::vector<int64_t> pauses_;         // iterations at which pooled adaptation joins the chains
  mutable std::vector<uint32_t> seen_;  // the words of all chains
  mutable bool is_stale_ = false;       // the words, since the last summary
  uint32_t budget_ = 0, beat_ = 1;
  uint64_t parts_ = 1;                    // that a dispatch of all chains goes by
  std::optional<Summariser> summariser_;  // where chains are many
  std::optional<Pooler> pooler_;          // and adapt together
  std::optional<Summary> summary_;        // the last one, of
  int64_t summary_limit_ = 0;             // that iteration
  uint32_t longest_run_ = 0;              // rounds of the last dispatch
  uint64_t leapfrogs_ = 0, divergences_ = 0, warmup_divergences_ = 0;
  int64_t slowest_ = 0;
  std::function<bool()> should_stop_;
};

}  // namespace adit::sampling
