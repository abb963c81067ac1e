// Runs of `adit sample` that end early or begin with what another one has left: Ctrl-C, kill, --resume,
// --warm-start.
#include <csignal>
#include <cstdio>

#include <adit/sample.hpp>

#include "cli_runs.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

class CliResumeTest : public CliSampleTest {
 protected:
  // Starts a run and kills it between two writes of its checkpoint, when that has `bytes`. (Such runs keep
  // one iteration of many, so that what they leave is soon read.)
  Outcome killed(const std::string& words, const fs::path& checkpoint, uintmax_t bytes) const {
    const pid_t child = started(words);
    int status = 0, still = 0;
    uintmax_t before = 0;
    for (int i = 0; i < 30000 && still < 50; ++i) {
      std::error_code none;
      const uintmax_t now = fs::file_size(root_ / checkpoint, none);
      still = !none && now >= bytes && now == before ? still + 1 : 0;
      before = now;
      if (::waitpid(child, &status, WNOHANG) == child) return outcome_of(status);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return outcome_of(status);
  }

  // Starts a run, sends SIGINT when it samples, and again, where that is asked for, when it has heard the
  // first.
  Outcome interrupted(const std::string& words, bool twice = false) const {
    const pid_t child = started(words);
    int status = 0;
    if (!waits_for("sampling ", child, status)) return outcome_of(status);
    ::kill(child, SIGINT);
    if (twice) {
      if (!waits_for("Stopping", child, status)) return outcome_of(status);
      ::kill(child, SIGINT);
    }
    ::waitpid(child, &status, 0);
    return outcome_of(status);
  }
};

// Ten numbers: dense from 300 iterations of warm-up on, unless Stan's way or another is asked for.
TEST_F(CliResumeTest, a_metric_that_nobody_asked_for) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const auto metric = [&](const std::string& words, const std::string& folder) {
    const Outcome outcome =
        adit("sample " + model + " --device cpu --chains 1 --draws 10 --format csv --no-report " + words +
             " --output " + folder);
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const std::string text = content_of(root_ / folder / (model + "_1.csv"));
    const size_t at = text.find("metric = ");
    return at == std::string::npos ? "none" : text.substr(at + 9, text.find('\n', at) - at - 9);
  };
  EXPECT_EQ(metric("--warmup 300", "enough"), "dense_e");
  EXPECT_EQ(metric("--warmup 299", "few"), "diag_e");
  EXPECT_EQ(metric("--warmup 300 --metric diag", "asked"), "diag_e");
  EXPECT_EQ(metric("--warmup 300 --stan-compat", "compat"), "diag_e");
  EXPECT_EQ(metric("--warmup 0 --warm-start enough", "after"), "dense_e");
  EXPECT_EQ(metric("--warmup 300 --warm-start few", "after_few"), "diag_e");
}

TEST_F(CliResumeTest, a_warm_start_takes_over_step_size_and_metric) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  ASSERT_EQ(adit("sample " + model + small + "--output first --format csv --no-report").status, 0);
  const auto steps_of = [&](const std::string& folder, int chains) {
    std::vector<std::string> files;
    for (int chain = 1; chain <= chains; ++chain)
      files.push_back((root_ / folder / (model + "_" + std::to_string(chain) + ".csv")).string());
    return adit::read_draws(files).step_sizes;
  };
  const std::vector<double> first = steps_of("first", 4);
  ASSERT_EQ(first.size(), 4u);
  for (const int chains : {4, 2}) {
    ASSERT_EQ(adit(with("sample " + model + small,
                        "--warmup 0 --warm-start first --format csv --no-report "
                        "--output next --chains " +
                            std::to_string(chains)))
                  .status,
              0);
    const std::vector<double> next = steps_of("next", chains);
    const double mean = (first[0] + first[1] + first[2] + first[3]) / 4;
    for (size_t chain = 0; chain < next.size(); ++chain)
      EXPECT_NEAR(next[chain], chains == 4 ? first[chain] : mean, 1e-4 * mean) << chain;
  }
  for (int chain = 1; chain <= 2; ++chain)
    put("other_" + std::to_string(chain) + ".csv", csv_of_cmdstan(chain));
  const Outcome other = adit("sample " + model + " --warm-start other_1.csv other_2.csv");
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(contains(other.errors, "--warm-start: expected a mass matrix of 10 numbers")) << other.errors;
}

// Ctrl-C in mid-run: the draws so far are there, and the run that goes on ends where an unbroken one ends.
TEST_F(CliResumeTest, ctrl_c_stops_and_resume_goes_on) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const std::string words =
      "sample " + model +
      " --device cpu --chains 4 --warmup 200 --thin 10 --draws 10000 --no-report --format csv ";
  const Outcome stopped = interrupted(words + "--output broken");
  ASSERT_EQ(stopped.status, 130) << stopped.errors;
  EXPECT_TRUE(contains(stopped.errors, "Stopping")) << stopped.errors;
  EXPECT_TRUE(contains(stopped.errors, "--output broken --resume")) << stopped.errors;
  EXPECT_TRUE(contains(stopped.output, "theta[H]")) << stopped.output;
  EXPECT_TRUE(fs::exists(root_ / "broken/checkpoint"));
  EXPECT_FALSE(json_of("summary broken --json").empty());
  const Outcome fewer = adit(with(words, "--output broken --resume --draws 1"));
  EXPECT_EQ(fewer.status, 2);
  EXPECT_TRUE(contains(fewer.errors, "[sample] --draws: expected at least ")) << fewer.errors;
  EXPECT_TRUE(contains(fewer.errors, "the draws a chain in broken/checkpoint, got 1\n")) << fewer.errors;

  const Json resumed = json_of(words + "--output broken --resume --json");
  const Json unbroken = json_of(words + "--output whole --json");
  EXPECT_TRUE(resumed.at("finished").get<bool>());
  EXPECT_EQ(resumed.at("draws"), 10000);
  EXPECT_EQ(resumed.at("parameters"), unbroken.at("parameters"));
  EXPECT_FALSE(fs::exists(root_ / "broken/checkpoint"));
}

TEST_F(CliResumeTest, the_second_ctrl_c_ends_at_once) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Outcome killed = interrupted(
      "sample " + model + " --device cpu --chains 4 --warmup 200 --draws 200000 --no-report --format csv",
      true);
  EXPECT_EQ(killed.status, -SIGINT) << killed.errors;
  EXPECT_TRUE(killed.output.empty()) << "no summary after a kill";
}

// A kill leaves the checkpoint alone: its draws are those that the run makes in the end.
TEST_F(CliResumeTest, a_killed_run_is_read_from_its_checkpoint) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const std::string words =
      "sample " + model +
      " --device cpu --chains 2 --warmup 200 --thin 100 --no-report --format csv --output cut ";
  const Outcome dead = killed(words + "--draws 4000000", "cut/checkpoint", 50000);
  ASSERT_EQ(dead.status, -SIGKILL) << dead.errors;
  const Outcome summary = adit("summary cut --sig-figs 6");
  ASSERT_EQ(summary.status, 0) << summary.errors;
  EXPECT_TRUE(contains(summary.output, "theta[H]")) << summary.output;
  EXPECT_TRUE(contains(summary.output, "stopped before all draws were made")) << summary.output;
  const std::string said = "cut/checkpoint was cut short after ";
  ASSERT_TRUE(contains(summary.errors, said) && contains(summary.errors, "--resume")) << summary.errors;
  EXPECT_EQ(std::count(summary.errors.begin(), summary.errors.end(), '\n'), 1) << summary.errors;
  const int64_t draws = std::stoll(summary.errors.substr(summary.errors.find(said) + said.size()));
  ASSERT_GT(draws, 100);
  const Json rows = json_of("summary cut/checkpoint --json");
  const Outcome diagnosis = adit("diagnose cut");
  EXPECT_EQ(diagnosis.status, 0) << diagnosis.errors;
  EXPECT_EQ(adit("report cut --output page.html").status, 0);
  EXPECT_TRUE(contains(content_of(root_ / "page.html"), "<html"));
  EXPECT_EQ(adit("summary cut/checkpoint cut/checkpoint").status, 1);

  const std::pair<const char*, const char*> others[] = {
      {"--chains 3", "expected chains 2 as in cut/checkpoint, got 3"},
      {"--metric dense", "expected metric diag as in cut/checkpoint, got dense"},
      {"--max-depth 5", "expected max_depth 10 as in cut/checkpoint, got 5"}};
  for (const auto& [option, expected] : others) {
    const Outcome other = adit(with(words, std::string("--resume ") + option));
    EXPECT_EQ(other.status, 1) << option;
    EXPECT_TRUE(contains(other.errors, expected)) << option << ": " << other.errors;
  }
  // The same draws as an unbroken run of that length has.
  const Json whole = json_of(
      "sample " + model + " --device cpu --chains 2 --warmup 200 --thin 100 --format none --json --draws " +
      std::to_string(draws));
  ASSERT_EQ(rows.size(), whole.at("parameters").size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("name"), whole.at("parameters")[i].at("name"));
    EXPECT_NEAR(rows[i].at("mean").get<double>(), whole.at("parameters")[i].at("mean").get<double>(), 1e-9);
  }
}

// Densities that a CPU computes in a way of its own, a loop in scaled numbers and a factorisation.
TEST_F(CliResumeTest, a_killed_run_on_a_cpu_is_read_again) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  put("d.json", R"({"N": 12, "y": [1, 0.5, -1, 0.2, 2, -0.3, 1, 0.4, -1, 0.2, 2, 0]})");
  const std::string data = "data { int N; vector[N] y; } parameters { real a; real<lower=0> s; }\n";
  put("chain.stan", data +
                        "model { vector[2] u = [0, 0]'; a ~ normal(0, 1); s ~ normal(0, 1);\n"
                        "  for (t in 1:N) { vector[2] v;\n"
                        "    v[1] = log_sum_exp(u[1] - 1, u[2] - 2) + y[t] + a;\n"
                        "    v[2] = log_sum_exp(u[1] - 2, u[2] - s) - y[t] - a; u = v; }\n"
                        "  target += log_sum_exp(u); }\n");
  put("process.stan", data +
                          "model { matrix[N, N] m; a ~ normal(0, 1); s ~ normal(0, 1);\n"
                          "  for (i in 1:N) for (j in 1:N) m[i, j] = exp(-square(i - j) * s) + (i == j);\n"
                          "  y ~ multi_normal_cholesky(rep_vector(a, N), cholesky_decompose(m)); }\n");
  for (const std::string name : {"chain", "process"}) {
    const Outcome dead =
        killed("sample " + name + ".stan --data d.json --device cpu --chains 2 --warmup 100 " +
                   "--no-report --quiet --format csv --thin 50 --draws 4000000 --output " + name,
               name + "/checkpoint", 100000);
    ASSERT_EQ(dead.status, -SIGKILL) << dead.errors;
    const Outcome summary = adit("summary " + name);
    EXPECT_EQ(summary.status, 0) << name << ": " << summary.errors;
    EXPECT_TRUE(contains(summary.output, "lp__")) << summary.output;
  }
}

// The checkpoint names the program and its data, which may lie anywhere.
TEST_F(CliResumeTest, a_killed_run_of_a_stan_program_is_read_too) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  fs::create_directories(root_ / "programs");
  const std::string program =
      "data { int N; vector[N] y; } parameters { real mu; real<lower=0> sigma; }\n"
      "transformed parameters { real both = mu + sigma; }\n"
      "model { mu ~ normal(0, 5); sigma ~ exponential(1); y ~ normal(mu, sigma); }\n"
      "generated quantities { real next = normal_rng(mu, sigma); }\n";
  put("programs/radon.stan", program);  // the name of a built-in model, which is another
  put("programs/d.json", R"({"N": 5, "y": [1, 2, 4, 3, 2]})");
  const std::string words =
      "sample programs/radon.stan --data programs/d.json --device cpu --chains 2 --warmup 200 --thin 100 "
      "--no-report --quiet ";
  const Outcome dead = killed(words + "--format csv --output cut --draws 4000000", "cut/checkpoint", 50000);
  ASSERT_EQ(dead.status, -SIGKILL) << dead.errors;
  fs::create_directories(root_ / "elsewhere");
  fs::rename(root_ / "cut", root_ / "elsewhere/cut");
  const Outcome diagnosis = adit("diagnose elsewhere/cut");
  EXPECT_EQ(diagnosis.status, 0) << diagnosis.errors;
  const std::string said = "checkpoint was cut short after ";
  ASSERT_TRUE(contains(diagnosis.errors, said)) << diagnosis.errors;
  const std::string draws =
      std::to_string(std::stoll(diagnosis.errors.substr(diagnosis.errors.find(said) + said.size())));
  const Json rows = json_of("summary elsewhere/cut --json");
  const Json whole = json_of(words + "--format none --json --draws " + draws).at("parameters");
  ASSERT_EQ(rows.size(), whole.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("name"), whole[i].at("name"));
    EXPECT_NEAR(rows[i].at("mean").get<double>(), whole[i].at("mean").get<double>(), 1e-9);
  }

  put("programs/radon.stan", program + "// and a comment\n");
  EXPECT_EQ(adit("summary elsewhere/cut").status, 0);
  put("programs/d.json", R"({"N": 5, "y": [1, 2, 4, 3, 7]})");
  EXPECT_TRUE(contains(adit("summary elsewhere/cut").errors, "d.json have changed since the run began"));
  put("programs/radon.stan", std::string(program).replace(program.find("(0, 5)"), 6, "(0, mu)"));
  const Outcome other = adit("summary elsewhere/cut");
  EXPECT_EQ(other.status, 1);
  EXPECT_TRUE(contains(other.errors, "expected the log density of radon as it is now")) << other.errors;
  fs::remove(root_ / "programs/radon.stan");
  const Outcome gone = adit("summary elsewhere/cut");
  EXPECT_EQ(gone.status, 1);
  EXPECT_TRUE(contains(gone.errors, "expected the program of the run at ") &&
              contains(gone.errors, "programs/radon.stan, where nothing is any more"))
      << gone.errors;
}

}  // namespace
}  // namespace adit::test
