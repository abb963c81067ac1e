#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include <adit/sample.hpp>

#include "sample/collect.hpp"
#include "sample/options.hpp"
#include "sample/run.hpp"

namespace adit {

using namespace sampling;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

const char* name_of(Metric metric) {
  return metric == Metric::dense ? "dense_e" : metric == Metric::unit ? "unit_e" : "diag_e";
}

// The parts of a run that are the same however its draws are kept.
class Session {
 public:
  Session(const Model& model, const SampleOptions& options, const std::vector<DataSet>& sets)
      : begin_(Clock::now()), model_(model.state()), options_(options) {
    check_options(model_, options);
    device_ = Device::open(options.device);
    seconds.open = since(begin_);
    const auto compile = Clock::now();
    choice_ = choose(model_, options, *device_);
    run_.emplace(model_, options, choice_, sets, device_);
    prepare_start(*run_, model_, options);
    seconds.compile = since(compile);
  }

  // All rows, chain after chain; fewer where the run was stopped.
  std::vector<double> rows() {
    const auto warm = Clock::now();
    bool going = advance(options_.warmup);
    seconds.warmup = since(warm);
    const auto sampling = Clock::now();
    const int64_t last = options_.warmup + options_.draws * options_.thin;
    const int64_t wanted = options_.draws + (options_.save_warmup ? options_.warmup / options_.thin : 0);
    std::vector<std::vector<double>> blocks;
    while (going && taken_ < wanted) {
      const int64_t saved_from = options_.save_warmup ? 0 : options_.warmup;
      going = advance(std::min(last, saved_from + (taken_ + run_->ring()) * options_.thin));
      const int64_t count = std::min(run_->saved(), wanted) - taken_;
      if (count > 0) blocks.push_back(run_->rows(taken_, count));
      taken_ += std::max<int64_t>(0, count);
    }
    seconds.sampling = since(sampling);
    finished_ = taken_ == wanted;
    return joined(blocks);
  }

  Draws describe(int64_t set) {
    Draws draws;
    draws.model = model_.name;
    draws.chains = options_.chains;
    draws.draws = taken_;
    draws.warmup = options_.warmup;
    draws.thin = options_.thin;
    draws.max_depth = options_.max_depth;
    draws.seed = options_.seed;
    draws.adapt_delta = options_.adapt_delta;
    draws.device = device_->info().id;
    draws.precision = choice_.type == DType::f64 ? "f64" : "f32";
    draws.metric = name_of(options_.metric);
    draws.inits = fmt::format("{}", options_.init_radius);
    for (const auto& [name, plate] : model_.plates) {
      auto& labels = draws.coordinates[name] = plate.coordinates;
      for (int64_t i = static_cast<int64_t>(labels.size()); i < plate.size; ++i)
        labels.push_back(std::to_string(i));
    }
    const Layout& layout = run_->kernel().layout;
    for (int64_t c = set * options_.chains; c < (set + 1) * options_.chains; ++c) {
      draws.step_sizes.push_back(run_->state_of(c, real_step, 1)[0]);
      draws.inverse_metrics.push_back(
          run_->state_of(c, layout.inverse_metric, layout.dense() ? layout.size * layout.size : layout.size));
    }
    draws.leapfrogs = run_->leapfrogs();
    draws.warmup_divergences = run_->warmup_divergences();
    draws.finished = finished_;
    draws.seconds = seconds;
    return draws;
  }

  double elapsed() const { return since(begin_); }
  Run& run() { return *run_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  int64_t taken() const { return taken_; }
  Seconds seconds;

 private:
  // To an iteration; pooled adaptation stops at the end of each window on the way.
  bool advance(int64_t iteration) {
    std::function<bool()> should_stop = options_.should_stop;
    const bool going = run_->advance(iteration);
    report();
    return going;
  }

  void report() {
    if (!options_.on_progress) return;
    options_.on_progress({run_->slowest(), options_.warmup + options_.draws * options_.thin, options_.warmup,
                          run_->leapfrogs(), run_->divergences(), elapsed()});
  }

  // Blocks are [chain][row]; so is what they are joined to.
  std::vector<double> joined(const std::vector<std::vector<double>>& blocks) const {
    if (blocks.size() == 1) return blocks[0];
    std::vector<double> all;
    const int64_t chains = run_->chains();
    for (int64_t c = 0; c < chains; ++c)
      for (const auto& block : blocks) {
        const auto part = static_cast<int64_t>(block.size()) / chains;
        all.insert(all.end(), block.begin() + c * part, block.begin() + (c + 1) * part);
      }
    return all;
  }

  Clock::time_point begin_;
  const stats::ModelState& model_;
  const SampleOptions& options_;
  std::shared_ptr<Device> device_;
  Choice choice_;
  std::optional<Run> run_;
  int64_t taken_ = 0;
  bool finished_ = true;
};

}  // namespace

Draws sample(const Model& model, const SampleOptions& options) {
  Session session(model, options, {DataSet{}});
  const std::vector<double> rows = session.rows();
  Draws draws = session.describe(0);
  collect_draws(model.state(), rows, session.run().data().constant, session.device(), draws);
  draws.seconds.total = session.elapsed();
  return draws;
}

}  // namespace adit
