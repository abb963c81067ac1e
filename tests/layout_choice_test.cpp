// Which layout a run takes: by costs, which a profile of the device scales, by the clock, and as before.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include <adit/checkpoint.hpp>
#include <adit/doctor.hpp>

#include "sample/candidates.hpp"
#include "sample/layout_text.hpp"
#include "sample/options.hpp"
#include "sample/placement.hpp"
#include "sample/settle.hpp"
#include "sample/speeds.hpp"
#include "sample/trial.hpp"
#include "sample_runs.hpp"
#include "sampling/random_model.hpp"

namespace adit {
namespace {

using namespace sampling;

// With a cache of its own, empty at first.
class LayoutChoice : public SampleTest {
 protected:
  void SetUp() override {
    SampleTest::SetUp();
    if (const char* before = std::getenv("ADIT_CACHE")) before_ = before;
    ::setenv("ADIT_CACHE", (root_ / "cache").c_str(), 1);
  }
  void TearDown() override {
    before_ ? ::setenv("ADIT_CACHE", before_->c_str(), 1) : ::unsetenv("ADIT_CACHE");
    SampleTest::TearDown();
  }
  std::optional<std::string> before_;
};

// Long enough to be worth trials, and stopped soon after them.
SampleOptions long_run() {
  SampleOptions options = few();
  options.chains = 40;
  options.warmup = 30;
  options.draws = 200'000;
  return options;
}

std::string kept(const Model& model, const SampleOptions& options) {
  return kept_layout(stats::state_of(model), options, 1, *Device::open("cpu"));
}

void expect_same_beginning(const Draws& a, const Draws& b) {
  const auto& x = a.variables[0].values;
  const auto& y = b.variables[0].values;
  const int64_t count = std::min(a.draws, b.draws);
  ASSERT_GT(count, 0);
  for (int64_t chain = 0; chain < a.chains; ++chain)
    for (int64_t draw = 0; draw < count; ++draw)
      ASSERT_EQ(x[static_cast<size_t>(chain * a.draws + draw)],
                y[static_cast<size_t>(chain * b.draws + draw)]);
}

TEST_F(LayoutChoice, a_long_run_times_what_is_close_and_the_next_takes_it) {
  const Model model = small_model();
  EXPECT_EQ(kept(model, long_run()), "");
  const Draws first = sample(model, stopping(long_run(), 50));
  EXPECT_EQ(kept(model, long_run()), first.layout);
  const Draws second = sample(model, stopping(long_run(), 50));
  EXPECT_EQ(second.layout, first.layout);
  expect_same_beginning(first, second);
  ::setenv("ADIT_CACHE", "", 1);
  SampleOptions forced = long_run();
  forced.layout = first.layout;
  const Draws third = sample(model, stopping(forced, 50));
  EXPECT_EQ(third.layout, first.layout);
  expect_same_beginning(first, third);
}

TEST_F(LayoutChoice, what_differs_is_kept_apart) {
  const Model model = small_model();
  sample(model, stopping(long_run(), 31));
  const auto with = [&](const std::function<void(SampleOptions&)>& change) {
    SampleOptions options = long_run();
    change(options);
    return kept(model, options);
  };
  EXPECT_NE(with([](auto& o) { o.seed = 7; }), "");  // changes no kernel
  EXPECT_EQ(with([](auto& o) { o.chains = 41; }), "");
  EXPECT_EQ(with([](auto& o) { o.precision = Precision::f32; }), "");
  EXPECT_EQ(with([](auto& o) { o.metric = Metric::dense; }), "");
  EXPECT_EQ(with([](auto& o) { o.max_depth = 7; }), "");
  EXPECT_EQ(with([](auto& o) { o.adapt = Adapt::pooled; }), "");
  EXPECT_NE(kept(small_model(1), long_run()), "");  // other data of the same shape
  EXPECT_EQ(kept(test::RandomModel(1).make(), long_run()), "");
}

TEST_F(LayoutChoice, nothing_is_timed_that_cannot_be_kept_or_is_not_worth_it) {
  const Model model = small_model();
  const auto settled = [&](const SampleOptions& options) {
    return settled_layout(stats::state_of(model), options, {DataSet{}}, Device::open("cpu"),
                          std::chrono::steady_clock::now());
  };
  EXPECT_EQ(settled(few()), "");
  ::setenv("ADIT_CACHE", "", 1);
  EXPECT_EQ(settled(long_run()), "");
}

// Also one that nothing would choose.
TEST_F(LayoutChoice, a_run_that_goes_on_lies_as_it_lay) {
  SampleOptions options = few();
  options.layout = "team:16:buffer";
  const Draws whole = sample(small_model(), options);
  ASSERT_EQ(whole.layout, "team:16:buffer");
  options.checkpoint = checkpoint();
  const Forced often{.budget = 40, .checkpoint_seconds = 0};
  sample(small_model(), stopping(options, 150), often);
  options.resume = true;
  options.layout = "lane";
  expect_error([&] { sample(small_model(), options); }, "expected layout team:16:buffer as in");
  options.layout = "auto";
  const Draws rest = sample(small_model(), options);
  EXPECT_EQ(rest.layout, whole.layout);
  expect_same(rest, whole);
}

Model model_with_a_loop() {
  Model m("loop");
  const Tensor a = m.sample("a", beta(2, 2)), s = m.sample("s", exponential(1));
  std::vector<double> numbers;
  for (int i = 0; i < 60; ++i) numbers.push_back(std::sin(i));
  const Tensor y = m.data("y", tensor(numbers));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        const Tensor next = tanh(a * carry[0] + slices[0]);
        return {{next}, {next}};
      },
      {a}, {y});
  m.observe("y", normal(all.outputs[0], s), y);
  return m;
}

// Where memory is scarce; told, taken back, gone on with, and no other draws than those of all states in
// memory.
TEST_F(LayoutChoice, loops_in_blocks) {
  SampleOptions options = few(), short_ones = few();
  options.layout = "lane:1:array:blocks:50";
  short_ones.warmup = 0;  // so that rounding does not part them
  short_ones.draws = 3;
  short_ones.step_size = 1e-3;
  short_ones.max_depth = 2;
  short_ones.layout = "lane:1:array";
  const Draws kept = sample(model_with_a_loop(), short_ones);
  ASSERT_EQ(kept.layout, "lane:1:array");
  short_ones.layout = options.layout;
  const Draws computed = sample(model_with_a_loop(), short_ones);
  ASSERT_EQ(computed.layout, options.layout);
  for (size_t i = 0; i < kept.stats.lp.size(); ++i)
    EXPECT_NEAR(computed.stats.lp[i], kept.stats.lp[i], 1e-9 * std::abs(kept.stats.lp[i]));
  const Draws whole = sample(model_with_a_loop(), options);
  options.checkpoint = checkpoint();
  sample(model_with_a_loop(), stopping(options, 150), Forced{.budget = 40, .checkpoint_seconds = 0});
  EXPECT_GT(draws_so_far(options.checkpoint, model_with_a_loop(), Device::open("cpu")).draws, 0);
  options.resume = true;
  options.layout = "auto";
  const Draws rest = sample(model_with_a_loop(), options);
  EXPECT_EQ(rest.layout, whole.layout);
  expect_same(rest, whole);
  options.layout = "lane:1:array:blocks:0";
  expect_error([&] { sample(model_with_a_loop(), options); }, "[sample] layout: expected a number from 1");
}

TEST_F(LayoutChoice, candidates_come_by_their_costs) {
  const auto device = Device::open("cpu");
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const int64_t chains : {1, 3, 16, 1000}) {
      const Model model = test::RandomModel(seed).make();
      const auto all = candidates(stats::state_of(model), DType::f64, chains, *device);
      ASSERT_FALSE(all.empty());
      for (size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i].microseconds, all[i - 1].microseconds);
      for (const Candidate& each : all)
        EXPECT_TRUE(each.choice.by_team || each.choice.outside || each.choice.lanes <= chains);
    }
}

// Many threads are no help to steps that follow each other: what goes on in a loop stays in a kernel.
TEST_F(LayoutChoice, loops_do_not_go_to_the_engine_of_many_threads) {
  Limits limits = Device::open("cpu")->limits();
  limits.processors = 64;
  const Demand loop{.chains = 4, .size = 5, .work = 500000, .serial = 499000, .steps = 499000};
  const Demand flat{.chains = 4, .size = 5, .work = 500000, .passes = {{100000, 5}}};
  const auto engine_wins = [&](const Demand& demand) {
    const double engine = host_microseconds(demand, limits, {});
    return engine < vectors_microseconds(demand, 8, limits, {}) &&
           engine < lane_microseconds(demand, 1, 8, limits, {});
  };
  EXPECT_FALSE(engine_wins(loop));
  EXPECT_TRUE(engine_wins(flat));
}

// Threads that take time away for as long as it lives.
class BusyMachine {
 public:
  explicit BusyMachine(unsigned threads) {
    for (unsigned k = 0; k < threads; ++k)
      threads_.emplace_back([this] {
        while (!done_) std::atomic_signal_fence(std::memory_order_seq_cst);
      });
  }
  ~BusyMachine() {
    done_ = true;
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

// By the clock on the wall it would be an eighth and less of the pace of an idle one.
TEST_F(LayoutChoice, a_busy_machine_sees_the_pace_of_an_idle_one) {
  const auto device = Device::open("cpu");
  const Model model = small_model();
  const SampleOptions options = long_run();
  for (const bool by_team : {false, true}) {
    const Choice choice{.type = DType::f64, .by_team = by_team, .on_cpu = true};
    sampling::Run run(stats::state_of(model), options, choice, {DataSet{}}, device, Forced{.budget = 256});
    prepare_start(run, stats::state_of(model), options);
    const int64_t limit = run.saved_from() + run.ring();
    pace_of(run, limit, 0.01, *device);  // what runs first pays for cold memory
    const double idle = pace_of(run, limit, 0.01, *device);
    const BusyMachine others(8 * device->limits().processors);
    const double busy = pace_of(run, limit, 0.01, *device);
    EXPECT_GT(busy, 0.4 * idle) << by_team;
  }
}

TEST_F(LayoutChoice, a_profile_scales_the_costs) {
  const auto device = Device::open("cpu");
  EXPECT_EQ(speeds_of(*device).step, 1);
  Profile profile;
  profile.step_ns = 20;
  profile.memory_gbs = 5;
  save_profile(device->info(), profile);
  const double slow = speeds_of(*device).step;
  const double memory = speeds_of(*device).memory;
  EXPECT_EQ(speeds_of(*device).launch, 1);
  profile.step_ns = 5;
  profile.memory_gbs = 20;
  save_profile(device->info(), profile);
  EXPECT_DOUBLE_EQ(slow, 4 * speeds_of(*device).step);
  EXPECT_DOUBLE_EQ(memory, 4 * speeds_of(*device).memory);
}

}  // namespace
}  // namespace adit
