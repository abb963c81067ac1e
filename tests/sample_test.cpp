// Runs of the sampler as callers drive them: starts, stops, checkpoints, many data sets, and what goes wrong.
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <adit/ops.hpp>
#include <adit/sample.hpp>

#include "devices.hpp"
#include "sample/files/checkpoint.hpp"
#include "sample/run.hpp"

namespace adit {
namespace {

namespace fs = std::filesystem;
using sampling::forced;

// Each variable on its own scale, one of them bounded by another.
Model small_model(double shift = 0) {
  Model model("small");
  const Plate row = model.plate("row", 3);
  const Tensor mu = model.sample("mu", normal(1, 2));
  const Tensor sigma = model.sample("sigma", exponential(0.5));
  const Tensor theta = model.sample("theta", normal(mu, sigma), {row});
  const Tensor top = model.parameter("top", constraint::lower(sigma));
  model.add_log_density("top_prior", -top);
  model.deterministic("twice", 2 * theta);
  model.observe("y", normal(theta, model.data("error", tensor<double>({0.5, 1, 2}))),
                tensor<double>({1 + shift, 2 + shift, 4 + shift}));
  return model;
}

SampleOptions few() {
  SampleOptions options;
  options.device = "cpu";
  options.chains = 3;
  options.warmup = 120;
  options.draws = 80;
  return options;
}

// The same bits everywhere, NaN included.
bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 8) == 0);
}

void expect_same(const Draws& a, const Draws& b) {
  ASSERT_EQ(a.draws, b.draws);
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t i = 0; i < a.variables.size(); ++i)
    EXPECT_TRUE(same(a.variables[i].values, b.variables[i].values)) << a.variables[i].name;
  EXPECT_TRUE(same(a.stats.lp, b.stats.lp));
  EXPECT_TRUE(same(a.stats.energy, b.stats.energy));
  EXPECT_TRUE(same(a.stats.n_leapfrog, b.stats.n_leapfrog));
  EXPECT_EQ(a.step_sizes, b.step_sizes);
  EXPECT_EQ(a.inverse_metrics, b.inverse_metrics);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_error(const std::function<void()>& work, const std::string& part) {
  const std::string text = error_of(work);
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
}

class SampleTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "adit-sample-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override {
    forced = {};
    fs::remove_all(root_);
  }
  std::string checkpoint() const { return (root_ / "checkpoint").string(); }
  fs::path root_;
};

// Stops once `iteration` is reached by all chains.
SampleOptions stopping(SampleOptions options, int64_t iteration) {
  auto seen = std::make_shared<int64_t>(0);
  options.on_progress = [seen](const Progress& now) { *seen = now.iteration; };
  options.should_stop = [seen, iteration] { return *seen >= iteration; };
  return options;
}

class SampleOnDevice : public test::OnDevice {
 protected:
  void TearDown() override { forced = {}; }
};

TEST_P(SampleOnDevice, the_same_bits_whatever_the_slicing) {
  SampleOptions options = few();
  options.device = GetParam();
  const bool slow = GetParam() != "cpu";  // a software GPU compiles for seconds
  if (slow) options.warmup = 40, options.draws = 20;
  const Draws whole = sample(small_model(), options);
  for (const Metric metric : {Metric::diagonal, Metric::dense}) {
    if (slow && metric == Metric::dense) continue;
    options.metric = metric;
    forced = {};
    const Draws first = metric == Metric::diagonal ? whole : sample(small_model(), options);
    forced = {.budget = metric == Metric::diagonal ? 7u : 13u, .ring = 5};
    expect_same(first, sample(small_model(), options));
  }
  options.metric = Metric::diagonal;
  options.seed = 2;
  EXPECT_FALSE(same(whole.variables[0].values, sample(small_model(), options).variables[0].values));
}

TEST_P(SampleOnDevice, a_stopped_run_goes_on) {
  SampleOptions options = few();
  options.device = GetParam();
  options.precision = Precision::f32;
  options.warmup = 40;
  options.draws = 20;
  const Draws whole = sample(small_model(), options);
  const fs::path path = fs::temp_directory_path() / ("adit-sample-" + std::to_string(::getpid()));
  options.checkpoint = path.string();
  forced = {.budget = 30};
  EXPECT_FALSE(sample(small_model(), stopping(options, 45)).finished);
  options.resume = true;
  expect_same(whole, sample(small_model(), options));
  fs::remove(path);
}
INSTANTIATE_TEST_SUITE_P(, SampleOnDevice, testing::ValuesIn(test::device_ids()), test::test_name);

TEST_F(SampleTest, draws_tell_what_they_are) {
  const Draws draws = sample(small_model(), few());
  ASSERT_EQ(draws.variables.size(), 5u);
  EXPECT_EQ(draws.variable("theta").dims, std::vector<std::string>{"row"});
  const auto& theta = draws.variable("theta").values;
  const auto& twice = draws.variable("twice").values;
  ASSERT_EQ(theta.size(), 3u * 80 * 3);
  for (size_t i = 0; i < theta.size(); ++i) EXPECT_EQ(twice[i], 2 * theta[i]);
  for (size_t i = 0; i < draws.variable("top").values.size(); ++i)
    EXPECT_GT(draws.variable("top").values[i], draws.variable("sigma").values[i]);
  ASSERT_EQ(draws.observed.size(), 1u);
  EXPECT_EQ(draws.observed[0].name, "y");
  EXPECT_EQ(draws.observed[0].values, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(draws.observed[0].dims, std::vector<std::string>{"row"});
  EXPECT_EQ(draws.metric, "diag");
  EXPECT_TRUE(draws.finished);
}

// --- Starts ------------------------------------------------------------------------------------------------

using Values = std::map<std::string, std::vector<double>>;

// Where a chain was before its first transition: steps of no length leave it there.
Draws at_start(SampleOptions options) {
  options.warmup = 0;
  options.draws = 1;
  options.step_size = 1e-300;
  options.max_depth = 1;
  return sample(small_model(), options);
}

TEST_F(SampleTest, chains_start_where_they_are_told) {
  SampleOptions options = few();
  const Values one{{"mu", {0.5}}, {"sigma", {3}}, {"theta", {1, -2, 5}}, {"top", {3.25}}};
  options.init = {one};
  Draws draws = at_start(options);
  for (const auto& [name, values] : one)
    for (size_t chain = 0; chain < 3; ++chain)
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(draws.variable(name).values[chain * values.size() + i], values[i], 1e-12) << name;

  // One a chain, with the rest drawn as without them.
  options.init = {{}, {{"theta", {7, 8, 9}}}, {{"sigma", {0.25}}, {"top", {0.5}}}};
  const Draws mixed = at_start(options);
  options.init.clear();
  const Draws free = at_start(options);
  for (const char* name : {"mu", "sigma", "theta", "top"}) {
    const size_t size = static_cast<size_t>(free.variable(name).size());
    for (size_t i = 0; i < 3 * size; ++i) {
      const std::string variable = name;
      double expected = free.variable(name).values[i];
      if (i / size == 1 && variable == "theta") expected = 7 + static_cast<double>(i % size);
      if (i / size == 2 && variable == "sigma") expected = 0.25;
      if (i / size == 2 && variable == "top") expected = 0.5;
      EXPECT_NEAR(mixed.variable(name).values[i], expected, 1e-12) << name << " " << i;
    }
  }
  options.init_radius = 0;
  draws = at_start(options);
  for (size_t chain = 0; chain < 3; ++chain) {
    EXPECT_NEAR(draws.variable("mu").values[chain], 0, 1e-12);
    EXPECT_NEAR(draws.variable("sigma").values[chain], 1, 1e-12);
  }
}

TEST_F(SampleTest, wrong_starts_are_refused) {
  const auto with = [&](const Values& values) {
    return [values] {
      SampleOptions options = few();
      options.init = {values};
      sample(small_model(), options);
    };
  };
  expect_error(with({{"muu", {1}}}),
               "[sample] init: expected variables among mu, sigma, theta, top, got \"muu\"");
  expect_error(with({{"theta", {1, 2}}}), "[sample] init: expected 3 numbers for theta");
  expect_error(with({{"sigma", {-1}}}), "[sample] init: expected a number of at least 0 for sigma, got -1");
  expect_error(with({{"sigma", {0}}}),
               "[sample] init: expected a number of at least 0 for sigma, not on the bound");
  expect_error(with({{"sigma", {2}}, {"top", {1}}}), "[sample] init: expected");
  expect_error(with({{"mu", {NAN}}}), "[sample] init: expected");
  expect_error(
      [] {
        SampleOptions options = few();
        options.init = {{}, {}};
        sample(small_model(), options);
      },
      "[sample] init: expected one or 3, got 2");
}

// Independent numbers of very distinct scales: without their metric a step fits none but the smallest.
Model scales() {
  Model model("scales");
  model.sample("x", normal(0, tensor<double>({0.01, 1, 100})));
  return model;
}

TEST_F(SampleTest, a_warm_start_takes_over) {
  for (const Metric metric : {Metric::diagonal, Metric::dense}) {
    SampleOptions options = few();
    options.warmup = 300;
    options.metric = metric;
    const Draws first = sample(scales(), options);
    options.warm_start = {first.step_sizes, first.inverse_metrics};
    options.warmup = 0;
    options.init = {{{"x", {0, 0, 0}}}};
    const Draws next = sample(scales(), options);
    EXPECT_EQ(next.step_sizes, first.step_sizes);
    EXPECT_EQ(next.inverse_metrics, first.inverse_metrics);
    for (size_t i = 0; i < next.stats.step_size.size(); ++i)
      EXPECT_EQ(next.stats.step_size[i], first.step_sizes[i / 80]);
    double accepted = 0;
    for (const double a : next.stats.accept_stat) accepted += a / 240;
    EXPECT_NEAR(accepted, 0.85, 0.1);
    for (const double count : next.stats.n_leapfrog) EXPECT_LE(count, 15);
    // Short of a window the metric stays, the step size is learnt.
    options.warmup = 15;
    options.warm_start.step_sizes = {first.step_sizes[1]};
    const Draws warmed = sample(scales(), options);
    EXPECT_EQ(warmed.inverse_metrics, first.inverse_metrics);
    EXPECT_NE(warmed.step_sizes, next.step_sizes);
    for (const double count : warmed.stats.n_leapfrog) EXPECT_LE(count, 15);
    // After one iteration dual averaging has moved from ten times the step size by what was accepted.
    options.warmup = 1;
    options.save_warmup = true;
    const Draws once = sample(scales(), options);
    for (size_t chain = 0; chain < 3; ++chain)
      EXPECT_NEAR(
          std::log(once.step_sizes[chain]),
          std::log(10 * first.step_sizes[1]) - (0.8 - once.warmup_stats.accept_stat[chain]) / 11 / 0.05,
          1e-9);
  }
  SampleOptions options = few();
  options.warm_start.inverse_metrics = {{1, 2}};
  expect_error([&] { sample(small_model(), options); },
               "[sample] warm_start.inverse_metrics: expected 6 numbers, got 2");
  options.warm_start.inverse_metrics = {{1, 1, 1, -1, 1, 1}};
  expect_error([&] { sample(small_model(), options); }, "expected a positive definite one");
  options.warm_start = {{0.0}, {}};
  expect_error([&] { sample(small_model(), options); },
               "[sample] warm_start.step_sizes: expected a positive number");
}

// --- Stops and checkpoints ---------------------------------------------------------------------------------

TEST_F(SampleTest, progress_comes_and_a_stop_keeps_the_draws) {
  forced.budget = 50;
  SampleOptions options = few();
  std::vector<Progress> seen;
  options.on_progress = [&](const Progress& now) { seen.push_back(now); };
  const Draws whole = sample(small_model(), options);
  ASSERT_GT(seen.size(), 5u);
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GE(seen[i].iteration, seen[i - 1].iteration);
    EXPECT_GT(seen[i].leapfrogs, seen[i - 1].leapfrogs);
    EXPECT_EQ(seen[i].iterations, 200);
    EXPECT_EQ(seen[i].warmup, 120);
  }
  EXPECT_EQ(seen.back().iteration, 200);
  EXPECT_EQ(seen.back().leapfrogs, whole.leapfrogs);

  const Draws half = sample(small_model(), stopping(few(), 150));
  EXPECT_FALSE(half.finished);
  ASSERT_GE(half.draws, 30);
  ASSERT_LT(half.draws, 80);
  for (int64_t chain = 0; chain < 3; ++chain)
    for (int64_t draw = 0; draw < half.draws; ++draw)
      EXPECT_EQ(half.variables[0].values[static_cast<size_t>(chain * half.draws + draw)],
                whole.variables[0].values[static_cast<size_t>(chain * 80 + draw)]);
  const Draws none = sample(small_model(), stopping(few(), 10));
  EXPECT_FALSE(none.finished);
  EXPECT_EQ(none.draws, 0);
}

TEST_F(SampleTest, a_stopped_run_goes_on_to_the_same_draws) {
  for (const bool warmup_rows : {false, true})
    for (const Adapt adapt : {Adapt::chain, Adapt::pooled})
      for (const int64_t stop : {1, 60, 95, 119, 121, 170}) {
        SampleOptions options = few();
        options.thin = 2;
        options.save_warmup = warmup_rows;
        options.adapt = adapt;
        forced = {};
        const Draws whole = sample(small_model(), options);
        forced = {.budget = 11, .ring = warmup_rows ? 9 : 0, .checkpoint_seconds = 0.001};
        options.checkpoint = checkpoint();
        const Draws broken = sample(small_model(), stopping(options, stop));
        EXPECT_FALSE(broken.finished) << stop;
        options.resume = true;
        const Draws again = sample(small_model(), stopping(options, stop + 7));
        EXPECT_FALSE(again.finished) << stop;
        forced = {};
        const Draws rest = sample(small_model(), options);
        EXPECT_TRUE(rest.finished);
        expect_same(whole, rest);
        EXPECT_EQ(rest.warmup_draws, warmup_rows ? 60 : 0);
        EXPECT_TRUE(same(whole.warmup_stats.lp, rest.warmup_stats.lp));
        expect_same(whole, sample(small_model(), options));  // a finished one is read
      }
}

TEST_F(SampleTest, a_resumed_run_may_ask_for_more_draws) {
  SampleOptions options = few();
  options.checkpoint = checkpoint();
  sample(small_model(), options);
  options.resume = true;
  options.draws = 130;
  const Draws more = sample(small_model(), options);
  SampleOptions at_once = few();
  at_once.draws = 130;
  expect_same(sample(small_model(), at_once), more);
  options.draws = 20;
  const Draws fewer = sample(small_model(), options);
  EXPECT_EQ(fewer.draws, 20);
  EXPECT_EQ(fewer.variables[0].values[21], more.variables[0].values[131]);
}

TEST_F(SampleTest, another_run_is_not_gone_on_with) {
  SampleOptions options = few();
  options.checkpoint = checkpoint();
  sample(small_model(), stopping(options, 150));
  options.resume = true;
  const auto changed = [&](const std::function<void(SampleOptions&)>& change) {
    SampleOptions other = options;
    change(other);
    return [other] { sample(small_model(), other); };
  };
  expect_error(changed([](auto& o) { o.seed = 9; }),
               "[sample] resume: expected seed 1 as in " + checkpoint());
  expect_error(changed([](auto& o) { o.chains = 4; }), "resume: expected ");
  expect_error(changed([](auto& o) { o.warmup = 100; }), "resume: expected warmup 120");
  expect_error(changed([](auto& o) { o.adapt_delta = 0.9; }), "resume: expected adapt_delta 0.8");
  expect_error(changed([](auto& o) { o.precision = Precision::f32; }), "resume: expected ");
  expect_error(changed([](auto& o) { o.init = {{{"mu", {1.0}}}}; }), "resume: expected init and warm_start");
  expect_error(changed([](auto& o) { o.checkpoint += "-none"; }), "checkpoint-none");
  expect_error(changed([](auto& o) { o.checkpoint = ""; }), "[sample] resume: expected the path");
  expect_error([&] { sample(small_model(0.5), options); }, "resume: expected data ");
  Model other("small");
  other.sample("mu", normal(0, 1));
  expect_error([&] { sample(other, options); }, "resume: expected variables ");
  EXPECT_TRUE(sample(small_model(), options).finished);  // and none of these did it harm
}

// A process of its own, which starts this test anew: threads of a device do not survive a fork. Both must
// mean the same file.
class SampleProcessTest : public SampleTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SampleTest::SetUp();
    ::setenv("ADIT_TEST_CHECKPOINT", checkpoint().c_str(), 0);
    options_.checkpoint = std::getenv("ADIT_TEST_CHECKPOINT");
    options_.draws = 400;
  }
  void TearDown() override {
    ::unsetenv("ADIT_TEST_CHECKPOINT");
    SampleTest::TearDown();
  }
  Draws whole() const {
    SampleOptions options = options_;
    options.checkpoint = "";
    options.resume = false;
    return sample(small_model(), options);
  }
  SampleOptions options_ = few();
};

// A run that is killed; and what is left cut off at other places.
TEST_F(SampleProcessTest, a_killed_run_goes_on) {
  const auto run = [&] {
    forced = {.budget = 9, .checkpoint_seconds = 0};
    options_.on_progress = [](const Progress& now) {
      if (now.iteration > 300) ::raise(SIGKILL);
    };
    sample(small_model(), options_);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGKILL), "");
  options_.resume = true;
  const Draws expected = whole();
  const auto size = fs::file_size(checkpoint());
  const fs::path copy = root_ / "copy";
  fs::copy_file(checkpoint(), copy);
  for (const auto cut : {size, size - 1, size - size / 5, size / 2}) {
    fs::copy_file(copy, checkpoint(), fs::copy_options::overwrite_existing);
    fs::resize_file(checkpoint(), cut);
    expect_same(expected, sample(small_model(), options_));
  }
}

TEST_F(SampleProcessTest, a_full_disk_is_named_and_the_draws_stay) {
  const auto run = [&] {
    sampling::forced = {.budget = 9, .checkpoint_seconds = 0};
    options_.on_progress = [](const Progress& now) {
      if (now.iteration < 200) return;
      // Files of this process may not grow further.
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit small{1 << 17, 1 << 17};
      ::setrlimit(RLIMIT_FSIZE, &small);
    };
    const std::string error = error_of([&] { sample(small_model(), options_); });
    std::fprintf(stderr, "%s\n", error.c_str());
    ::_exit(7);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(7),
              "adit-sample-.*/checkpoint: expected to write it, got: File too large");
  ASSERT_TRUE(read_checkpoint(checkpoint()).state.has_value());
  options_.resume = true;
  expect_same(whole(), sample(small_model(), options_));
}

TEST_F(SampleTest, a_checkpoint_that_cannot_be_written) {
  SampleOptions options = few();
  options.checkpoint = (root_ / "nowhere" / "checkpoint").string();
  expect_error([&] { sample(small_model(), options); }, options.checkpoint);
}

// --- Warm-up -----------------------------------------------------------------------------------------------

TEST_F(SampleTest, rows_of_warm_up_are_kept_apart) {
  SampleOptions options = few();
  const Draws plain = sample(small_model(), options);
  EXPECT_EQ(plain.warmup_draws, 0);
  options.save_warmup = true;
  const Draws both = sample(small_model(), options);
  expect_same(plain, both);
  EXPECT_EQ(both.warmup_draws, 120);
  ASSERT_EQ(both.warmup_variables.size(), 5u);
  EXPECT_EQ(both.warmup_variables[2].values.size(), 3u * 120 * 3);
  EXPECT_EQ(both.warmup_stats.step_size.size(), 3u * 120);
  options.thin = 7;  // which divides neither
  const Draws thinned = sample(small_model(), options);
  EXPECT_EQ(thinned.warmup_draws, 18);
  EXPECT_EQ(thinned.draws, 80);
  EXPECT_EQ(thinned.warmup_stats.lp[1], both.warmup_stats.lp[7]);
  EXPECT_EQ(thinned.stats.lp[1], both.stats.lp[7]);

  const std::string stem = (root_ / "run").string();
  write_csv(both, stem);
  const Draws read = read_draws({stem + "_1.csv", stem + "_2.csv", stem + "_3.csv"});
  EXPECT_EQ(read.draws, 80);
  EXPECT_TRUE(same(read.variables[0].values, both.variables[0].values));
}

// Chains that adapt together end with one metric, close to the variances; each still finds its step size.
TEST_F(SampleTest, pooled_adaptation) {
  const Model model = scales();
  for (const Metric metric : {Metric::diagonal, Metric::dense}) {
    SampleOptions options = few();
    options.chains = 16;
    options.warmup = 300;
    options.metric = metric;
    options.adapt = Adapt::pooled;
    const Draws draws = sample(model, options);
    const auto& metrics = draws.inverse_metrics;
    for (const auto& other : metrics) EXPECT_EQ(other, metrics[0]);
    for (size_t i = 0; i < 3; ++i) {
      const double sd = std::sqrt(metrics[0][metric == Metric::dense ? 4 * i : i]);
      EXPECT_NEAR(sd / std::pow(100, static_cast<double>(i) - 1), 1, 0.1) << i;
    }
    EXPECT_EQ(draws.step_sizes[0], draws.step_sizes[1]);
    forced = {.budget = 17};
    expect_same(draws, sample(model, options));
    forced = {};
  }
}

// --- Many data sets ----------------------------------------------------------------------------------------

TEST_F(SampleTest, many_data_sets_are_runs_of_their_own) {
  const std::map<std::string, Tensor> stacked{
      {"y", tensor<double>({{1, 2, 4}, {-5, 0, 3}, {100, 90, 80}})},
      {"error", tensor<double>({{0.5, 1, 2}, {1, 1, 1}, {2, 0.1, 3}})}};
  SampleOptions options = few();
  for (const Adapt adapt : {Adapt::chain, Adapt::pooled}) {
    options.adapt = adapt;
    options.chains = 3;
    const std::vector<Draws> many = sample_many(small_model(), stacked, options);
    ASSERT_EQ(many.size(), 3u);
    expect_same(sample(small_model(), options), many[0]);
    EXPECT_EQ(many[1].observed[0].values, (std::vector<double>{-5, 0, 3}));
    for (size_t i = 0; i < 240; ++i) {
      EXPECT_LT(std::abs(many[1].variable("mu").values[i]), 30);
      EXPECT_GT(many[2].variable("theta").values[3 * i + 1], 85);
    }
    if (adapt == Adapt::pooled) continue;
    // Random numbers go by the number of the chain in the whole run: chains 4 to 6 are the second set's.
    options.chains = 6;
    Model second = small_model();
    second.set_data("y", tensor<double>({-5, 0, 3}));
    second.set_data("error", tensor<double>({1, 1, 1}));
    const Draws alone = sample(second, options);
    for (const char* name : {"mu", "theta", "twice"}) {
      const auto& values = alone.variable(name).values;
      EXPECT_TRUE(
          same(std::vector<double>(values.begin() + static_cast<int64_t>(values.size() / 2), values.end()),
               many[1].variable(name).values))
          << name;
    }
    const auto& lp = alone.stats.lp;
    EXPECT_TRUE(same(std::vector<double>(lp.begin() + 240, lp.end()), many[1].stats.lp));
  }
}

TEST_F(SampleTest, wrong_data_sets_are_refused) {
  const auto with = [](std::map<std::string, Tensor> stacked) {
    return [stacked] { sample_many(small_model(), stacked, few()); };
  };
  expect_error(with({}), "[sample_many] stacked: expected data by name");
  expect_error(with({{"y", tensor<double>({{1, 2}, {3, 4}})}}),
               "[sample_many] data set 1: [set_data y] value");
  expect_error(with({{"z", tensor<double>({{1, 2, 3}})}}), "[sample_many] data set 1: [set_data z] name");
  expect_error(with({{"y", tensor<double>({{1, 2, 3}, {1, 2, NAN}})}}), "[sample_many] data set 2: ");
  Model nowhere("nowhere");
  const Tensor low = nowhere.data("low", tensor(1.0));
  nowhere.add_log_density("root", sqrt(low - square(nowhere.sample("x", normal(0, 1)))));
  expect_error(
      [&] {
        sample_many(nowhere, {{"low", tensor<double>({9, -1})}}, few());
      },
      "[sample nowhere] data set 2, chain 1: expected a start point with a finite log density and "
      "gradient, found none in 100 attempts; at the last one root is NaN");
  expect_error(with({{"y", tensor<double>({{1, 2, 3}})}, {"error", tensor<double>({{1, 2, 3}, {1, 2, 3}})}}),
               "[sample_many] y: expected 2 data sets");
}

// --- What cannot be sampled --------------------------------------------------------------------------------

TEST_F(SampleTest, bad_models_and_options) {
  expect_error([] { sample(Model("empty"), few()); }, "[sample] model: expected at least one variable");
  const auto with = [](const std::function<void(SampleOptions&)>& change) {
    SampleOptions options = few();
    change(options);
    return [options] { sample(small_model(), options); };
  };
  expect_error(with([](auto& o) { o.chains = 0; }), "[sample] chains: expected at least 1, got 0");
  expect_error(with([](auto& o) { o.draws = 0; }), "[sample] draws: expected at least 1, got 0");
  expect_error(with([](auto& o) { o.adapt_delta = 1; }), "[sample] adapt_delta");
  expect_error(with([](auto& o) { o.device = "gpu7"; }), "gpu7");

  Model nowhere("nowhere");
  const Tensor x = nowhere.sample("x", normal(0, 1));
  nowhere.add_log_density("root", sqrt(-1 - x * x));
  expect_error([&] { sample(nowhere, few()); }, "root is NaN");
  SampleOptions one = few();
  one.init = {{{"x", {0.5}}}};
  expect_error([&] { sample(nowhere, one); }, "the only attempt");

  Model flat("flat");
  flat.add_log_density("nothing", 0 * flat.parameter("x", constraint::real()));
  expect_error([&] { sample(flat, few()); }, "improper");

  Model outside("outside");
  const Tensor rate = outside.sample("rate", exponential(1));
  expect_error(
      [&] {
        outside.observe("y", exponential(rate), tensor<double>({1, -1}));
      },
      "[observe y] value");
}

}  // namespace
}  // namespace adit
