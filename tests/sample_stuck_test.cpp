// Chains that sit where the posterior has next to nothing: found when the metric is settled, moved, and told.
#include <cmath>

#include <adit/diagnostics.hpp>

#include "sample/stuck.hpp"
#include "sample_runs.hpp"

namespace adit {
namespace {

using sampling::chains_far_below;
using sampling::sources_for;
using sampling::stuck_chains;

TEST(Stuck, WhoIsFarBelow) {
  using Chains = std::vector<int64_t>;
  EXPECT_EQ(stuck_chains(std::vector<double>{-300, -302, -5e28, -299}, 4), Chains{2});
  EXPECT_EQ(stuck_chains(std::vector<double>{-300, -302, NAN, -299}, 4), Chains{2});
  EXPECT_EQ(stuck_chains(std::vector<double>{-300, -INFINITY}, 4), Chains{1});
  EXPECT_EQ(stuck_chains(std::vector<double>{-300}, 4), Chains{});
  EXPECT_EQ(stuck_chains(std::vector<double>{}, 4), Chains{});
  // As far apart as the draws of so many numbers are.
  EXPECT_EQ(stuck_chains(std::vector<double>{-1000, -1100, -1060, -950}, 5000), Chains{});
  // One chain that is far above is not believed against all others.
  EXPECT_EQ(stuck_chains(std::vector<double>{-300, -302, 1e6, -299}, 4), Chains{});
  // Two of four may be lost, not three.
  EXPECT_EQ(stuck_chains(std::vector<double>{-9e9, -302, -8e9, -299}, 4), (Chains{0, 2}));
  EXPECT_EQ(stuck_chains(std::vector<double>{-9e9, -302, -301, -7e9, -8e9, -6e9, -5e9}, 4), Chains{});
  // As those of a funnel lie: far apart, one below the other.
  EXPECT_EQ(stuck_chains(std::vector<double>{40, 25, 18, -2, -20, -41, -80, -170}, 10), Chains{});
  EXPECT_EQ(stuck_chains(std::vector<double>{40, 25}, 10), Chains{});
  // What is told and not moved.
  EXPECT_EQ(chains_far_below(std::vector<double>{-9e9, -302, -8e9, -7e9}, 4), (Chains{0, 2, 3}));
  EXPECT_EQ(chains_far_below(std::vector<double>{-300, -302, -5e28, -299}, 4), Chains{2});
  EXPECT_EQ(chains_far_below(std::vector<double>{40, 25, 18, -2, -20, -41, -80, -170}, 10), Chains{});
  EXPECT_EQ(chains_far_below(std::vector<double>{-300}, 4), Chains{});
}

TEST(Stuck, WhoHelpsWhom) {
  const std::vector<double> masses{-9e9, -302, -8e9, -299, -7e9, -300};
  const std::vector<int64_t> stuck{0, 2, 4};
  EXPECT_EQ(sources_for(stuck, masses), (std::vector<int64_t>{3, 5, 1}));
  EXPECT_EQ(sources_for(std::vector<int64_t>{0, 2}, std::vector<double>{-9e9, -1, -8e9}),
            (std::vector<int64_t>{1, 1}));
}

// A normal distribution, and beside it a needle that holds e^-200 of the mass and that no chain leaves.
Model needle() {
  Model model("needle");
  const Plate number = model.plate("number", 2);
  const Tensor x = model.parameter("x", constraint::real(), {number});
  const Tensor wide = -0.5 * sum(square(x)), narrow = -200 - 0.5 * sum(square((x - 50) / 0.01));
  model.add_log_density("both", logsumexp(stack({wide, narrow})));
  return model;
}

SampleOptions one_in_the_needle() {
  SampleOptions options = few();
  options.chains = 4;
  options.warmup = 200;
  options.init = {{}, {}, {{"x", {50, 50}}}, {}};
  return options;
}

double mean_of_chain(const Draws& draws, int64_t chain) {
  double total = 0;
  for (int64_t d = 0; d < draws.draws; ++d)
    total += draws.variable("x").values[static_cast<size_t>((chain * draws.draws + d) * 2)];
  return total / static_cast<double>(draws.draws);
}

void expect_note(const Draws& draws, const std::vector<std::string>& parts) {
  ASSERT_EQ(draws.notes.size(), 1u);
  for (const std::string& part : parts)
    EXPECT_NE(draws.notes[0].find(part), std::string::npos) << part << ": " << draws.notes[0];
  EXPECT_NE(warnings(draws, summary(draws)).back().find(parts[0]), std::string::npos);
}

TEST_F(SampleTest, a_stuck_chain_goes_on_elsewhere_and_the_draws_say_so) {
  for (const auto& [metric, adapt] :
       {std::pair{Metric::diagonal, Adapt::chain}, std::pair{Metric::dense, Adapt::chain},
        std::pair{Metric::diagonal, Adapt::pooled}, std::pair{Metric::unit, Adapt::chain}}) {
    SampleOptions options = one_in_the_needle();
    options.metric = metric;
    options.adapt = adapt;
    const Draws freed = sample(needle(), options);
    for (int64_t c = 0; c < 4; ++c) EXPECT_NEAR(mean_of_chain(freed, c), 0, 1.5) << c;
    ASSERT_EQ(freed.notes.size(), 1u);
    EXPECT_NE(freed.notes[0].find("1 of 4 chains"), std::string::npos) << freed.notes[0];
    EXPECT_NE(freed.notes[0].find("chain 3 (log density -2"), std::string::npos) << freed.notes[0];
    EXPECT_NE(freed.notes[0].find("where x[1] = "), std::string::npos) << freed.notes[0];
    EXPECT_NE(warnings(freed, summary(freed)).back().find("1 of 4 chains"), std::string::npos);
    // It walks by itself from then on.
    EXPECT_FALSE(same({freed.stats.lp.begin(), freed.stats.lp.begin() + freed.draws},
                      {freed.stats.lp.begin() + 2 * freed.draws, freed.stats.lp.begin() + 3 * freed.draws}));

    options.restart_stuck = false;
    const Draws kept = sample(needle(), options);
    EXPECT_NEAR(mean_of_chain(kept, 2), 50, 1);
    expect_note(kept,
                {"1 of 4 chains sit where", "chain 3 (log density -2", "where x[1] = ", "--stuck keep"});
  }
}

// Where nothing is moved, it is told all the same.
TEST_F(SampleTest, stuck_chains_that_stay_are_told) {
  SampleOptions options = one_in_the_needle();
  options.warmup = 60;
  expect_note(sample(needle(), options), {"1 of 4 chains sit where", "chain 3", "warm-up is too short"});
  options = one_in_the_needle();
  const std::map<std::string, std::vector<double>> there{{"x", {50, 50}}};
  options.init = {there, {}, there, there};
  expect_note(sample(needle(), options), {"3 of 4 chains sit where", "chain 1 (log density -2", "chain 3",
                                          "chain 4", "more than half", "where x[1] = "});
}

// Where no chain is beside it: log densities so low that they no longer tell one place from another.
TEST_F(SampleTest, one_chain_that_is_stuck_is_told) {
  Model well("well");
  const Tensor x = well.parameter("x", constraint::real());
  const Tensor far = -1e28 - 1e20 * square(x - 50), near = -0.5 * square(x);
  well.add_log_density("both", select(square(x) > 1.0, far, near));
  SampleOptions options = few();
  options.chains = 1;
  options.warmup = 200;
  options.init = {{{"x", {50}}}};
  for (options.restart_stuck = false; const int64_t warmup : {60, 200}) {
    options.warmup = warmup;
    expect_note(sample(well, options),
                {"The chain sits where", "log density -1e+28, where x = 50", "is better: log"});
  }
  options.init = {{{"x", {0.5}}}};
  EXPECT_TRUE(sample(well, options).notes.empty());
}

TEST_F(SampleTest, chains_of_one_posterior_are_left_alone) {
  SampleOptions options = few();
  options.chains = 8;
  options.warmup = 200;
  EXPECT_TRUE(sample(small_model(), options).notes.empty());
  Model funnel("funnel");
  const Plate row = funnel.plate("row", 9);
  const Tensor v = funnel.sample("v", normal(0, 3));
  funnel.sample("x", normal(0, exp(0.5 * v)), {row});
  options.chains = 32;
  EXPECT_TRUE(sample(funnel, options).notes.empty());
}

TEST_F(SampleTest, a_stuck_chain_is_known_after_a_stop) {
  SampleOptions options = one_in_the_needle();
  const Draws whole = sample(needle(), options);
  for (const int64_t at : {100, 160, 200, 230}) {
    options.checkpoint = checkpoint();
    options.resume = false;
    int64_t seen = 0;
    options.on_progress = [&](const Progress& p) { seen = p.iteration; };
    options.should_stop = [&] { return seen >= at; };
    sample(needle(), options);
    options.should_stop = nullptr;
    options.resume = true;
    const Draws resumed = sample(needle(), options);
    expect_same(whole, resumed);
    EXPECT_EQ(whole.notes, resumed.notes);
  }
}

}  // namespace
}  // namespace adit
