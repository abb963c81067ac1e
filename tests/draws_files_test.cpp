// Draws in CmdStan's CSV: ours there and back, CmdStan's own, what is cut off or damaged, a full disk.
#include <clocale>
#include <cmath>
#include <csignal>
#include <limits>
#include <sys/resource.h>
#include <sys/stat.h>

#include <adit/diagnostics.hpp>
#include <adit/draws_origin.hpp>

#include "io/draws.hpp"

namespace adit::test {
namespace {

// --- CSV of ours ---

TEST_F(DrawsFiles, CsvBringsBackWhatWasWritten) {
  Draws draws = example();
  draws.log_likelihood = {variable(draws, "y", {3}, {""}), variable(draws, "w", {}, {})};
  draws.posterior_predictive = {variable(draws, "y", {3}, {""})};
  write_csv(draws, path("fit"));
  EXPECT_EQ(names().size(), 2u);
  expect_same(read_draws({path("fit_1.csv"), path("fit_2.csv")}), draws);
  draws.metric = "dense", draws.finished = false;
  for (auto& metric : draws.inverse_metrics) metric = {1, 0.5, 0.5, 1.0 / 3};
  write_csv(draws, path("fit"));
  expect_words(text_of(path("fit_1.csv")),
               {"# Elements of inverse mass matrix:\n# 1, 0.5\n# 0.5, 0.33333333333333331\n"});
  expect_same(read_draws({path("fit_1.csv"), path("fit_2.csv")}), draws);
}

TEST_F(DrawsFiles, CsvIsAsCmdStanWritesIt) {
  write_csv(example(), path("fit"));
  const std::string text = text_of(path("fit_2.csv"));
  expect_words(
      text, {"# model = tést\n# method = sample\n", "\n#     num_samples = 6\n#     num_warmup = 20\n",
             "\n#     save_warmup = 0\n#     thin = 2\n", "\n#       delta = 0.95\n", "engine = nuts\n",
             "max_depth = 8\n", "metric = diag_e\n", "\n# id = 2\n", "\n#   seed = 9223372036854775813\n"});
  expect_words(text,
               {"\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,theta.1,"
                "theta.2,theta.3,L.1.1,L.2.1,L.1.2,L.2.2,L.1.3,L.2.3\n# Adaptation terminated\n"
                "# Step size = 0.5\n# Diagonal elements of inverse mass matrix:\n# 1, 2, 3\n-1"});
  expect_words(text, {"\n#  Elapsed Time: 1 seconds (Warm-up)\n#                1.5 seconds (Sampling)\n"
                      "#                3.25 seconds (Total)\n# \n"});
}

TEST_F(DrawsFiles, CsvKeepsEveryNumber) {
  Draws draws = example();
  const double inf = std::numeric_limits<double>::infinity();
  draws.variables[0].values = {inf, -inf, std::nan(""), std::nextafter(1, 2), 1e-310, 1.7976931348623157e308};
  write_csv(draws, path("fit"));
  const Draws back = read_draws({path("fit_1.csv"), path("fit_2.csv")});
  EXPECT_TRUE(std::isnan(back.variables[0].values[2]));
  for (const size_t i : {0, 1, 3, 4, 5}) EXPECT_EQ(back.variables[0].values[i], draws.variables[0].values[i]);
  draws.precision = "f32";
  draws.variables[0].values = {0.1f, 1.0f / 3, 1e-45f, 3.4028235e38f, 16777217, 1.0000001f};
  write_csv(draws, path("narrow"));
  const Draws narrow = read_draws({path("narrow_1.csv"), path("narrow_2.csv")});
  for (size_t i = 0; i < 6; i++)
    EXPECT_EQ(static_cast<float>(narrow.variables[0].values[i]),
              static_cast<float>(draws.variables[0].values[i]));
  expect_words(text_of(path("narrow_1.csv")), {",0.100000001,"});
}

// Those of chains in f32 whose densities are wider; and what the run knows of its precision.
TEST_F(DrawsFiles, CsvKeepsWideEnergies) {
  for (const char* precision : {"f32", "mixed"}) {
    Draws draws = example();
    draws.precision = precision;
    draws.stats.lp = {-123456.789012345, -1.0 / 3, 0.1f, -1e12 - 1.0 / 3, -5, std::nan("")};
    draws.stats.energy = {123458.789012345, 2.0 / 3, 0.1f, 1e12 + 2.0 / 3, 6, 7};
    draws.energy_error = 0.25;
    draws.gradient_error = 0.125;
    draws.wider = "mixed or f64";
    write_csv(draws, path(precision));
    const Draws back =
        read_draws({path(std::string(precision) + "_1.csv"), path(std::string(precision) + "_2.csv")});
    for (const size_t i : {0, 1, 3, 4}) EXPECT_EQ(back.stats.lp[i], draws.stats.lp[i]) << i;
    for (const size_t i : {0, 1, 3, 4, 5}) EXPECT_EQ(back.stats.energy[i], draws.stats.energy[i]) << i;
    EXPECT_EQ(static_cast<float>(back.stats.lp[2]), 0.1f);
    EXPECT_EQ(back.energy_error, 0.25);
    EXPECT_EQ(back.gradient_error, 0.125);
    EXPECT_TRUE(std::isnan(back.energy_error_before) && std::isnan(back.gradient_error_before));
    EXPECT_EQ(back.wider, "mixed or f64");
  }
}

TEST_F(DrawsFiles, CsvOfDrawsWithoutASampler) {
  Draws draws = example();
  draws.stats = {}, draws.step_sizes = {}, draws.inverse_metrics = {}, draws.warmup = 0;
  write_csv(draws, path("prior"));
  expect_words(text_of(path("prior_1.csv")),
               {"algorithm = fixed_param\n", "\nlp__,accept_stat__,mu,theta.1,"});
  const Draws back = read_draws({path("prior_1.csv"), path("prior_2.csv")});
  expect_same_variables(back.variables, draws.variables);
  EXPECT_EQ(back.stats.lp, std::vector<double>(6));
  EXPECT_TRUE(back.stats.divergent.empty() && back.step_sizes.empty() && back.inverse_metrics.empty());
}

// --- CSV of CmdStan ---

const std::string cmdstan_head =
    "# stan_version_major = 2\n# stan_version_minor = 33\n# stan_version_patch = 1\n# model = corr_model\n"
    "# start_datetime = 2024-01-02 03:04:05 UTC\n# method = sample (Default)\n#   sample\n"
    "#     num_samples = 3\n#     num_warmup = 5\n#     save_warmup = 1\n#     thin = 2\n#     adapt\n"
    "#       engaged = 1 (Default)\n#       gamma = 0.05 (Default)\n#       delta = 0.9\n"
    "#     algorithm = hmc (Default)\n#       hmc\n#         engine = nuts (Default)\n#           nuts\n"
    "#             max_depth = 12\n#         metric = dense_e\n#         metric_file =  (Default)\n"
    "#         stepsize = 1 (Default)\n#     num_chains = 1 (Default)\n# id = 1 (Default)\n# data\n"
    "#   file = corr.data.json\n# init = 2 (Default)\n# random\n#   seed = 4294967295\n# output\n"
    "#   file = output.csv (Default)\n# stanc_version = stanc3\n# stancflags = \n";
const std::string cmdstan_columns =
    "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,L.1.1,L.2.1,L.1.2,L.2.2,"
    "a.1.1.1,a.2.1.1,a.1.1.2,a.2.1.2,t:1,t:2.1,t:2.2\n";
const std::string cmdstan_warmup =
    "-9,1,1,1,1,0,9,91,92,93,94,95,0,0,0,0,0,0,0\n-8,1,1,1,1,0,9,81,82,83,84,85,0,0,0,0,0,0,0\n"
    "-7,1,1,1,1,0,9,71,72,73,74,75,0,0,0,0,0,0,0\n";
const std::string cmdstan_adapted =
    "# Adaptation terminated\n# Step size = 0.837\n# Elements of inverse mass matrix:\n# 0.5, -0.25\n# "
    "-0.25, 2\n";
const std::string cmdstan_draws =
    "-1.5,0.9,0.837,2,3,0,7.5,1,11,21,12,22,111,211,112,212,5,6,7\n"
    "-2.5,0.8,0.837,3,7,1,8.5,1e-05,-inf,nan,12,22,111,211,112,212,5,6,7\n";
const std::string cmdstan_tail =
    "# \n#  Elapsed Time: 0.006 seconds (Warm-up)\n#                0.017 seconds (Sampling)\n"
    "#                0.023 seconds (Total)\n# \n";
const std::string cmdstan_file =
    cmdstan_head + cmdstan_columns + cmdstan_warmup + cmdstan_adapted + cmdstan_draws + cmdstan_tail;

TEST_F(DrawsFiles, ReadsCmdStan) {
  const Draws draws = read_draws({text_file("a.csv", cmdstan_file)});
  EXPECT_EQ(draws.model, "corr_model");
  EXPECT_EQ(draws.chains, 1);
  EXPECT_EQ(draws.draws, 2);
  EXPECT_EQ(draws.warmup, 5);
  EXPECT_EQ(draws.thin, 2);
  EXPECT_EQ(draws.max_depth, 12);
  EXPECT_EQ(draws.adapt_delta, 0.9);
  EXPECT_EQ(draws.seed, 4294967295u);
  EXPECT_EQ(draws.metric, "dense");
  EXPECT_EQ(draws.inits, "2");
  EXPECT_EQ(draws.step_sizes, std::vector<double>{0.837});
  EXPECT_EQ(draws.inverse_metrics, (std::vector<std::vector<double>>{{0.5, -0.25, -0.25, 2}}));
  EXPECT_EQ(draws.seconds.warmup, 0.006);
  EXPECT_EQ(draws.seconds.sampling, 0.017);
  EXPECT_EQ(draws.seconds.total, 0.023);
  EXPECT_EQ(draws.leapfrogs, 10u);
  EXPECT_TRUE(draws.finished);
  EXPECT_EQ(draws.stats.lp, (std::vector<double>{-1.5, -2.5}));
  EXPECT_EQ(draws.stats.divergent, (std::vector<double>{0, 1}));
  ASSERT_EQ(draws.variables.size(), 5u);
  EXPECT_EQ(draws.variables[0].name, "mu");
  EXPECT_EQ(draws.variables[0].values, (std::vector<double>{1, 1e-5}));
  EXPECT_EQ(draws.variables[1].shape, (Shape{2, 2}));  // row-major
  EXPECT_EQ(std::vector(draws.variables[1].values.begin(), draws.variables[1].values.begin() + 4),
            (std::vector<double>{11, 12, 21, 22}));
  EXPECT_TRUE(std::isinf(draws.variables[1].values[4]) && std::isnan(draws.variables[1].values[6]));
  EXPECT_EQ(draws.variables[2].shape, (Shape{2, 1, 2}));
  EXPECT_EQ(std::vector(draws.variables[2].values.begin(), draws.variables[2].values.begin() + 4),
            (std::vector<double>{111, 112, 211, 212}));
  EXPECT_EQ(draws.variables[3].name, "t:1");
  EXPECT_EQ(draws.variables[4].name, "t:2");
  EXPECT_EQ(draws.variables[4].shape, (Shape{2}));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST_F(DrawsFiles, ReadsCmdStansVariations) {
  // Later versions write true and false; the ends of lines may have come through Windows.
  std::string text = replaced(cmdstan_file, "save_warmup = 1", "save_warmup = true");
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 2) text.replace(at, 1, "\r\n");
  EXPECT_EQ(read_draws({text_file("a.csv", text)}).draws, 2);
  // Without adaptation the settings tell how many rows are warm-up.
  text = replaced(cmdstan_file, cmdstan_adapted, "");
  EXPECT_EQ(read_draws({text_file("b.csv", text)}).stats.lp, (std::vector<double>{-1.5, -2.5}));
  // Comments taken out.
  const Draws bare = read_draws({text_file("c.csv", cmdstan_columns + cmdstan_draws)});
  EXPECT_EQ(bare.draws, 2);
  EXPECT_TRUE(bare.finished && bare.step_sizes.empty());
}

TEST_F(DrawsFiles, ALocaleWithCommasChangesNothing) {
  const char* before = setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  EXPECT_EQ(read_draws({text_file("a.csv", cmdstan_file)}).stats.lp[0], -1.5);
  write_csv(example(), path("fit"));
  EXPECT_EQ(read_draws({path("fit_1.csv")}).stats.lp[0], -1.5);
  if (before) setlocale(LC_ALL, "C");
}

TEST_F(DrawsFiles, AKilledRunStaysReadable) {
  const size_t rows = cmdstan_file.find("-1.5,0.9"), end = cmdstan_file.find("# \n#  Elapsed");
  const size_t second = cmdstan_file.find("-2.5,0.8");
  const Draws whole = read_draws({text_file("whole.csv", cmdstan_file)});
  for (size_t length = rows; length <= end; length++) {
    const std::string file = text_file("cut.csv", cmdstan_file.substr(0, length));
    if (length < second) {
      expect_words(error_of([&] { read_draws({file}); }), {"cut.csv: expected draws, got"});
      continue;
    }
    // The last line that was asked for counts once all of its columns are there; the run is not finished
    // then.
    const Draws draws = read_draws({file});
    ASSERT_EQ(draws.draws, length < end - 1 ? 1 : 2) << length;
    EXPECT_EQ(draws.finished, length == end);
    EXPECT_EQ(draws.stats.energy[0], 7.5);
  }
  // Chains that were cut at different places have the draws that all of them have.
  const std::string cut = text_file("cut.csv", cmdstan_file.substr(0, end - 5));
  const Draws both = read_draws({path("whole.csv"), cut});
  EXPECT_EQ(both.chains, 2);
  EXPECT_EQ(both.draws, 1);
  EXPECT_FALSE(both.finished);
  EXPECT_EQ(both.stats.lp, (std::vector<double>{-1.5, -1.5}));
}

// A killed run may have lost digits; a file that says nothing of a run was written by somebody else.
TEST_F(DrawsFiles, ALastLineWithoutItsEnd) {
  const Draws plain = read_draws({text_file("a.csv", "lp__,x\n1,2\n3,4")});
  EXPECT_EQ(plain.draws, 2);
  EXPECT_TRUE(plain.finished);
  EXPECT_EQ(plain.variables.at(0).values, (std::vector<double>{2, 4}));
  for (const std::string rest : {"3", "3,", "3,-", "3,1e", "3,4,5", "3,x"}) {
    const Draws cut = read_draws({text_file("a.csv", "lp__,x\n1,2\n" + rest)});
    EXPECT_EQ(cut.draws, 1) << rest;
    EXPECT_FALSE(cut.finished) << rest;
  }
  const std::string asked = "# num_samples = 3\nlp__,x\n1,2\n";
  EXPECT_EQ(read_draws({text_file("a.csv", asked + "3,4\n5,6")}).draws, 3);
  EXPECT_FALSE(read_draws({path("a.csv")}).finished);
  EXPECT_EQ(read_draws({text_file("a.csv", asked + "3,4")}).draws, 1);
  EXPECT_EQ(read_draws({text_file("a.csv", asked + "3,4\n5,6\n#")}).draws, 3);
  EXPECT_TRUE(read_draws({path("a.csv")}).finished);
  expect_words(read_error("e.csv", "lp__,x"), {"got none after the column names"});
}

TEST_F(DrawsFiles, NamesInBracketsAndQuotes) {
  const Draws draws = read_draws(
      {text_file("a.csv",
                 "\xEF\xBB\xBF"
                 "\"lp__\",\"L[1,1]\", \"L[2,1]\" ,\"L[1,2]\",\"L[2,2]\",v[2],v[1],odd[x],[1],a[]\r\n"
                 "0,11,21,12,22,2,1,7,8,9\r\n")});
  ASSERT_EQ(draws.variables.size(), 5u);
  EXPECT_EQ(draws.variables[0].name, "L");
  EXPECT_EQ(draws.variables[0].values, (std::vector<double>{11, 12, 21, 22}));
  EXPECT_EQ(draws.variables[1].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(draws.variables[2].name, "odd[x]");
  EXPECT_EQ(draws.variables[3].name, "[1]");
  EXPECT_EQ(draws.variables[4].name, "a[]");
}

TEST_F(DrawsFiles, LogLikelihoodsOfOthers) {
  for (const std::string names : {"log_lik.1,log_lik.2", "log_lik[1],log_lik[2]"}) {
    const Draws draws = read_draws({text_file("a.csv", "lp__,mu," + names + "\n0,1,2,3\n0,4,5,6\n")});
    ASSERT_EQ(draws.log_likelihood.size(), 1u) << names;
    EXPECT_EQ(draws.log_likelihood[0].name, "log_lik");
    EXPECT_EQ(draws.log_likelihood[0].values, (std::vector<double>{2, 3, 5, 6}));
    ASSERT_EQ(draws.variables.size(), 1u);
    write_csv(draws, path("again"));
    EXPECT_EQ(read_draws({path("again_1.csv")}).log_likelihood.at(0).values, draws.log_likelihood[0].values);
  }
  // A sum over all observations is none, nor is a name that only begins so.
  const Draws sum = read_draws({text_file("a.csv", "lp__,log_lik,log_lik_y.1\n0,1,2\n")});
  EXPECT_TRUE(sum.log_likelihood.empty());
  EXPECT_EQ(sum.variables.size(), 2u);
  // ArviZ leaves them among the parameters unless it is told.
  if (ADIT_HAS_NETCDF) {
    Draws others = example();
    others.variables.push_back(variable(others, "log_lik", {2}, {""}));
    write_netcdf(others, path("others.nc"));
    EXPECT_EQ(read_draws({path("others.nc")}).log_likelihood.at(0).name, "log_lik");
  }
  // Ours say which they are.
  Draws draws = full_example();
  draws.variables.push_back(variable(draws, "log_lik", {2}, {""}));
  write_csv(draws, path("ours"));
  const Draws back = read_draws({path("ours_1.csv"), path("ours_2.csv")});
  ASSERT_EQ(back.log_likelihood.size(), 1u);
  EXPECT_EQ(back.log_likelihood[0].name, "y");
}

// Counts that no run has.
TEST_F(DrawsFiles, WhatAFileSaysOfItsRunIsBounded) {
  const std::string huge = "9223372036854775807";
  const Draws draws = read_draws({text_file(
      "a.csv", "# num_warmup = " + huge + "\n# thin = " + huge + "\n# max_depth = -5\nlp__,x\n1,2\n3,4\n")});
  EXPECT_EQ(draws.warmup, 1 << 30);
  EXPECT_EQ(draws.thin, 1 << 30);
  EXPECT_EQ(draws.max_depth, 0);
}

TEST_F(DrawsFiles, CsvErrorsNameFileAndLine) {
  expect_words(read_error("e.csv", ""), {"[read_draws] ", "e.csv: expected draws, got an empty file"});
  expect_words(read_error("e.csv", cmdstan_head), {"comments alone"});
  expect_words(read_error("e.csv", cmdstan_head + cmdstan_columns), {"e.csv: expected draws, got none"});
  expect_words(read_error("e.csv", cmdstan_head + cmdstan_columns + cmdstan_warmup),
               {"3 rows of saved warm-up"});
  expect_words(read_error("e.csv", "a,b\n1,2\n"),
               {"e.csv: line 1: expected CmdStan's line of column names", "'a,b'"});
  expect_words(read_error("e.csv", std::string("\0\1\2", 3)), {"line 1", "\\x00\\x01"});
  expect_words(read_error("e.csv", "lp__,x\n1,2\n3\n4,5\n"), {"line 3: expected 2 numbers", "got 1"});
  expect_words(read_error("e.csv", "lp__,x\n1,2\n3,4,5\n"), {"line 3: expected 2 numbers", "got 3"});
  expect_words(read_error("e.csv", "# c\nlp__,x\n1,2\n3,4z\n"), {"line 4: expected a number, got '4z'"});
  expect_words(read_error("e.csv", "lp__,x\n1,\n"), {"line 2: expected a number, got ''"});
  expect_words(read_error("e.csv", "# method = optimize\nlp__,x\n1,2\n"), {"method sample, got 'optimize'"});
  expect_words(read_error("e.csv", "lp__,x.1,x.3\n1,2,3\n"), {"each element of 'x'", "[3]", "2 columns"});
  expect_words(read_error("e.csv", "lp__,x.1,x.1\n1,2,3\n"),
               {"line 1: expected each column once, got 'x.1'"});
  expect_words(read_error("e.csv", "lp__,x.1,x[1]\n1,2,3\n"), {"each element of 'x'"});
  expect_words(read_error("e.csv", "lp__,x.2,x.02\n1,2,3\n"), {"each element of 'x'"});
  expect_words(read_error("e.csv", "lp__,x,lp__\n1,2,3\n"), {"each column once, got 'lp__' twice"});
  expect_words(read_error("e.csv", "lp__,x\n1," + std::string(100'000, '1') + "\n"),
               {"line 2: expected a number"});
  expect_words(read_error("e.csv", std::string("lp__,x\n1,2\0\n", 12)),
               {"line 2: expected a number, got '2\\x00'"});
  expect_words(read_error("e.csv", "lp__,x.1.2,x.1\n1,2,3\n"), {"'x' to have the same number of indices"});
  expect_words(read_error("e.csv", "lp__,x.4294967296.4294967296\n1,2\n"), {"each element of 'x'"});
  const std::string a = text_file("a.csv", "lp__,x,y\n1,2,3\n"), b = text_file("b.csv", "lp__,x,z\n1,2,3\n");
  const std::string c = text_file("c.csv", "lp__,x\n1,2\n");
  expect_words(error_of([&] { read_draws({a, b}); }), {b, "columns of " + a, "column 3 'y', got 'z'"});
  expect_words(error_of([&] { read_draws({a, c}); }), {"column 3 'y', got no more columns"});
  expect_words(error_of([&] { read_draws({c, a}); }), {"no more columns, got 'y'"});
  expect_words(error_of([&] { read_draws({}); }, ErrorKind::bad_argument), {"expected files of draws"});
  expect_words(error_of([&] { read_draws({path("no.csv")}); }, ErrorKind::not_found), {path("no.csv")});
}

TEST_F(DrawsFiles, WritingErrors) {
  Draws draws = example();
  text_file("file", "");
  for (const std::string format : {"csv", "nc"}) {
    if (format == "nc" && !ADIT_HAS_NETCDF) continue;
    const auto save = [&](const std::string& to) {
      format == "nc" ? write_netcdf(draws, to) : write_csv(draws, to);
    };
    expect_words(error_of([&] { save(path("no/fit")); }, ErrorKind::not_found),
                 {path("no/fit"), "a folder to write in"});
    expect_words(error_of([&] { save(path("file/fit")); }), {path("file/fit"), "Not a directory"});
    draws.variables[1].values.pop_back();
    expect_words(error_of([&] { save(path("fit")); }, ErrorKind::bad_argument),
                 {"theta: expected 18 values, got 17"});
    draws = example();
  }
  draws.variables[0].name = "a,b";
  expect_words(error_of([&] { write_csv(draws, path("fit")); }, ErrorKind::bad_argument), {"'a,b'"});
  EXPECT_EQ(names().size(), 1u);
}

// Mixed up, they would give a posterior that no run has drawn.
TEST_F(DrawsFiles, ChainsOfTwoRunsAreNoticed) {
  const Draws draws = example();
  Draws other = draws;
  other.variables[0].values[0] += 1;
  write_csv(draws, path("fit"));
  write_csv(other, path("other"));
  expect_words(error_of([&] {
                 read_draws({path("fit_1.csv"), path("other_2.csv")});
               }),
               {"other_2.csv: expected a chain of the run of", "fit_1.csv", "another run"});
  expect_words(error_of([&] {
                 read_draws({path("fit_2.csv"), path("fit_2.csv")});
               }),
               {"fit_2.csv: expected another chain"});
  EXPECT_EQ(read_draws({path("fit_2.csv")}).chains, 1);
  const DrawsOrigin origin = origin_of_csv(path("fit_2.csv"));
  EXPECT_EQ(origin.run, run_name(draws));
  EXPECT_EQ(origin.chains, 2);
  EXPECT_NE(origin.run, run_name(other));
  EXPECT_EQ(origin_of_csv(path("none.csv")).run, "");
  if (!ADIT_HAS_NETCDF) return;
  write_netcdf(draws, path("fit.nc"));
  EXPECT_EQ(run_name(read_draws({path("fit.nc")})), origin.run);
}

// A link that somebody has put there must not lead the draws to another file.
TEST_F(DrawsFiles, LinksAreReplacedAndPipesRefused) {
  text_file("victim", "precious");
  std::filesystem::create_symlink(path("victim"), path("fit_1.csv"));
  std::filesystem::create_symlink(path("victim"), path("fit.nc"));
  std::filesystem::create_symlink(path("victim"), path("fit.html"));
  write_csv(example(), path("fit"));
  if (ADIT_HAS_NETCDF) write_netcdf(example(), path("fit.nc"));
  write_report(example(), path("fit.html"));
  EXPECT_EQ(text_of(path("victim")), "precious");
  EXPECT_EQ(read_draws({path("fit_1.csv"), path("fit_2.csv")}).chains, 2);
  ASSERT_EQ(::mkfifo(path("pipe.html").c_str(), 0600), 0);
  expect_words(error_of([&] { write_report(example(), path("pipe.html")); }),
               {"pipe.html: expected a regular file"});
}

TEST_F(DrawsFiles, AFullDiskLeavesTheOldFiles) {
  const Draws draws = example();
  Draws larger = draws;
  larger.draws = 300;
  larger.stats = {}, larger.variables = {variable(larger, "x", {20}, {""})};
  write_csv(draws, path("fit"));
  text_file("fit.html", "a good page");
  if (ADIT_HAS_NETCDF) write_netcdf(draws, path("fit.nc"));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 40000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string csv = error_of([&] { write_csv(larger, path("fit")); });
  const std::string page = error_of([&] { write_report(larger, path("fit.html")); });
  const std::string netcdf = ADIT_HAS_NETCDF ? error_of([&] { write_netcdf(larger, path("fit.nc")); })
                                             : "fit.nc: expected to write it";
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  expect_words(csv, {"fit_1.csv: expected to write it"});
  expect_words(netcdf, {"fit.nc: expected to write it"});
  expect_words(page, {"fit.html: expected to write it"});
  EXPECT_EQ(std::filesystem::file_size(path("fit.html")), 11u);
  expect_same(read_draws({path("fit_1.csv"), path("fit_2.csv")}), draws);
  EXPECT_EQ(names().size(), ADIT_HAS_NETCDF ? 4u : 3u);
}

}  // namespace
}  // namespace adit::test
