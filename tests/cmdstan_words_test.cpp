// CmdStan's words as adit's: every word, its places, and what is refused.
#include "cli/cmdstan_words.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <sstream>

#include <adit/error.hpp>

namespace adit::cli {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// As one line.
std::string translated(const std::string& line) {
  const auto words = from_cmdstan(split(line));
  return words ? fmt::format("{}", fmt::join(*words, " ")) : "nothing";
}

std::string refusal(const std::string& line) {
  try {
    return "taken as " + translated(line);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
}

TEST(CmdStanWords, OtherCommandsAreLeftAlone) {
  EXPECT_FALSE(from_cmdstan({}));
  for (const char* line : {"sample model.stan", "sample", ".stan", "-x.stan", "--help", "model.stann sample"})
    EXPECT_EQ(translated(line), "nothing") << line;
}

TEST(CmdStanWords, DefaultsAreCmdStans) {
  EXPECT_EQ(translated("m.stan sample"), "sample m.stan --chains 1 --metric diag --format csv");
  EXPECT_EQ(translated("dir/m.stan method=sample"),
            "sample dir/m.stan --chains 1 --metric diag --format csv");
}

TEST(CmdStanWords, IncludePaths) {
  EXPECT_EQ(translated("m.stan optimize include_paths=a,b data file=d.json"),
            "optimize m.stan --data d.json --include-paths a,b");
  EXPECT_EQ(refusal("m.stan sample include_paths="), "[cmdstan] include_paths: expected a file, got \"\"");
}

TEST(CmdStanWords, AWholeCall) {
  EXPECT_EQ(
      translated("model.stan sample num_samples=500 num_warmup=300 save_warmup=1 thin=2 adapt delta=0.9 "
                 "gamma=0.05 kappa=0.75 t0=10 init_buffer=75 term_buffer=50 window=25 engaged=1 "
                 "algorithm=hmc engine=nuts max_depth=12 metric=dense_e stepsize=0.5 num_chains=4 id=1 "
                 "data file=x.json init=0.5 random seed=123 output file=out.csv refresh=100 sig_figs=8 "
                 "num_threads=4"),
      "sample model.stan --chains 4 --metric dense --warmup 300 --draws 250 --thin 2 --adapt-delta 0.9 "
      "--step-size 0.5 --max-depth 12 --save-warmup --data x.json --init 0.5 --seed 123 --output out "
      "--format csv");
}

TEST(CmdStanWords, Orders) {
  const std::string wanted =
      "sample m.stan --chains 2 --metric diag --draws 50 --adapt-delta 0.9 --max-depth 8 "
      "--data d.json --seed 4 --format csv";
  for (const char* line :
       {"m.stan sample num_chains=2 num_samples=50 adapt delta=0.9 algorithm=hmc engine=nuts max_depth=8 "
        "metric=diag_e data file=d.json random seed=4",
        "m.stan random seed=4 data file=d.json sample algorithm=hmc metric=diag_e engine=nuts max_depth=8 "
        "adapt "
        "delta=0.9 num_samples=50 num_chains=2",
        "m.stan data file=d.json method=sample adapt delta=0.9 num_samples=50 algorithm=hmc engine=nuts "
        "max_depth=8 metric=diag_e num_chains=2 random seed=4",
        "m.stan output refresh=5 data file=d.json sample adapt delta=0.9 num_samples=50 "
        "algorithm=hmc engine=nuts max_depth=8 metric=diag_e num_chains=2 random seed=4"})
    EXPECT_EQ(translated(line), wanted) << line;
  EXPECT_EQ(refusal("m.stan sample adapt delta=0.8 num_samples=5 adapt delta=0.9"),
            "[cmdstan] delta: expected it once, got it again");
}

TEST(CmdStanWords, Draws) {
  const auto part = [](const std::string& words) {
    const std::string line = translated("m.stan sample " + words);
    return line.substr(std::string("sample m.stan --chains 1 --metric diag ").size());
  };
  EXPECT_EQ(part("num_samples=10"), "--draws 10 --format csv");
  EXPECT_EQ(part("thin=3"), "--draws 334 --thin 3 --format csv");
  EXPECT_EQ(part("thin=3 num_samples=9"), "--draws 3 --thin 3 --format csv");
  EXPECT_EQ(part("thin=30 num_samples=9"), "--draws 1 --thin 30 --format csv");
  EXPECT_EQ(part("num_warmup=0 save_warmup=true"), "--warmup 0 --save-warmup --format csv");
  EXPECT_EQ(part("save_warmup=0"), "--format csv");
  EXPECT_EQ(part("save_warmup=false"), "--format csv");
  EXPECT_EQ(refusal("m.stan sample num_samples=0"),
            "[cmdstan] num_samples: expected a number that is 1 or more, got 0");
}

TEST(CmdStanWords, Adaptation) {
  const std::string front = "sample m.stan --chains 1 --metric diag ", back = " --format csv";
  EXPECT_EQ(
      translated("m.stan sample adapt gamma=0.1 kappa=0.8 t0=20 init_buffer=10 term_buffer=20 window=30"),
      front + "--gamma 0.1 --kappa 0.8 --t0 20 --init-buffer 10 --term-buffer 20 --window 30" + back);
  EXPECT_EQ(translated("m.stan sample adapt gamma=5e-2 t0=10.0 engaged=true save_metric=1"),
            front + "--format csv");
  EXPECT_EQ(translated("m.stan sample algorithm=hmc stepsize=1.0 stepsize_jitter=0 metric=unit_e"),
            "sample m.stan --chains 1 --metric unit --format csv");
}

TEST(CmdStanWords, SeedsAndProcesses) {
  const auto seed = [](const std::string& words) {
    const std::string line = translated("m.stan sample " + words);
    const size_t at = line.find("--seed ");
    return at == std::string::npos ? "" : line.substr(at + 7, line.find(' ', at + 7) - at - 7);
  };
  EXPECT_EQ(seed("random seed=0"), "0");
  EXPECT_EQ(seed("random seed=4294967295"), "4294967295");
  EXPECT_EQ(seed("random seed=-1"), "");
  EXPECT_EQ(seed("id=1"), "");
  EXPECT_EQ(seed("id=2 random seed=5"), "4294967301");
  EXPECT_EQ(seed("id=3 random seed=5"), "8589934597");
  EXPECT_EQ(seed("id=2"), "4294967297");
  EXPECT_EQ(seed("id=0 random seed=5"), "18446744069414584325");
}

TEST(CmdStanWords, Files) {
  const auto output = [](const std::string& file) {
    const std::string line = translated("m.stan sample output file=" + file);
    return line.substr(line.find("--output"), line.find(" --format") - line.find("--output"));
  };
  EXPECT_EQ(output("out.csv"), "--output out");
  EXPECT_EQ(output("dir/out.csv"), "--output dir/out");
  EXPECT_EQ(output("dir.csv/out"), "--output dir.csv/out");
  EXPECT_EQ(output("dir/.csv"), "--output dir/.csv");
  EXPECT_EQ(output("-out.csv"), "--output=-out");
  EXPECT_EQ(output("a=b.csv"), "--output a=b");
  EXPECT_NE(translated("m.stan sample init=-0.5").find("--init=-0.5"), std::string::npos);
  EXPECT_NE(translated("m.stan sample init=start.json").find("--init start.json"), std::string::npos);
  EXPECT_EQ(refusal("m.stan sample output file="), "[cmdstan] file: expected a file, got \"\"");
  EXPECT_EQ(refusal("m.stan sample data file="), "[cmdstan] file: expected a file, got \"\"");
  EXPECT_EQ(refusal("m.stan sample init="), "[cmdstan] init: expected a number or a file, got \"\"");
}

TEST(CmdStanWords, WhatChangesNoNumberIsTaken) {
  EXPECT_EQ(translated("m.stan sample output diagnostic_file=d.csv refresh=7 sig_figs=18 profile_file=p.csv "
                       "save_cmdstan_config=1 num_threads=-1 opencl platform=0 device=1"),
            "sample m.stan --chains 1 --metric diag --format csv");
  EXPECT_EQ(translated("m.stan sample output refresh=0"),
            "sample m.stan --chains 1 --metric diag --format csv --quiet");
}

TEST(CmdStanWords, OwnOptionsArePassedOn) {
  EXPECT_EQ(translated("m.stan sample num_chains=3 --device cpu --stan-compat"),
            "sample m.stan --chains 3 --metric diag --format csv --device cpu --stan-compat");
}

TEST(CmdStanWords, OtherMethods) {
  EXPECT_EQ(translated("m.stan optimize data file=d.json"), "optimize m.stan --data d.json");
  EXPECT_EQ(translated("m.stan optimize algorithm=lbfgs tol_obj=1e-12 history_size=7 jacobian=1 iter=50 "
                       "save_iterations=1 random seed=2 init=0 output file=o.csv"),
            "optimize m.stan --algorithm lbfgs --iterations 50 --jacobian --save-iterations --history-size 7 "
            "--init 0 --seed 2 --output o.csv");
  EXPECT_EQ(translated("m.stan optimize algorithm=newton"), "optimize m.stan --algorithm newton");
  EXPECT_EQ(translated("m.stan laplace mode=m.json draws=10 jacobian=false calculate_lp=0"),
            "laplace m.stan --mode m.json --draws 10 --no-jacobian");
  EXPECT_EQ(translated("m.stan log_prob constrained_params=p.json jacobian=0"),
            "log-prob m.stan --constrained-params p.json --no-jacobian");
  EXPECT_EQ(translated("m.stan generate_quantities fitted_params=f.csv num_chains=2"),
            "generate m.stan --draws f_1.csv --draws f_2.csv --format csv");
  EXPECT_EQ(
      translated("m.stan generate_quantities fitted_params=f.csv init=3 output file=dir/g.csv refresh=0"),
      "generate m.stan --draws f.csv --output dir/g --format csv --quiet");
  EXPECT_EQ(refusal("m.stan generate_quantities fitted_params=f.csv num_chains=5000"),
            "[cmdstan] num_chains: expected at most 1024, got 5000");
  EXPECT_EQ(translated("m.stan diagnose test=gradient epsilon=1e-5"), "check-gradient m.stan --epsilon 1e-5");
  EXPECT_EQ(translated("m.stan diagnose"), "check-gradient m.stan");
  EXPECT_EQ(refusal("m.stan laplace"), "[cmdstan] laplace: expected mode=FILE, got none");
  EXPECT_EQ(refusal("m.stan generate_quantities"),
            "[cmdstan] generate_quantities: expected fitted_params=FILE, got none");
  EXPECT_EQ(refusal("m.stan log_prob"), "[cmdstan] log_prob: expected unconstrained_params=FILE, got none");
}

TEST(CmdStanWords, Help) {
  for (const char* line : {"m.stan help", "m.stan help-all", "m.stan info", "m.stan sample help",
                           "m.stan --help", "m.stan -h", "m.stan sample num_samples=5 --help"})
    EXPECT_EQ(translated(line), "sample --help") << line;
}

TEST(CmdStanWords, FixedParam) {
  EXPECT_EQ(translated("m.stan sample algorithm=fixed_param num_samples=50"),
            "sample m.stan --chains 1 --metric diag --draws 50 --fixed-param --format csv");
}

TEST(CmdStanWords, RefusesWhatWouldChangeTheDraws) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sample algorithm=hmc engine=static", "engine=static: expected nuts"},
      {"sample algorithm=hmc engine=static int_time=3", "engine=static: expected nuts"},
      {"sample adapt engaged=0", "engaged: expected 1"},
      {"sample algorithm=hmc metric_file=m.json", "metric_file: adit reads no metric"},
      {"sample algorithm=hmc stepsize_jitter=0.5", "stepsize_jitter: expected 0"},
      {"variational", "variational: expected a method that adit has"},
      {"method=variational iter=5", "variational: expected a method that adit has"},
      {"pathfinder num_paths=4", "pathfinder: expected a method that adit has"},
  };
  for (const auto& [line, message] : cases)
    EXPECT_TRUE(refusal("m.stan " + line).starts_with("[cmdstan] " + message)) << refusal("m.stan " + line);
}

TEST(CmdStanWords, RefusesBadValues) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sample num_samples=1e3", "num_samples: expected a whole number, got 1e3"},
      {"sample num_samples=-1", "num_samples: expected a number that is 0 or more, got -1"},
      {"sample num_samples=99999999999",
       "num_samples: expected a whole number, 0 to 2147483647, got 99999999999"},
      {"sample num_samples=", "num_samples: expected a whole number, got \"\""},
      {"sample num_samples", "num_samples: expected num_samples=value without blanks, got num_samples alone"},
      {"sample num_samples = 5",
       "num_samples: expected num_samples=value without blanks, got num_samples alone"},
      {"sample thin=0", "thin: expected a number that is 1 or more, got 0"},
      {"sample save_warmup=yes", "save_warmup: unknown yes; expected 0, 1, false, true"},
      {"sample adapt delta=1", "delta: expected a number between 0 and 1, got 1"},
      {"sample adapt delta=nan", "delta: expected a number between 0 and 1, got nan"},
      {"sample adapt gamma=0", "gamma: expected a number that is more than 0, got 0"},
      {"sample adapt gamma=inf", "gamma: expected a number that is more than 0, got inf"},
      {"sample algorithm=hmc stepsize_jitter=2", "stepsize_jitter: expected a number from 0 to 1, got 2"},
      {"sample algorithm=hmc metric=dense", "metric: unknown dense; did you mean dense_e?"},
      {"sample algorithm=hmcc", "algorithm: unknown hmcc; did you mean hmc?"},
      {"method=sampel", "method: unknown sampel; did you mean sample?"},
      {"sample random seed=4294967296", "seed: expected a whole number, -1 to 4294967295, got 4294967296"},
      {"sample random seed=-2", "seed: expected a number that is -1 or more, got -2"},
      {"sample output sig_figs=19", "sig_figs: expected a whole number, -1 to 18, got 19"},
      {"sample num_threads=0", "num_threads: expected a number of threads, or -1 for all, got 0"},
      {"sample id=-1", "id: expected a number that is 0 or more, got -1"},
      {"sample =5", "=5: expected name=value without blanks, got =5"},
      {"sample adapt=1 delta=0.9", "adapt: expected it without =, before its own words, got adapt=1"},
  };
  for (const auto& [line, message] : cases)
    EXPECT_EQ(refusal("m.stan " + line), "[cmdstan] " + message) << line;
}

TEST(CmdStanWords, RefusesUnknownAndMisplacedWords) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sample num_sampels=5", "unknown num_sampels; did you mean num_samples?"},
      {"sampel", "unknown sampel; did you mean sample?"},
      {"sample zzzzzzzz=5", "unknown zzzzzzzz; `adit sample --help` tells what there is"},
      {"sample max_depth=12",
       "max_depth: expected it after sample algorithm=hmc engine=nuts, got it elsewhere"},
      {"sample data file=x num_samples=5", "num_samples: expected it after sample, got it elsewhere"},
      {"sample delta=0.9", "delta: expected it after sample adapt, got it elsewhere"},
      {"sample file=x.json", "file: expected it after data, or after output, got it elsewhere"},
      {"sample seed=5", "seed: expected it after random, got it elsewhere"},
      {"num_samples=5 sample", "num_samples: expected it after sample, got it elsewhere"},
      {"sample data file=a data file=b", "data: expected it once, got it again"},
      {"sample id=1 id=2", "id: expected it once, got it again"},
      {"sample optimize", "optimize: expected one method, got sample too"},
      {"sample method=sample", "sample: expected one method, got sample too"},
      {"",
       "method: expected one after the program, as in `m.stan sample`: sample, optimize, laplace, log_prob, "
       "generate_quantities, diagnose"},
      {"data file=x.json",
       "method: expected one after the program, as in `m.stan sample`: sample, optimize, "
       "laplace, log_prob, generate_quantities, diagnose"},
  };
  for (const auto& [line, message] : cases)
    EXPECT_EQ(refusal("m.stan " + line), "[cmdstan] " + message) << line;
}

// Words in any order, cut and mixed: an Error or a call, and each with what it must have.
TEST(CmdStanWords, AnyWords) {
  const std::vector<std::string> known = split(
      "sample optimize laplace diagnose method=sample adapt delta=0.9 num_samples=5 thin=3 algorithm=hmc "
      "engine=nuts "
      "max_depth=5 metric=diag_e data file=x output random seed=5 init=1 id=2 refresh=0 mode=f test=gradient "
      "= == "
      "=x x= num_chains=2 \x1b[31m \xff help");
  std::mt19937 random(3);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> words{"m.stan"};
    for (size_t i = random() % 8; i > 0; --i) words.push_back(known[random() % known.size()]);
    if (random() % 5 == 0) words.back() = words.back().substr(0, random() % (words.back().size() + 1));
    try {
      if (const auto call = from_cmdstan(words)) {
        ASSERT_GE(call->size(), 2u);
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::bad_argument);
      ASSERT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace adit::cli
