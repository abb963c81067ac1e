// Stan programs by the command: adit sample model.stan, adit check, adit format, CmdStan's words.
#include <cmath>
#include <sys/stat.h>

#include "cli_runs.hpp"

namespace adit::test {
namespace {

class CliStanTest : public CliSampleTest {
 protected:
  void SetUp() override {
    CliSampleTest::SetUp();
    put("m.stan",
        "data { int<lower=0> N; vector[N] y; real<lower=0> sigma; }\n"
        "parameters { real mu; }\n"
        "transformed parameters { vector[2] both = [mu, 2 * mu]'; }\n"
        "model { mu ~ normal(0, 10); y ~ normal(mu, sigma); }\n"
        "generated quantities { matrix[2, 2] m = [[mu, 1], [2, 3]]; real seen = normal_rng(mu, sigma); }\n");
    put("d.json", R"({"N": 4, "y": [1, 2, 4, 9], "sigma": 2})");
  }
  // Of y with the prior: the mean's precision is 1 / 100 + 4 / 4.
  static constexpr double precision = 1.01, mean = 4 / 1.01;
};

TEST_F(CliStanTest, PosteriorIsTheClosedForm) {
  const Json run =
      json_of("sample m.stan --data d.json --json --chains 4 --warmup 300 --draws 2000 --device cpu");
  EXPECT_EQ(run.at("model"), "m");
  std::map<std::string, Json> found;
  for (const Json& one : run.at("parameters")) found[one.at("name")] = one;
  for (const char* name : {"mu", "both[1]", "both[2]", "m[1,1]", "m[2,1]", "m[2,2]", "seen"})
    EXPECT_TRUE(found.contains(name)) << name;
  const auto number = [&](const std::string& name, const char* what) {
    return found[name].at(what).get<double>();
  };
  EXPECT_NEAR(number("mu", "mean"), mean, 5 * number("mu", "mcse"));
  EXPECT_NEAR(number("mu", "sd"), 1 / std::sqrt(precision), 0.05);
  EXPECT_NEAR(number("both[2]", "mean"), 2 * number("mu", "mean"), 1e-9);
  EXPECT_NEAR(number("seen", "sd"), std::sqrt(4 + 1 / precision), 0.1);
  EXPECT_EQ(number("m[2,1]", "mean"), 2);
}

TEST_F(CliStanTest, TheSameSeedGivesTheSameDraws) {
  for (const char* to : {"a", "b"})
    EXPECT_EQ(adit(std::string("sample m.stan --data d.json --format csv --output ") + to + small).status, 0);
  const auto numbers = [&](const char* folder) {  // without times, which comments have
    std::string kept;
    std::istringstream text(content_of(root_ / folder / "m_1.csv"));
    for (std::string line; std::getline(text, line);)
      if (!line.starts_with('#')) kept += line + "\n";
    return kept;
  };
  EXPECT_GT(numbers("a").size(), 1000u);
  EXPECT_EQ(numbers("a"), numbers("b"));
}

TEST_F(CliStanTest, ErrorsNameThePlace) {
  put("syntax.stan", "parameters { real mu }\n");
  put("semantic.stan", "parameters { real mu; }\nmodel { mu ~ nromal(0, 1); mu ~ normal(0, sgima); }\n");
  put("short.json", R"({"N": 4, "y": [1, 2], "sigma": 2})");
  put("negative.json", R"({"N": 4, "y": [1, 2, 4, 9], "sigma": -2})");
  put("outside.stan", "data { int k; }\nparameters { vector[3] x; }\nmodel { x[k] ~ normal(0, 1); }\n");
  put("k.json", R"({"k": 4})");
  const struct {
    const char *words, *part;
    int status;
  } cases[] = {
      {"sample syntax.stan", "Syntax error in 'syntax.stan', line 1", 1},
      {"sample semantic.stan", "line 2", 1},
      {"sample semantic.stan", "Did you mean", 1},
      {"sample m.stan", "[data] N: expected int", 1},
      {"sample m.stan --data short.json", "[data] y: expected array of shape (4), found (2)", 1},
      {"sample m.stan --data negative.json", "[data] sigma", 1},
      {"sample outside.stan --data k.json --device cpu", "'outside.stan', line 3, column", 1},
      {"sample m.stan --data none.json", "none.json", 1},
      {"sample radon --data d.json", "[sample] --data: expected it with a Stan program, got the model radon",
       2},
      {"sample none.stan", "none.stan", 1},
      {"m.stan sample num_smaples=10", "num_samples", 2},
  };
  for (const auto& one : cases) {
    const Outcome outcome = adit(one.words);
    EXPECT_EQ(outcome.status, one.status) << one.words << ": " << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, one.part)) << one.words << ": " << outcome.errors;
  }
}

TEST_F(CliStanTest, NoDensityNamesTheStatementAndItsValues) {
  put("root.stan",
      "data { int N; vector[N] y; real<lower=0> sigma; }\n"
      "parameters { real mu; }\n"
      "model {\n"
      "  for (n in 1:N)\n"
      "    y[n] ~ normal(mu, sqrt(-sigma -\n"
      "                           exp(mu)));\n"
      "}\n");
  put("reject.stan",
      "data { int N; vector[N] y; real<lower=0> sigma; }\n"
      "parameters { real mu; }\n"
      "model {\n"
      "  for (n in 1:N)\n"
      "    if (y[n] > mu) reject(\"too large: \", y[n], \" in row \", n);\n"
      "}\n");
  put("bound.stan", "parameters { real mu; }\ntransformed parameters { real<lower=0> v = -exp(mu); }\n");
  put("steps.stan",
      "functions { vector f(real t, vector y, real k) { return -k * y; } }\n"
      "parameters { real mu; }\n"
      "model {\n"
      "  target += ode_rk45_tol(f, [1]', 0, {9.0}, 1e-8, 1e-8, 1, 1 + mu)[1, 1];\n"
      "}\n");
  put("slope.stan", "parameters { real mu; }\nmodel { target += sqrt(mu - mu); }\n");
  const struct {
    const char* words;
    std::vector<const char*> parts;
  } cases[] = {
      {"root.stan --data d.json",
       {"line 5 is NaN in `y[n] ~ normal(mu, sqrt(-sigma - exp(mu)));`, where n = 1, y[n] = 1, mu = ",
        ", sigma = 2, sqrt(-sigma - exp(mu)) = NaN"}},
      {"reject.stan --data d.json",
       {"line 5 is -infinity, which rejects at n = ", ": too large: ", " in row "}},
      {"bound.stan",
       {"line 2 is -infinity, which rejects: v: expected a number of at least 0, as its bound says, got -"}},
      {"steps.stan",
       {"line 4 is -infinity, which rejects",
        "ode_rk45_tol: no solution within 1 steps from one time to the next"}},
      {"slope.stan",
       {"the gradient is not finite, that of line 2 in `target += sqrt(mu - mu);`, where mu = "}},
  };
  for (const auto& one : cases) {
    const Outcome outcome = adit(std::string("sample --device cpu --init 0.5 --format none ") + one.words);
    EXPECT_EQ(outcome.status, 1) << one.words;
    for (const char* part : one.parts) EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
  }
}

TEST_F(CliStanTest, WithoutParametersQuantitiesAreGenerated) {
  put("none.stan",
      "data { int N; }\n"
      "generated quantities { real a = normal_rng(0, 2); vector[N] y;\n"
      "  for (n in 1:N) y[n] = normal_rng(a * n, 1); int k = poisson_rng(3); }\n");
  put("n.json", R"({"N": 3})");
  const Json run = json_of("sample none.stan --data n.json --json --chains 2 --draws 4000 --device cpu");
  std::map<std::string, double> means, deviations;
  for (const Json& one : run.at("parameters")) {
    means[one.at("name")] = one.at("mean").get<double>();
    deviations[one.at("name")] = one.at("sd").get<double>();
  }
  EXPECT_NEAR(means["k"], 3, 0.15);
  EXPECT_NEAR(deviations["a"], 2, 0.1);
  EXPECT_NEAR(deviations["y[3]"], std::sqrt(37.0), 0.3);
  EXPECT_TRUE(run.at("warnings").empty());
  const Outcome as_cmdstan =
      adit("none.stan sample algorithm=fixed_param num_samples=5 data file=n.json output file=out.csv");
  EXPECT_EQ(as_cmdstan.status, 0) << as_cmdstan.errors;
  EXPECT_TRUE(
      contains(content_of(root_ / "out" / "none_1.csv"), "\nlp__,accept_stat__,a,y.1,y.2,y.3,k\n0,0,"));
}

TEST_F(CliStanTest, FixedParametersStayWhereTheyStart) {
  put("start.json", R"({"mu": 3})");
  const Json run =
      json_of("sample m.stan --data d.json --json --fixed-param --init start.json --draws 2000 --device cpu");
  for (const Json& one : run.at("parameters")) {
    if (one.at("name") == "mu" || one.at("name") == "m[1,1]") {
      EXPECT_EQ(one.at("mean").get<double>(), 3);
      EXPECT_EQ(one.at("sd").get<double>(), 0);
    }
    if (one.at("name") == "seen") {
      EXPECT_NEAR(one.at("sd").get<double>(), 2, 0.1);
    }
  }
  EXPECT_EQ(adit("sample m.stan --data d.json --fixed-param --resume").status, 2);
}

TEST_F(CliStanTest, AJacobianOfTheProgramIsOneOfASearch) {
  put("j.stan",
      "parameters { real a; real<lower=0> b; }\n"
      "transformed parameters { real s = exp(a); jacobian += a; }\n"
      "model { s ~ gamma(3, 1); b ~ gamma(3, 1); }\n");
  for (const auto& [word, mode] : {std::pair{"", 2.0}, std::pair{" --jacobian", 3.0}}) {
    const Json found = json_of(std::string("optimize j.stan --json --device cpu") + word);
    std::map<std::string, double> values;
    for (const Json& one : found.at("parameters")) values[one.at("name")] = one.at("value").get<double>();
    EXPECT_NEAR(values["s"], mode, 1e-3) << found.dump();
    EXPECT_NEAR(values["b"], mode, 1e-3);
  }
}

TEST_F(CliStanTest, CheckAndFormat) {
  EXPECT_EQ(adit("check m.stan").status, 0);
  put("bad.stan", "parameters { real mu; }\nmodel { mu ~ nromal(0, 1); }\n");
  const Outcome outcome = adit("check bad.stan --json");
  EXPECT_EQ(outcome.status, 1);
  const Json document = Json::parse(outcome.output, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << outcome.output;
  EXPECT_EQ(document.at("errors"), 1);
  const Json& first = document.at("messages")[0];
  EXPECT_EQ(first.at("severity"), "error");
  EXPECT_EQ(first.at("line"), 2);
  const Outcome formatted = adit("format m.stan");
  EXPECT_EQ(formatted.status, 0);
  put("again.stan", formatted.output);
  EXPECT_EQ(adit("format again.stan").output, formatted.output);
}

TEST_F(CliStanTest, IncludedFilesAreLookedForInFolders) {
  std::filesystem::create_directories(root_ / "lib" / "pre");
  std::filesystem::create_directories(root_ / "more");
  put("lib/pre/f.stan", "real f(real x) { return 2 * x; }\n");
  put("more/g.stan", "real g(real x) { return x; }\n");
  put("main.stan",
      "functions {\n#include\n</pre/f.stan>\n#include g.stan\n}\nparameters { real x; }\nmodel { x ~ "
      "normal(f(0), 1); }\n");
  EXPECT_EQ(adit("check main.stan --include-paths lib,more").status, 0);
  EXPECT_EQ(adit("check --include-paths lib --include-paths more main.stan").status, 0);
  EXPECT_EQ(adit("sample main.stan --include-paths lib,more --output a" + small).status, 0);
  EXPECT_EQ(adit("main.stan optimize include_paths=lib,more output file=o.csv").status, 0);
  EXPECT_NE(adit("check main.stan --include-paths more")
                .errors.find("Could not find the included file '/pre/f.stan' in"),
            std::string::npos);
  const auto none = adit("check main.stan --include-paths lib,nowhere");
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(
      none.errors.find(
          "[check] --include-paths: expected folders that are there, with commas between them, got nowhere"),
      std::string::npos)
      << none.errors;
}

// Empty, or with adit's mark: what would be written over otherwise.
TEST_F(CliStanTest, IncludedFilesAreInputs) {
  put("inc.csv", "");
  put("i.stan", "#include inc.csv\nparameters { real x; }\nmodel { x ~ normal(0, 1); }\n");
  for (const char* words : {"optimize i.stan --output inc.csv", "i.stan optimize output file=inc.csv"}) {
    const auto run = adit(words);
    EXPECT_EQ(run.status, 2) << words;
    EXPECT_NE(run.errors.find("expected another file than that of #include, got inc.csv"), std::string::npos)
        << run.errors;
  }
  std::filesystem::create_directory(root_ / "run");
  std::filesystem::rename(root_ / "inc.csv", root_ / "run/i_1.csv");
  put("i.stan", "#include run/i_1.csv\nparameters { real x; }\nmodel { x ~ normal(0, 1); }\n");
  EXPECT_EQ(adit("sample i.stan --format csv --output run" + small).status, 2);
  EXPECT_EQ(std::filesystem::file_size(root_ / "run/i_1.csv"), 0u);
}

// What has no end is told to be no file, soon.
TEST_F(CliStanTest, IncludedFilesAreFiles) {
  ASSERT_EQ(mkfifo((root_ / "pipe.stan").c_str(), 0600), 0);
  std::filesystem::create_directory(root_ / "dir.stan");
  for (const char* name : {"/dev/zero", "/dev/urandom", "pipe.stan", "dir.stan"}) {
    put("bad.stan", std::string("#include ") + name + "\nmodel { }\n");
    const auto run = adit("check bad.stan");
    EXPECT_EQ(run.status, 1) << name;
    EXPECT_NE(run.errors.find("Expected a file behind '#include'"), std::string::npos) << run.errors;
    EXPECT_NE(run.errors.find("line 1"), std::string::npos) << run.errors;
  }
}

// A file that is there and cannot be read.
TEST_F(CliStanTest, WhatCannotBeReadIsNamed) {
  const auto run = adit("check /proc/self/mem");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("/proc/self/mem"), std::string::npos) << run.errors;
  EXPECT_EQ(run.errors.find("basic_filebuf"), std::string::npos) << run.errors;
}

TEST_F(CliStanTest, UndefinedFunctionsAreToldWhereTheyAreAllowed) {
  put("half.stan",
      "functions {\n  real f(real x);\n}\nparameters { real x; }\nmodel { x ~ normal(f(0), 1); }\n");
  EXPECT_EQ(adit("check half.stan").status, 1);
  const auto allowed = adit("check half.stan --allow-undefined");
  EXPECT_EQ(allowed.status, 0) << allowed.errors;
  EXPECT_NE(allowed.errors.find("'f' is declared but not defined"), std::string::npos) << allowed.errors;
  EXPECT_EQ(adit("format half.stan --allow-undefined").status, 0);
  const auto run = adit("sample half.stan" + small);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.errors.find("line 2"), std::string::npos) << run.errors;
}

TEST_F(CliStanTest, CmdStansWordsAreUnderstood) {
  const Outcome outcome = adit(
      "m.stan sample num_samples=50 num_warmup=100 num_chains=2 adapt delta=0.9 data file=d.json random "
      "seed=3 "
      "output file=out/x.csv");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  for (const char* name : {"m_1.csv", "m_2.csv"}) {
    const std::string text = content_of(root_ / "out/x" / name);
    EXPECT_TRUE(contains(text, "num_samples = 50")) << text.substr(0, 400);
    EXPECT_TRUE(contains(text, "delta = 0.9"));
  }
}

}  // namespace
}  // namespace adit::test
