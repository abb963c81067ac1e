// Runs of the sampler as callers drive them: slicing, warm-up, many data sets, and what goes wrong.
#include <algorithm>
#include <cmath>
#include <sys/resource.h>

#include <adit/sample_memory.hpp>

#include "devices.hpp"
#include "sample_runs.hpp"

namespace adit {
namespace {

class SampleOnDevice : public test::OnDevice {};

TEST_P(SampleOnDevice, the_same_bits_whatever_the_slicing) {
  SampleOptions options = few();
  options.device = GetParam();
  const bool slow = GetParam() != "cpu";  // a software GPU compiles for seconds
  if (slow) options.warmup = 40, options.draws = 20;
  const Draws whole = sample(small_model(), options);
  for (const Metric metric : {Metric::diagonal, Metric::dense}) {
    if (slow && metric == Metric::dense) continue;
    options.metric = metric;
    const Draws first = metric == Metric::diagonal ? whole : sample(small_model(), options);
    const Forced forced{.budget = metric == Metric::diagonal ? 7u : 13u, .ring = 5};
    expect_same(first, sample(small_model(), options, forced));
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
  const Forced forced{.budget = 30};
  EXPECT_FALSE(sample(small_model(), stopping(options, 45), forced).finished);
  options.resume = true;
  expect_same(whole, sample(small_model(), options, forced));
  fs::remove(path);
}
// A run that is stopped soon after warm-up goes on to the same draws.
void expect_goes_on(const Draws& whole, SampleOptions options, const Forced& forced) {
  const fs::path path = fs::temp_directory_path() / ("adit-goes-on-" + std::to_string(::getpid()));
  options.checkpoint = path.string();
  EXPECT_FALSE(sample(small_model(), stopping(options, options.warmup + 2), forced).finished);
  options.resume = true;
  expect_same(whole, sample(small_model(), options, forced));
  fs::remove(path);
}

// Many chains are looked at in a few numbers, which changes nothing: neither draws nor what a stopped run
// goes on from, nor what adapts together.
TEST_P(SampleOnDevice, summaries_change_nothing) {
  SampleOptions options = few();
  options.device = GetParam();
  options.warmup = 30;
  options.draws = 10;
  options.placement = Placement::team;  // vectors of a CPU are placed by each chain's words
  for (const Adapt adapt : {Adapt::chain, Adapt::pooled}) {
    options.adapt = adapt;
    const Draws whole = sample(small_model(), options);
    const Forced forced{.budget = 5, .ring = 4, .summarises = true};
    const Draws summed = sample(small_model(), options, forced);
    expect_same(whole, summed);
    EXPECT_EQ(whole.leapfrogs, summed.leapfrogs);
    EXPECT_EQ(whole.warmup_divergences, summed.warmup_divergences);
    expect_goes_on(whole, options, forced);
  }
}

// Parts of the chains, one after the other, give what all at once give; and so does a run that is stopped
// between them.
TEST_P(SampleOnDevice, parts_change_nothing) {
  if (!test::has_turn_on(test::device(GetParam()), 2)) GTEST_SKIP() << test::other_turn;
  SampleOptions options = few();
  options.device = GetParam();
  options.chains = 200;
  options.warmup = 25;
  options.draws = 5;
  for (const Placement placement : {Placement::lane, Placement::team}) {
    options.placement = placement;
    const Draws whole = sample(small_model(), options);
    const Forced forced{.budget = 40, .parts = 3};
    expect_same(whole, sample(small_model(), options, forced));
    expect_goes_on(whole, options, forced);
  }
}

// The density between dispatches: slices, a stop in the middle of a tree and pooled adaptation change
// nothing.
TEST_P(SampleOnDevice, across_the_device) {
  SampleOptions options = few();
  options.device = GetParam();
  options.placement = Placement::device;
  options.warmup = 40;
  options.draws = 20;
  if (GetParam() != "cpu") options.chains = 2, options.warmup = 25, options.draws = 5;
  for (const Adapt adapt : {Adapt::chain, Adapt::pooled}) {
    options.adapt = adapt;
    const Draws whole = sample(small_model(), options);
    expect_same(whole, sample(small_model(), options, Forced{.budget = 7, .at_once = 1, .ring = 5}));
    expect_goes_on(whole, options, Forced{.budget = 3});
  }
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

// What is left of it is the energy of motion: half of the number of parameters on the average, wherever the
// log density has its zero.
TEST_F(SampleTest, energies_are_those_of_the_draws) {
  Model model("far");
  const Tensor x = model.sample("x", normal(0, 1), {model.plate("row", 8)});
  model.observe("y", normal(sum(x), 1e-3), tensor<double>(std::vector<double>(100, 0.5)));
  for (const char* name : {"none", "much"}) {
    model.add_log_density(name, full({}, std::string(name) == "much" ? 1000 : 0, DType::f64));
    const Draws draws = sample(model, few());
    const SampleStats& stats = draws.stats;
    double motion = 0;
    for (size_t i = 0; i < stats.lp.size(); ++i) {
      EXPECT_GE(stats.energy[i] + stats.lp[i], -1e-6) << i;
      motion += (stats.energy[i] + stats.lp[i]) / static_cast<double>(stats.lp.size());
    }
    EXPECT_NEAR(motion, 4, 2);
  }
}

// --- Warm-up -----------------------------------------------------------------------------------------------

// A constraint is what its functions do; its name is for messages.
TEST_F(SampleTest, the_name_of_a_constraint_means_nothing) {
  Constraint above = constraint::lower(3);
  above.name = "real";
  Constraint anywhere = constraint::real();
  anywhere.name = "free";
  Model model;
  const Tensor x = model.parameter("x", above), y = model.parameter("y", anywhere);
  model.add_log_density("priors", -square(x) / 2 - square(y) / 2);
  const Draws draws = sample(model, few());
  for (const double value : draws.variable("x").values) EXPECT_GT(value, 3);
  EXPECT_TRUE(std::ranges::any_of(draws.variable("y").values, [](double value) { return value < 0; }));
}

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
    expect_same(draws, sample(model, options, {.budget = 17}));
  }
}

// --- Many data sets ----------------------------------------------------------------------------------------

TEST_F(SampleTest, many_data_sets_are_runs_of_their_own) {
  const std::map<std::string, Tensor> stacked{
      {"y", tensor<double>({{1, 2, 4}, {-5, 0, 3}, {100, 90, 80}})},
      {"error", tensor<double>({{0.5, 1, 2}, {1, 1, 1}, {2, 0.1, 3}})}};
  SampleOptions options = few();
  options.posterior_predictive = true;
  for (const auto& [adapt, placement] : {std::pair{Adapt::chain, Placement::automatic},
                                         {Adapt::pooled, Placement::automatic},
                                         {Adapt::chain, Placement::device}}) {
    options.adapt = adapt;
    options.placement = placement;
    options.chains = 3;
    options.layout = "";
    const std::vector<Draws> many = sample_many(small_model(), stacked, options);
    ASSERT_EQ(many.size(), 3u);
    options.layout = many[0].layout;  // which goes by how many chains there are
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
    const auto second_half = [](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + static_cast<int64_t>(all.size() / 2), all.end());
    };
    for (const char* name : {"mu", "theta", "twice"})
      EXPECT_TRUE(same(second_half(alone.variable(name).values), many[1].variable(name).values)) << name;
    EXPECT_TRUE(same(second_half(alone.stats.lp), many[1].stats.lp));
    EXPECT_TRUE(
        same(second_half(alone.posterior_predictive[0].values), many[1].posterior_predictive[0].values));
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

// --- Memory ------------------------------------------------------------------------------------------------

Model many_observations() {
  Model model("many");
  const Tensor mu = model.sample("mu", normal(0, 1));
  model.observe("y", normal(mu, 1), zeros({200}, DType::f64));
  return model;
}

TEST_F(SampleTest, runs_that_can_never_fit_are_refused) {
  SampleOptions options = few();
  options.device = "no such device";  // told before one is opened
  options.chains = 1000;
  // 200 numbers a draw would fit six times over without what is asked for beside them.
  options.draws = static_cast<int64_t>(memory_left() / 1000 / 8 / 200);
  options.log_likelihood = true;
  expect_error([&] { sample(many_observations(), options); },
               "[sample] draws: expected a run that fits into ");
  options.log_likelihood = false;
  options.posterior_predictive = true;
  expect_error([&] { sample(many_observations(), options); }, "GB for posterior_predictive");
  options.posterior_predictive = false;
  expect_error([&] { sample(many_observations(), options); }, "no such device");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// What a process of its own takes at most, beside what it was told to take.
class SampleMemoryTest : public SampleTest {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SampleTest::SetUp();
  }
};

TEST_F(SampleMemoryTest, the_estimate_covers_the_truth) {
  for (const bool extras : {false, true}) {
    const auto run = [&] {
      SampleOptions options = few();
      options.chains = 8;
      options.draws = extras ? 12'000 : 300'000;
      options.log_likelihood = options.posterior_predictive = extras;
      const Model model = many_observations();
      const double told = memory_of(model, options).sampling;
      const auto taken = [] {
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        return 1024.0 * static_cast<double>(used.ru_maxrss);
      };
      // What drivers, compilers and a machine's many threads take is not the run's.
      SampleOptions little = options;
      little.draws = 10;
      sample(model, little);
      const double before = taken();
      sample(model, options);
      std::fprintf(stderr, "told %.0f MB, took %.0f MB after %.0f MB\n", told / 1e6, taken() / 1e6,
                   before / 1e6);
      ::_exit(taken() - before <= told && told <= 2 * taken() ? 7 : 8);
    };
    EXPECT_EXIT(run(), testing::ExitedWithCode(7), "told");
  }
}
#endif

// --- What cannot be sampled --------------------------------------------------------------------------------

// Places that do not exist are told before anything runs, in every layout, also where data are exchanged.
TEST_F(SampleTest, places_outside_of_their_range) {
  Model model("places");
  const Tensor effect = model.sample("effect", normal(0, 1), {4});
  const Tensor ids = model.data("ids", tensor(std::vector<int64_t>{0, 3, 2, 1, 1}));
  model.observe("y", normal(take(effect, ids), 1), tensor<double>({1, 2, 3, 4, 5}));
  SampleOptions options = few();
  options.warmup = 20;
  options.draws = 5;
  for (const Placement placement : {Placement::lane, Placement::team, Placement::device}) {
    options.placement = placement;
    sample(model, options);
    model.set_data("ids", tensor(std::vector<int64_t>{0, 3, 2, 4, 1}));
    expect_error([&] { sample(model, options); },
                 "[sample] data ids: expected places from 0 to 3, got 4 at place 3");
    model.set_data("ids", tensor(std::vector<int64_t>{0, 3, 2, 1, -1}));
    expect_error([&] { sample(model, options); },
                 "[sample] data ids: expected places from 0 to 3, got -1 at place 4");
    model.set_data("ids", tensor(std::vector<int64_t>{2, 2, 2, 2, 2}));  // all in one group, others empty
    sample(model, options);
    model.set_data("ids", tensor(std::vector<int64_t>{0, 3, 2, 1, 1}));
  }
  expect_error(
      [&] {
        sample_many(model, {{"ids", tensor<int64_t>({{0, 1, 2, 3, 0}, {0, 1, 2, 3, 9}})}}, options);
      },
      "[sample] data ids of data set 2: expected places from 0 to 3, got 9 at place 4");
}

// A run tells its layout, and another one that asks for it has the same bits; names alone choose the rest.
TEST_P(SampleOnDevice, a_layout_is_told_and_repeated) {
  SampleOptions options = few();
  options.device = GetParam();
  options.warmup = 25;
  options.draws = 5;
  const bool slow = GetParam() != "cpu";
  for (const char* layout : {"auto", "lane", "team", "device"}) {
    if (slow && std::string(layout) != "team") continue;
    options.layout = layout;
    const Draws first = sample(small_model(), options);
    EXPECT_TRUE(options.layout == "auto" || first.layout.starts_with(layout)) << first.layout;
    options.layout = first.layout;
    const Draws again = sample(small_model(), options);
    EXPECT_EQ(again.layout, first.layout);
    expect_same(first, again);
  }
}

TEST_F(SampleTest, layouts_that_are_none) {
  const auto with = [](const std::string& layout) {
    return [layout] {
      SampleOptions options = few();
      options.layout = layout;
      sample(small_model(), options);
    };
  };
  for (const char* text : {"lanes", "team:64:split:1:2", "device:4:2", "LANE", "lane ", ":", "teams:4"})
    expect_error(with(text),
                 "[sample] layout: expected auto, lane, team, device, or a layout that a run told");
  for (const char* text : {"lane:", "lane:0", "team:x", "team:-4", "lane:99999", "lane:4x:array"})
    expect_error(with(text), "[sample] layout: expected a number from 1 to 1024 after the colon");
  expect_error(with("lane:4:heap"), "[sample] layout: expected buffer, array, shared or split");
  expect_error(with("lane:4:shared"), "[sample] layout: expected buffer or array for a lane on cpu");
  expect_error(with("team:32:split"), "[sample] layout: expected buffer or shared for a team on cpu");
  expect_error(with("lane:4:array:99"), "[sample] layout: expected a number from 0 to 64");
}

TEST_F(SampleTest, bad_models_and_options) {
  expect_error([] { sample(Model("empty"), few()); }, "[sample] model: expected at least one variable");
  const auto with = [](const std::function<void(SampleOptions&)>& change) {
    SampleOptions options = few();
    change(options);
    return [options] { sample(small_model(), options); };
  };
  expect_error(with([](auto& o) { o.chains = 0; }), "[sample] chains: expected at least 1, got 0");
  expect_error(with([](auto& o) { o.draws = 0; }), "[sample] draws: expected at least 1, got 0");
  expect_error(with([](auto& o) { o.warmup = INT64_MAX; }), "[sample] warmup: expected at most 2^30");
  expect_error(with([](auto& o) { o.draws = o.thin = int64_t{1} << 40; }),
               "[sample] draws: expected at most");
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
