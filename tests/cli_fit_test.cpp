// adit optimize, laplace, log-prob, generate and check-gradient, as their users
// meet them.
#include <cmath>

#include <adit/draws.hpp>

#include "cli_runs.hpp"

namespace adit::test {
namespace {

class CliFitTest : public CliSampleTest {
 protected:
  void SetUp() override {
    CliSampleTest::SetUp();
    put("m.stan",
        "data { int<lower=0> N; vector[N] y; }\n"
        "parameters { real mu; real<lower=0> sigma; }\n"
        "transformed parameters { real twice = 2 * mu; }\n"
        "model { y ~ normal(mu, sigma); }\n"
        "generated quantities { matrix[2, 2] m = [[mu, sigma], [1, "
        "2]]; real seen = normal_rng(mu, sigma); }\n");
    put("d.json", R"({"N": 4, "y": [1, 2, 4, 9]})");
  }
  const std::string on = " m.stan --data d.json --device cpu ";

  // The rows of a file after its comments; the first has the names.
  std::vector<std::vector<std::string>> rows_of(const std::string& name) const {
    std::vector<std::vector<std::string>> rows;
    std::istringstream text(content_of(root_ / name));
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with('#')) continue;
      rows.emplace_back();
      std::istringstream fields(line);
      for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
    }
    return rows;
  }
};

using Fields = std::vector<std::string>;

TEST_F(CliFitTest, optimize_writes_as_cmdstan_does) {
  const Json found = json_of("optimize" + on + "--json --output o.csv");
  EXPECT_TRUE(found.at("converged"));
  EXPECT_NEAR(found.at("log_density"), -2 * (std::log(2 * M_PI * 9.5) + 1), 1e-6);
  EXPECT_EQ(found.at("parameters")[0].at("name"), "mu");
  EXPECT_NEAR(found.at("parameters")[0].at("value"), 4, 1e-3);
  const auto rows = rows_of("o.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (Fields{"lp__", "mu", "sigma", "twice", "m.1.1", "m.2.1", "m.1.2", "m.2.2", "seen"}));
  EXPECT_NEAR(std::stod(rows[1][2]), std::sqrt(9.5), 1e-3);
  EXPECT_EQ(rows[1][5], "1");
  EXPECT_EQ(rows[1][6], rows[1][2]);
  const std::string text = content_of(root_ / "o.csv");
  for (const char* part :
       {"# method = optimize\n", "#     algorithm = lbfgs\n", "#     jacobian = 0\n", "#   seed = 1\n"})
    EXPECT_TRUE(contains(text, part)) << text;

  EXPECT_EQ(adit("optimize" + on + "--jacobian --save-iterations --algorithm bfgs").status, 0);
  const auto steps = rows_of("adit-m-optimize.csv");
  ASSERT_GT(steps.size(), 3u);
  EXPECT_NEAR(std::stod(steps.back()[2]), std::sqrt(38.0 / 3), 1e-3);
  EXPECT_LT(std::stod(steps[1][0]), std::stod(steps.back()[0]));
  const std::string said = adit("optimize" + on + "--algorithm newton").output;
  EXPECT_TRUE(contains(said, "without Jacobians of constraints")) << said;
}

TEST_F(CliFitTest, optimize_says_where_there_is_no_maximum) {
  put("flat.stan", "parameters { real mu; } model { target += 3 * mu; }");
  const Outcome flat = adit("optimize flat.stan --device cpu");
  EXPECT_EQ(flat.status, 1);
  EXPECT_TRUE(contains(flat.errors, "[optimize] flat: the log density grows without end as mu does"))
      << flat.errors;
  EXPECT_FALSE(fs::exists(root_ / "adit-flat-optimize.csv"));
  const Outcome few = adit("optimize" + on + "--iterations 1");
  EXPECT_EQ(few.status, 0);
  EXPECT_TRUE(contains(few.errors, "did not converge: the most iterations were made (1)")) << few.errors;
}

TEST_F(CliFitTest, built_in_models_have_modes) {
  const Json found = json_of("optimize " + model + " --jacobian --device cpu --json");
  EXPECT_TRUE(found.at("converged")) << found;
}

// Said before any is drawn: the option, and how much that would be.
TEST_F(CliFitTest, laplace_names_draws_that_do_not_fit) {
  const std::string line =
      "ulimit -v 6000000; " + command("laplace" + on + "--draws 100000000 --output l.csv");
  const Outcome outcome = outcome_of(std::system(line.c_str()));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.errors, "draws: expected draws that fit into ")) << outcome.errors;
  EXPECT_TRUE(contains(outcome.errors, "GB of memory, got 100000000, ")) << outcome.errors;
  EXPECT_FALSE(fs::exists(root_ / "l.csv"));
}

TEST_F(CliFitTest, laplace_draws_at_the_mode) {
  const Json found = json_of("laplace" + on + "--draws 500 --json --output l.csv");
  EXPECT_EQ(found.at("draws"), 500);
  const auto rows = rows_of("l.csv");
  ASSERT_EQ(rows.size(), 501u);
  EXPECT_EQ(rows[0][0], "log_p__");
  EXPECT_EQ(rows[0][1], "log_q__");
  EXPECT_EQ(rows[0][2], "mu");
  double mean = 0;
  for (size_t i = 1; i < rows.size(); ++i) mean += std::stod(rows[i][2]) / 500;
  EXPECT_NEAR(mean, 4, 0.5);

  // The mode of `optimize`, of JSON, and one that is none.
  EXPECT_EQ(adit("optimize" + on + "--jacobian --output o.csv").status, 0);
  EXPECT_EQ(adit("laplace" + on + "--mode o.csv --draws 500 --output k.csv").errors, "");
  const auto same = rows_of("k.csv");
  EXPECT_NEAR(std::stod(same[7][2]), std::stod(rows[7][2]), 1e-2);
  put("mode.json", R"({"mu": 4, "sigma": 3.0822})");
  EXPECT_EQ(adit("laplace" + on + "--mode mode.json --no-jacobian").errors, "");
  const Outcome other = adit("laplace" + on + "--mode mode.json");
  EXPECT_EQ(other.status, 0);
  EXPECT_TRUE(contains(other.errors, "the gradient at the mode is not zero")) << other.errors;
  put("far.json", R"({"mu": 40, "sigma": 30})");
  const Outcome far = adit("laplace" + on + "--mode far.json --no-jacobian");
  EXPECT_EQ(far.status, 1);
  EXPECT_TRUE(contains(far.errors, "[laplace] mode: expected a point where the log density is curved"))
      << far.errors;
}

TEST_F(CliFitTest, log_prob_at_points) {
  put("c.json", R"([{"mu": 4, "sigma": 1}, {"mu": 0, "sigma": 2, "other": 3}])");
  const Json found = json_of("log-prob" + on + "--constrained-params c.json --json");
  const double first = -2 * std::log(2 * M_PI) - 19;
  EXPECT_NEAR(found.at("log_density")[0], first, 1e-9);
  EXPECT_NEAR(found.at("gradient")[0][0], 0, 1e-9);
  EXPECT_NEAR(found.at("gradient")[0][1], 38 - 4 + 1, 1e-9);
  const auto rows = rows_of("adit-m-log-prob.csv");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (Fields{"lp__", "g_mu", "g_sigma"}));
  put("u.json", R"({"params_r": [4, 0]})");
  const Json plain = json_of("log-prob" + on + "--unconstrained-params u.json --no-jacobian --json");
  EXPECT_NEAR(plain.at("log_density")[0], first, 1e-9);
  EXPECT_NEAR(plain.at("gradient")[0][1], 34, 1e-9);
  put("u.csv", "mu,sigma\n4,0\n1,1\n");
  EXPECT_EQ(json_of("log-prob" + on + "--unconstrained-params u.csv --json").at("log_density").size(), 2u);
  put("c.csv", "# comment\nlp__,sigma,mu\n0,1,4\n");
  EXPECT_NEAR(json_of("log-prob" + on + "--constrained-params c.csv --json").at("log_density")[0], first,
              1e-9);
}

TEST_F(CliFitTest, generate_of_draws_made_earlier) {
  put("plain.stan",
      "data { int<lower=0> N; vector[N] y; } parameters { real "
      "mu; real<lower=0> sigma; } "
      "model { y ~ normal(mu, sigma); sigma ~ exponential(1); }");
  EXPECT_EQ(adit("sample plain.stan --data d.json --output run --format both --quiet" + small).status, 0);
  const Json found = json_of("generate" + on + "--draws run --json");
  EXPECT_EQ(found.at("chains"), 4);
  EXPECT_EQ(found.at("draws"), 200);
  EXPECT_EQ(found.at("parameters").size(), 2u + 1 + 4 + 1);
  for (const std::string file : found.at("files")) EXPECT_TRUE(fs::exists(root_ / file)) << file;
  EXPECT_EQ(adit("generate" + on + "--draws run/plain_1.csv run/plain_2.csv --format csv --output g").status,
            0);
  const Draws before = read_draws({(root_ / "run/plain_2.csv").string()});
  const Draws after = read_draws({(root_ / "g/m_2.csv").string()});
  EXPECT_EQ(after.variable("mu").values, before.variable("mu").values);
  for (size_t i = 0; i < 200; ++i)
    EXPECT_EQ(after.variable("twice").values[i], 2 * before.variable("mu").values[i]);
  // Of CmdStan, which has other columns too; of laplace; and of a run without a
  // parameter.
  put("o.stan",
      "parameters { real mu; vector[2] theta; } generated quantities "
      "{ real s = mu + sum(theta); }");
  put("out_1.csv", csv_of_cmdstan(1));
  put("out_2.csv", csv_of_cmdstan(2));
  const Json others = json_of(
      "o.stan generate_quantities fitted_params=out.csv num_chains=2 "
      "--json --device cpu");
  EXPECT_EQ(others.at("draws"), 400);
  EXPECT_EQ(others.at("parameters").back().at("name"), "s");
  EXPECT_EQ(adit("laplace" + on + "--draws 20 --output l.csv").status, 0);
  EXPECT_EQ(json_of("generate" + on + "--draws l.csv --output gl --json").at("draws"), 20);
  const Outcome missing = adit("generate" + on + "--draws out_1.csv --output h");
  EXPECT_EQ(missing.status, 1);
  EXPECT_TRUE(contains(missing.errors, "[generate] draws: expected the parameter sigma of m, got none"))
      << missing.errors;
  EXPECT_FALSE(fs::exists(root_ / "h"));
}

TEST_F(CliFitTest, gradients_are_checked) {
  const Json found = json_of("check-gradient" + on + "--json");
  EXPECT_EQ(found.at("off"), 0);
  EXPECT_EQ(found.at("parameters").size(), 2u);
  // Differences of no use: a step that leaves the neighbourhood.
  const Outcome off = adit("check-gradient" + on + "--epsilon 1 --output g.csv");
  EXPECT_EQ(off.status, 1);
  EXPECT_TRUE(contains(off.errors, "slopes differ")) << off.errors;
  EXPECT_EQ(rows_of("g.csv").size(), 3u);
}

TEST_F(CliFitTest, cmdstans_words_lead_here) {
  const Outcome found = adit(
      "m.stan optimize iter=50 data file=d.json output "
      "file=x.csv refresh=0 --device cpu");
  EXPECT_EQ(found.status, 0) << found.errors;
  EXPECT_TRUE(contains(content_of(root_ / "x.csv"), "#     iter = 50\n"));
  EXPECT_EQ(adit("m.stan laplace mode=x.csv jacobian=0 draws=10 data "
                 "file=d.json output file=y.csv")
                .status,
            0);
  EXPECT_EQ(rows_of("y.csv").size(), 11u);
  EXPECT_EQ(adit("m.stan log_prob constrained_params=x.csv data file=d.json "
                 "output file=z.csv")
                .status,
            0);
  EXPECT_EQ(rows_of("z.csv").size(), 2u);
  EXPECT_EQ(adit("m.stan diagnose data file=d.json").status, 0);
}

TEST_F(CliFitTest, chains_are_where_cmdstan_puts_them) {
  const std::string start = "m.stan sample num_samples=20 num_warmup=20 ",
                    end = "data file=d.json output file=o.csv --device cpu";
  EXPECT_EQ(adit(start + end).status, 0);
  EXPECT_EQ(content_of(root_ / "o.csv"), content_of(root_ / "o" / "m_1.csv"));
  EXPECT_FALSE(fs::exists(root_ / "o_1.csv"));
  EXPECT_EQ(adit(start + "num_chains=2 " + end).status, 0);
  for (const std::string chain : {"_1", "_2"})
    EXPECT_EQ(content_of(root_ / ("o" + chain + ".csv")), content_of(root_ / "o" / ("m" + chain + ".csv")));
  EXPECT_NE(content_of(root_ / "o_1.csv"), content_of(root_ / "o_2.csv"));
}

TEST_F(CliFitTest, bad_words_are_named) {
  put("list.json", "[1, 2");
  put("odd.json", R"({"mu": "x", "sigma": 1})");
  put("nu.json", R"({"mv": 1})");
  put("low.json", R"({"mu": 1, "sigma": -1})");
  put("half.json", R"({"mu": 1})");
  put("wide.json", R"({"params_r": [1, 2, 3]})");
  put("odd.csv", "mu,sigma\n1,x\n");
  put("short.csv", "mu,sigma\n1\n");
  fs::create_directory(root_ / "folder");
  const std::tuple<std::string, int, const char*> cases[] = {
      {"optimize", 2, "[optimize] model: expected a Stan program, or one of "},
      {"optimize eight_school", 2, "[optimize] model: unknown eight_school"},
      {"optimize radon --data d.json", 2, "[optimize] --data: expected it with a Stan program"},
      {"optimize m.stan --data no.json", 1, "[optimize] --data: no.json does not exist"},
      {"optimize" + on + "--algorithm lbgfs", 2, "--algorithm: unknown lbgfs; did you mean lbfgs?"},
      {"optimize" + on + "--iterations 0", 2, "--iterations: expected a number that is 1 or more, got 0"},
      {"optimize" + on + "--tol-grad -1", 2, "--tol-grad: expected a number that is more than 0, got -1"},
      {"optimize" + on + "--history-size x", 2, "--history-size: expected a whole number, got x"},
      {"optimize" + on + "--init -1", 2, "[optimize] --init: expected a number that is 0 or more"},
      {"optimize" + on + "--init no.json", 2,
       "[optimize] --init: expected a file that can be read, got no.json"},
      {"optimize" + on + "--init list.json", 1, "[optimize] --init: list.json: expected JSON"},
      {"optimize" + on + "--init odd.json", 1, "expected values of shape [] for mu, got \"x\""},
      {"optimize" + on + "--init nu.json", 2, "[optimize] --init: unknown mv; did you mean mu?"},
      {"optimize" + on + "--init low.json", 1, "[optimize] init: expected "},
      {"optimize m.stan --data d.json --device cpi", 2, "[optimize] --device: unknown cpi"},
      {"optimize" + on + "--output folder", 2,
       "[optimize] --output: expected a file or a new name, got the folder"},
      {"optimize" + on + "--output no/where.csv", 1, "[optimize] --output: expected to write no/where.csv"},
      {"optimize" + on + "--jacobain", 2, "did you mean --jacobian?"},
      {"laplace" + on + "--draws 0", 2, "[laplace] --draws: expected a number from 1"},
      {"laplace" + on + "--mode no.csv", 2, "[laplace] --mode: expected a file that can be read"},
      {"laplace" + on + "--mode half.json", 1,
       "[laplace] --mode: half.json: expected values of sigma, got none"},
      {"laplace" + on + "--mode low.json", 1, "[laplace] --mode: expected "},
      {"log-prob" + on, 2, "expected --constrained-params or --unconstrained-params, got none"},
      {"log-prob" + on + "--constrained-params half.json --unconstrained-params wide.json", 2, "got both"},
      {"log-prob" + on + "--constrained-params low.json", 1, "for sigma, got -1"},
      {"log-prob" + on + "--unconstrained-params wide.json", 1,
       "expected rows of 2 numbers, as the model has, got 3"},
      {"log-prob" + on + "--constrained-params odd.csv", 1, "line 2: expected a number, got x"},
      {"log-prob" + on + "--constrained-params short.csv", 1,
       "line 2: expected 2 numbers as there are columns, got 1"},
      {"generate" + on, 2, "[generate] --draws: expected files of draws, got none"},
      {"generate" + on + "--draws no.csv", 1, "[generate] --draws: no.csv does not exist"},
      {"generate" + on + "--draws odd.csv", 1, "odd.csv"},
      {"check-gradient" + on + "--epsilon 0", 2,
       "[check-gradient] --epsilon: expected a number that is more than 0"}};
  for (const auto& [words, status, expected] : cases) {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, status) << words << ": " << outcome.errors;
    EXPECT_TRUE(outcome.output.empty()) << words;
    EXPECT_TRUE(contains(outcome.errors, expected)) << words << ": " << outcome.errors;
  }
  for (const auto& entry : fs::directory_iterator(root_))
    EXPECT_FALSE(entry.path().filename().string().starts_with("adit-")) << entry.path();
}

TEST_F(CliFitTest, help_has_examples) {
  for (const std::string name : {"optimize", "laplace", "log-prob", "generate", "check-gradient"}) {
    const Outcome outcome = adit(name + " --help");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(contains(outcome.output, "Example:\n  adit " + name)) << outcome.output;
    EXPECT_TRUE(contains(outcome.output, "--data FILE")) << outcome.output;
  }
}

}  // namespace
}  // namespace adit::test
