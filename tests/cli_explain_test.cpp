// adit explain: what is told of Stan programs and of built-in models, by its words and by JSON.
#include "cli_runs.hpp"

namespace adit::test {
namespace {

class CliExplainTest : public CliSampleTest {
 protected:
  // A loop on data, one that looks back, one whose rounds are alone, and a short one.
  void SetUp() override {
    CliSampleTest::SetUp();
    put("m.stan", R"(data {
  int N;
  vector[N] y;
}
transformed data {
  vector[N] x;
  for (n in 1 : N) x[n] = 2 * y[n];
}
parameters {
  real mu;
  real<lower=0> sigma;
  simplex[3] p;
}
transformed parameters {
  vector[N] h;
  h[1] = mu;
  for (n in 2 : N) h[n] = 0.5 * h[n - 1] + x[n];
}
model {
  mu ~ normal(0, 1);
  sigma ~ exponential(1);
  for (n in 1 : N) y[n] ~ normal(h[n], sigma);
  for (k in 1 : 3) target += log(p[k]);
}
)");
    std::string y;
    for (int i = 0; i < 40; ++i) y += (i ? ", " : "") + std::to_string(i % 7) + ".5";
    put("d.json", R"({"N": 40, "y": [)" + y + "]}");
  }
};

const std::string on_cpu = " m.stan --data d.json --device cpu ";

TEST_F(CliExplainTest, LoopsAreToldByLine) {
  const Json plan = json_of("explain" + on_cpu + "--json");
  const std::vector<std::string> lines = plan.at("lowering");
  EXPECT_EQ(lines, (std::vector<std::string>{"transformed data: 40 numbers computed beforehand",
                                             "line 7: 40 rounds on data alone, run beforehand",
                                             "line 17: a loop of 39 steps that carries h (1 row back)",
                                             "line 22: 40 rounds together",
                                             "line 23: 3 rounds written out: they are few"}));
  const std::string text = adit("explain" + on_cpu).output;
  for (const std::string& line : lines) EXPECT_TRUE(contains(text, line + "\n")) << line << "\n" << text;
}

TEST_F(CliExplainTest, ParametersTermsAndMemory) {
  const Json plan = json_of("explain" + on_cpu + "--chains 8 --json");
  EXPECT_EQ(plan.at("model"), "m");
  EXPECT_EQ(plan.at("unconstrained"), 4);  // of the simplex two
  EXPECT_EQ(plan.at("variables")[2], Json({{"name", "p"}, {"shape", {3}}, {"unconstrained", 2}}));
  bool found = false;
  for (const Json& term : plan.at("terms"))
    found = found || (term.at("name") == "line:20" && term.at("stated") == "mu ~ normal(0, 1);");
  EXPECT_TRUE(found) << plan.at("terms");
  EXPECT_EQ(plan.at("device").at("id"), "cpu");
  EXPECT_EQ(plan.at("precision"), "f64");
  EXPECT_EQ(plan.at("chains"), 8);
  EXPECT_GT(plan.at("density").at("passes"), 0);
  EXPECT_GT(plan.at("density").at("serial"), 39);
  EXPECT_TRUE(contains(plan.at("density").at("schedule"), "control scan")) << plan.at("density");
  const int64_t numbers = plan.at("memory").at("state_numbers"), bytes = plan.at("memory").at("state_bytes");
  EXPECT_EQ(bytes, 8 * 8 * numbers);
  EXPECT_GT(plan.at("kernel").at("instructions"), 100);
  EXPECT_GT(plan.at("data").at("bytes"), 39 * 8);
  // Reals and places have sizes of their own.
  const Json data = json_of("explain radon --device cpu --precision f64 --json").at("data");
  EXPECT_GT(data.at("places"), 0);
  EXPECT_EQ(data.at("bytes"), 8 * data.at("numbers").get<int64_t>() + 4 * data.at("places").get<int64_t>());
}

TEST_F(CliExplainTest, ThePlanIsTheRunsOwn) {
  for (const std::string words : {"", "--layout team ", "--layout device ", "--precision f32 --chains 40 "}) {
    const std::string fast = words + "--warmup 20 --draws 5 --format none --json";
    const Json plan = json_of("explain" + on_cpu + words + "--json"), run = json_of("sample" + on_cpu + fast);
    EXPECT_EQ(plan.at("layout"), run.at("layout")) << words;
    EXPECT_EQ(plan.at("precision"), run.at("precision")) << words;
  }
}

// It depends on the length of the warm-up.
TEST_F(CliExplainTest, TheMetricIsTheRunsOwn) {
  EXPECT_EQ(json_of("explain" + on_cpu + "--json").at("metric"), "dense");
  EXPECT_EQ(json_of("explain" + on_cpu + "--warmup 20 --json").at("metric"), "diag");
  EXPECT_EQ(json_of("explain" + on_cpu + "--metric unit --json").at("metric"), "unit");
  EXPECT_TRUE(contains(adit("explain" + on_cpu + "--warmup 20").output, "4 chains, metric diag, layout"));
}

TEST_F(CliExplainTest, BuiltInModelsAndTheGpu) {
  const std::string text = adit("explain eight_schools_noncentered --device cpu").output;
  EXPECT_TRUE(contains(text, "eight_schools_noncentered: 3 parameters, 10 unconstrained numbers")) << text;
  if (!contains(adit("devices").output, "vulkan:0")) GTEST_SKIP() << "no Vulkan device";
  const Json plan = json_of("explain radon --device vulkan:0 --chains 64 --json");
  EXPECT_EQ(plan.at("device").at("id"), "vulkan:0");
  EXPECT_TRUE(std::string(plan.at("layout")).starts_with("team:")) << plan.at("layout");
  EXPECT_GT(plan.at("memory").at("shared_bytes"), 0);
}

TEST_F(CliExplainTest, ErrorsNameTheWord) {
  put("bad.stan", "parameters { real mu }\n");
  put("empty.stan", "model {}\n");
  const struct {
    std::string words;
    int status;
    const char* part;
  } cases[] = {
      {"explain", 2, "[explain] model: expected a Stan program, or one of"},
      {"explain rado", 2, "[explain] model: unknown rado; did you mean radon?"},
      {"explain none.stan", 1, "none.stan"},
      {"explain bad.stan", 1, "Syntax error in 'bad.stan', line 1"},
      {"explain m.stan", 1, "[data] N: expected int"},
      {"explain m.stan --data none.json", 1, "[explain] --data: none.json does not exist"},
      {"explain m.stan --data .", 1, "[explain] --data: expected a file, got the folder ."},
      {"explain empty.stan", 2, "[explain] model: expected at least one variable, got none in empty"},
      {"explain radon --data d.json", 2, "[explain] --data: expected it with a Stan program"},
      {"explain" + on_cpu + "--chains 0", 2, "[explain] --chains: expected a number from 1"},
      {"explain" + on_cpu + "--warmup -1", 2, "[explain] --warmup: expected a number of at least 0"},
      {"explain" + on_cpu + "--max-depth 13", 2, "[explain] --max-depth: expected a number from 1 to 12"},
      {"explain" + on_cpu + "--precision f16", 2, "[explain] --precision: unknown f16"},
      {"explain" + on_cpu + "--metric diagonal", 2, "[explain] --metric: unknown diagonal"},
      {"explain" + on_cpu + "--layout sideways", 1, "layout: expected auto, lane, team, device"},
      {"explain m.stan --data d.json --device vulkan:99", 2, "[explain] --device: unknown vulkan:99"},
  };
  for (const auto& one : cases) {
    const Outcome outcome = adit(one.words);
    EXPECT_EQ(outcome.status, one.status) << one.words << ": " << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, one.part)) << one.words << ": " << outcome.errors;
    EXPECT_TRUE(outcome.output.empty()) << one.words << outcome.output;
  }
}

}  // namespace
}  // namespace adit::test
