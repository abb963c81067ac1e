// A run of the sampler's kernel on a device: its memory, its slices, what came out.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <adit/sample.hpp>

#include "sample/density/bind.hpp"
#include "sample/nuts/kernel.hpp"
#include "sample/shape.hpp"

namespace adit::sampling {

class Run {
 public:
  Run(const stats::ModelState& model, const SampleOptions& options, const Choice& choice,
      const std::vector<DataSet>& sets, std::shared_ptr<Device> device);

  int64_t chains() const { return chains_; }
  const NutsKernel& kernel() const { return *kernel_; }
  const Density& density() const { return *density_; }
  const BoundData& data() const { return data_; }

  // Brings every chain to `iteration`; false where `should_stop` ended it before. Throws where a chain
  // failed.
  bool advance(int64_t iteration);
  // The rows that all chains have from `first` on, at most `count`: [chain][row][stats + size].
  std::vector<double> rows(int64_t first, int64_t count);
  int64_t saved() const;  // rows that all chains have
  int64_t ring() const { return ring_; }

  std::vector<double> state_of(int64_t chain, int64_t offset, int64_t count);
  std::vector<uint32_t> words();  // of all chains
  // Everything that a run needs to go on; and back.
  std::vector<std::byte> save();
  void restore(std::span<const std::byte> bytes);
  // Start points on the unconstrained scale, one a chain or one for all.
  void start_at(const std::vector<std::vector<double>>& points);
  void set_metric(const WarmStart& warm);
  // The estimates of all chains joined into one metric for all; the step sizes' geometric mean.
  void pool_adaptation();

  uint64_t leapfrogs() const { return leapfrogs_; }
  uint64_t executed() const { return executed_; }  // rounds of workgroups times the chains in them
  uint64_t divergences() const { return divergences_; }
  uint64_t warmup_divergences() const { return warmup_divergences_; }
  int64_t slowest() const { return slowest_; }

 private:
  void allocate();
  void initialise();
  void slice(int64_t limit);
  void look();
  void check_failures();
  std::vector<Argument> arguments(int64_t limit) const;
  uint32_t next_budget() const;

  const stats::ModelState& model_;
  SampleOptions options_;
  Choice choice_;
  std::shared_ptr<Device> device_;
  int64_t chains_ = 0, sets_ = 1;
  std::shared_ptr<Density> density_;
  std::shared_ptr<NutsKernel> kernel_;
  std::shared_ptr<const Kernel> compiled_;
  uint32_t lanes_ = 1;
  BoundData data_;
  Buffer state_, words_, rows_;
  int64_t ring_ = 1, save_from_ = 0;
  uint32_t init_buffer_ = 75, term_buffer_ = 50, window_ = 25;
  bool adapts_metric_ = true;
  std::vector<uint32_t> seen_;  // the words of all chains
  uint32_t budget_ = 0;
  uint64_t leapfrogs_ = 0, executed_ = 0, divergences_ = 0, warmup_divergences_ = 0;
  int64_t slowest_ = 0;
  std::function<bool()> should_stop_;
};

}  // namespace adit::sampling
