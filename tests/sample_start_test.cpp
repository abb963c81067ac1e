// Where chains start: at values that are given, at random, and with what an earlier run has learnt.
#include <cmath>
#include <map>

#include "nuts/random.hpp"
#include "sample_runs.hpp"

namespace adit {
namespace {

using Values = std::map<std::string, std::vector<double>>;

// Where a chain was before its first transition: steps of no length leave it there.
Draws at_start(SampleOptions options, const Model& model = small_model()) {
  options.warmup = 0;
  options.draws = 1;
  options.step_size = 1e-300;
  options.max_depth = 1;
  return sample(model, options);
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

// The rest of values that are given is drawn by the number that a chain has among all, not in its own run.
TEST_F(SampleTest, later_chains_start_as_they_would_beside_the_first_ones) {
  SampleOptions options = few();
  options.chains = 4;
  options.init = {{{"theta", {7, 8, 9}}}};
  const Draws all = at_start(options);
  options.chains = 2;
  options.first_chain = 2;
  const Draws last = at_start(options);
  for (const char* name : {"mu", "sigma", "theta", "top"}) {
    const auto &whole = all.variable(name).values, &part = last.variable(name).values;
    ASSERT_EQ(whole.size(), 2 * part.size());
    for (size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], whole[part.size() + i]) << name;
  }
}

// What is left open is drawn anew until the density is finite, each attempt with numbers of its own.
TEST_F(SampleTest, attempts_at_a_start_differ) {
  Model model("half");
  const Tensor x = model.parameter("x", constraint::real());
  model.sample("y", normal(0, 1));
  model.add_log_density("root", sqrt(x - 1) - x);  // NaN below 1: three of four points
  SampleOptions options = few();
  options.chains = 16;
  options.init = {{{"y", {0.5}}}};
  const Draws draws = at_start(options, model);
  uint32_t most = 0;
  for (uint32_t chain = 0; chain < 16; ++chain) {
    const sampling::HostStream stream{options.seed, chain, true};
    const auto drawn = [&](uint32_t attempt) {
      return 4 * stream.uniform(stream.bits(sampling::Purpose::start, attempt, 0), 0) - 2;
    };
    uint32_t attempt = 0;
    while (!(drawn(attempt) > 1)) ++attempt;
    most = std::max(most, attempt);
    EXPECT_NEAR(draws.variable("x").values[chain], drawn(attempt), 1e-12) << "chain " << chain;
    EXPECT_NEAR(draws.variable("y").values[chain], 0.5, 1e-12);
  }
  EXPECT_GT(most, 3u);
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

}  // namespace
}  // namespace adit
