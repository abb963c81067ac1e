// Random numbers of generated quantities: rounds, steps and lanes have numbers of their own, and loops may
// wait for one.
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

#include <adit/checkpoint.hpp>
#include <adit/sample.hpp>

#include "nuts/layout.hpp"
#include "own_folder.hpp"
#include "sample/collect.hpp"
#include "sample/predictive.hpp"
#include "sample/session.hpp"
#include "stan/check.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"
#include "stats/model_state.hpp"

namespace adit::stan {
namespace {

constexpr int64_t points = 4000;

// Each variable's draws, one after the other.
std::map<std::string, std::vector<double>> drawn(const std::string& statements) {
  set_default_device(Device::open("cpu"));
  const std::string text = "parameters { real mu; }\nmodel { mu ~ std_normal(); }\ngenerated quantities {\n" +
                           statements + "\n}\n";
  Parsed parsed = parse("generated.stan", text);
  std::vector<Message> messages = std::move(parsed.messages);
  for (Message& message : check(parsed.program)) messages.push_back(std::move(message));
  for (const Message& message : messages)
    EXPECT_EQ(message.kind, Message::Kind::warning) << to_text(parsed.program.sources, message);
  const Lowered lowered = lower(parsed.program, data_from_json("{}", "data"));
  const stats::ModelState& state = stats::state_of(lowered.model);
  std::vector<uint32_t> keys;
  for (uint32_t i = 0; i < points; ++i) keys.push_back(1), keys.push_back(i);
  const stats::PointInput key{state.generated_key, tensor(keys, {points, 2}), true};
  Tensors graphs;
  for (const auto& variable : state.generated) graphs.push_back(variable.value);
  const Tensors values = stats::at_points(state, graphs, zeros({points, 1}, DType::f64), {key}, points);
  std::map<std::string, std::vector<double>> found;
  for (size_t i = 0; i < values.size(); ++i)
    found[state.generated[i].name] = as_type(values[i], DType::f64).to_vector<double>();
  return found;
}

class GeneratedFiles : public test::InOwnFolder {};

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments(const std::vector<double>& draws) {
  Moments found;
  for (const double x : draws) found.mean += x / static_cast<double>(draws.size());
  for (const double x : draws)
    found.deviation += (x - found.mean) * (x - found.mean) / static_cast<double>(draws.size());
  found.deviation = std::sqrt(found.deviation);
  return found;
}

#define EXPECT_MOMENTS(draws, mean_of, deviation_of)                                \
  {                                                                                 \
    const Moments found = moments(draws);                                           \
    EXPECT_NEAR(found.mean, mean_of, 5 * (deviation_of) / std::sqrt(points));       \
    EXPECT_NEAR(found.deviation, deviation_of, 0.06 * std::max(1.0, deviation_of)); \
  }

// Draws of the warm-up are no repetition of those that count; a checkpoint gives the same ones.
TEST_F(GeneratedFiles, WarmUpHasNumbersOfItsOwn) {
  Parsed parsed = parse("warm.stan",
                        "parameters { real mu; } model { mu ~ std_normal(); }\n"
                        "generated quantities { real z = normal_rng(0, 1); }");
  ASSERT_TRUE(check(parsed.program).empty());
  SampleOptions options{.chains = 2, .warmup = 20, .draws = 20};
  options.device = "cpu";
  options.save_warmup = true;
  options.checkpoint = (root_ / "checkpoint").string();
  const Model model = lower(parsed.program, data_from_json("{}", "data")).model;
  // A short run leaves its last state out where writing takes long.
  const Draws draws = sampling::sample_as(stats::state_of(model), options, {.checkpoint_seconds = 0});
  const auto& warm = draws.warmup_variables.at(1);
  ASSERT_EQ(warm.name, "z");
  ASSERT_EQ(warm.values.size(), 40u);
  for (size_t i = 0; i < 40; ++i) EXPECT_NE(warm.values[i], draws.variable("z").values[i]) << i;
  const Draws read = draws_so_far(options.checkpoint, model, Device::open("cpu"));
  EXPECT_EQ(read.variable("z").values, draws.variable("z").values);
  EXPECT_EQ(read.warmup_variables.at(1).values, warm.values);
}

// What is changed by its old value is read out of the tuple that holds it.
TEST(StanGenerated, PartsOfTuplesChangeByThemselves) {
  const auto draws = drawn(
      "tuple(real, tuple(vector[2], real)) t = (1 + mu, ([2, 3]', mu));\n"
      "t.1 += 4; t.2.1 *= 5; t.2.2 -= t.1; t.2.1[2] += t.2.2;\n"
      "real a = t.1; vector[2] b = t.2.1; real c = t.2.2;");
  EXPECT_EQ(draws.at("a")[0], 5);
  EXPECT_EQ(draws.at("b")[0], 10);
  EXPECT_EQ(draws.at("b")[1], 10);
  EXPECT_EQ(draws.at("c")[0], -5);
}

// What the end of a run needs is compiled beside the chains: nothing is left for it.
TEST(StanGenerated, AllIsCompiledBeforehand) {
  ::setenv("ADIT_CACHE", "", 1);  // what another process compiled is not counted
  const auto device = Device::open("cpu");
  const std::string text =
      "parameters { vector<lower=0>[3] s; simplex[4] p; }\n"
      "transformed parameters { vector[3] t = log1p(s) * p[1]; }\n"
      "model { s ~ exponential(1); }\n"
      "generated quantities { vector[3] y; for (i in 1:3) y[i] = normal_rng(t[i], s[i]); real q = sum(t) + "
      "p[2]; }";
  Parsed parsed = parse("beforehand.stan", text);
  ASSERT_TRUE(check(parsed.program).empty());
  const Lowered lowered = lower(parsed.program, data_from_json("{}", "data"));
  const stats::ModelState& state = stats::state_of(lowered.model);
  const int64_t draws = 2 * 20;
  sampling::prepare_collection(state, draws, device);
  sampling::prepare_generated(state, draws, 7, device);
  const uint64_t compiled = device->statistics().kernels_compiled;
  EXPECT_GT(compiled, 0u);
  std::vector<DrawsVariable> variables;
  SampleStats stats;
  std::vector<double> rows(static_cast<size_t>(draws * (sampling::stats_count + state.size)), 0.25);
  const auto found =
      sampling::collect_draws(state, std::move(rows), sampling::stats_count, 0, device, variables, stats);
  sampling::add_generated(state, found, 1, 2, 7, device, variables);
  EXPECT_EQ(device->statistics().kernels_compiled, compiled);
  ASSERT_EQ(variables.size(), 5u);
  EXPECT_NEAR(variables[0].values[0], std::exp(0.25), 1e-15);
}

TEST(StanGenerated, StepsOfARecurrenceDrawTheirOwn) {
  auto draws = drawn(R"(
    real far; real apart; real series; int moves = 0;
    {
      vector[30] y; matrix[6, 30] many;
      y[1] = normal_rng(0, 1);
      for (t in 2:30) y[t] = normal_rng(0.5 * y[t - 1], 1);
      far = y[30];
      apart = (y[10] - 0.5 * y[9]) - (y[11] - 0.5 * y[10]);
      for (i in 1:6) {
        many[i, 1] = 0;
        for (t in 2:30) many[i, t] = normal_rng(0.5 * many[i, t - 1], 1);
      }
      series = many[1, 30] - many[4, 30];
      int s = 1;
      for (t in 1:40) {
        int next = categorical_rng(s == 1 ? [0.9, 0.1]' : [0.3, 0.7]');
        if (next != s) moves += 1;
        s = next;
      }
    })");
  const double own = std::sqrt(1 / 0.75);
  EXPECT_MOMENTS(draws["far"], 0, own);
  EXPECT_MOMENTS(draws["apart"], 0, std::sqrt(2.0));
  EXPECT_MOMENTS(draws["series"], 0, own * std::sqrt(2.0));
  EXPECT_NEAR(moments(draws["moves"]).mean, 6.2, 0.4);  // 40 * 2 * 0.75 * 0.1, and the start
}

TEST(StanGenerated, LanesDrawTheirOwn) {
  auto draws = drawn(R"(
    real same_row; real same_column; real picks;
    {
      array[7, 8] vector[2] m;
      array[9] int picked;
      for (i in 1:7) for (j in 1:8) m[i, j] = multi_normal_rng([i, 0]', identity_matrix(2));
      same_row = m[2, 3, 1] - m[2, 4, 1];
      same_column = m[2, 3, 2] - m[5, 3, 2];
      for (i in 1:9) picked[i] = categorical_rng([0.5, 0.5]');
      picks = sum(picked);
    })");
  EXPECT_MOMENTS(draws["same_row"], 0, std::sqrt(2.0));
  EXPECT_MOMENTS(draws["same_column"], 0, std::sqrt(2.0));
  EXPECT_MOMENTS(draws["picks"], 13.5, 1.5);
}

TEST(StanGenerated, ALoopWaitsForADraw) {
  auto draws = drawn(R"(
    real accepted; int tries = 0; int walk = 0; real least = 9; array[6] int waits;
    while (1) {
      tries += 1;
      accepted = normal_rng(0, 1);
      if (accepted > 1) break;
    }
    for (t in 1:200) {
      if (bernoulli_rng(0.2) == 1) break;
      walk += 1;
    }
    for (i in 1:6) {
      waits[i] = 0;
      while (uniform_rng(0, 1) > 0.25) waits[i] += 1;
    }
    least = waits[1] - waits[2];)");
  for (const double x : draws["accepted"]) ASSERT_GT(x, 1);
  EXPECT_NEAR(moments(draws["tries"]).mean, 1 / 0.15866, 0.5);
  EXPECT_NEAR(moments(draws["walk"]).mean, 4, 0.4);
  EXPECT_NEAR(moments(draws["waits"]).mean, 3, 0.15);
  EXPECT_NEAR(moments(draws["least"]).deviation, std::sqrt(2 * 12.0), 0.5);
}

// Rounds that turn out to need each other are begun again, with the numbers of before.
TEST(StanGenerated, ALoopThatIsGivenUpLeavesNothingBehind) {
  auto draws = drawn(R"(
    int count = poisson_rng(3);
    vector[12] z = rep_vector(0.3, 12);
    for (i in 1:12) {
      for (j in 1:6) {
        int n = 0;
        while (n < 3 && i - 6.5 > mu * j) {
          n += 1;
          z[13 - i] = z[i] + 1 + mu + 0 * normal_rng(0, 1);
        }
      }
    }
    real total = sum(z);
    vector[4] after = to_vector(normal_rng(rep_vector(0, 4), 1));)");
  for (const double x : draws["total"]) ASSERT_NEAR(x, 9.6, 1e-12);
  EXPECT_NEAR(moments(draws["count"]).mean, 3, 0.15);
  EXPECT_MOMENTS(draws["after"], 0, 1.0);
}

// All paths of three steps through two states, one by one.
TEST(StanGenerated, HiddenStatesOfParameters) {
  auto found = drawn(
      "  matrix[2, 3] seen = [[-1 + mu, -0.5, -2], [-0.7, -1.2, -0.3]];\n"
      "  matrix[2, 2] moves = [[0.8 + mu, 0.2 - mu], [0.3, 0.7]];\n"
      "  vector[2] first = [0.6 + mu, 0.4 - mu]';\n"
      "  matrix[2, 3] p = hmm_hidden_state_prob(seen, moves, first);\n"
      "  array[3] int path = hmm_latent_rng(seen, moves, first);\n"
      "  array[2] matrix[2, 3] each;\n"
      "  for (i in 1:2) each[i] = hmm_hidden_state_prob(seen * i, moves, first);");
  const double seen[2][3] = {{-1, -0.5, -2}, {-0.7, -1.2, -0.3}}, moves[2][2] = {{0.8, 0.2}, {0.3, 0.7}},
               first[2] = {0.6, 0.4};
  for (const int power : {1, 2}) {
    double chance[2][3] = {}, all = 0;
    for (int code = 0; code < 8; ++code) {
      const int path[3] = {code & 1, code >> 1 & 1, code >> 2 & 1};
      double of_path = first[path[0]];
      for (int t = 0; t < 3; ++t) of_path *= std::exp(power * seen[path[t]][t]);
      for (int t = 1; t < 3; ++t) of_path *= moves[path[t - 1]][path[t]];
      all += of_path;
      for (int t = 0; t < 3; ++t) chance[path[t]][t] += of_path;
    }
    for (int k = 0; k < 2; ++k)
      for (int t = 0; t < 3; ++t) {
        const double want = chance[k][t] / all;
        EXPECT_NEAR(found["each"][static_cast<size_t>((power - 1) * 6 + k * 3 + t)], want, 1e-14);
        if (power == 2) continue;
        EXPECT_NEAR(found["p"][static_cast<size_t>(k * 3 + t)], want, 1e-14);
        double share = 0;
        for (size_t i = 0; i < points; ++i)
          share += (found["path"][3 * i + static_cast<size_t>(t)] == k + 1) / static_cast<double>(points);
        EXPECT_NEAR(share, want, 5 * std::sqrt(want * (1 - want) / points)) << k << " " << t;
      }
  }
}

TEST(StanGenerated, ADrawIsAnIndex) {
  auto draws = drawn(R"(
    int at = categorical_rng([0.2, 0.3, 0.5]');
    vector[3] v = [10, 20, 30]';
    real found = v[at] - 10 * at;
    matrix[3, 2] m = [[1, 2], [3, 4], [5, 6]];
    real cell = m[at, 2] - 2 * at;
    array[4] int places;
    array[3] int counts = {0, 0, 0};
    vector[4] many;
    vector[3] marked = rep_vector(0, 3);
    array[3] tuple(real, vector[2]) pairs = {(1, [2, 3]'), (10, [20, 30]'), (100, [200, 300]')};
    real of_pair = pairs[at].1 * 5 - sum(pairs[at].2);
    for (i in 1:4) {
      places[i] = categorical_rng([0.2, 0.3, 0.5]');
      counts[places[i]] += 1;
    }
    many = v[places];
    marked[at] = 7;
    real sum_of_many = sum(many) - 10 * sum(places);
    int all = sum(counts);
    real column = sum(m[at, ]) - (4 * at - 1);
    int rounds = 0;
    for (i in 1:at) rounds += 1;
    rounds -= at;)");
  for (const char* name : {"found", "cell", "sum_of_many", "column", "rounds", "of_pair"})
    for (const double x : draws[name]) ASSERT_EQ(x, 0) << name;
  for (const double x : draws["all"]) ASSERT_EQ(x, 4);
  EXPECT_NEAR(moments(draws["marked"]).mean, 7.0 / 3, 1e-12);
  EXPECT_NEAR(moments(draws["at"]).mean, 2.3, 0.06);
}

}  // namespace
}  // namespace adit::stan
