// adit sample, summary, diagnose and report, as their users meet them.
#include <fcntl.h>

#include <adit/sample.hpp>
#include <adit/sample_memory.hpp>

#include "cli/models/models.hpp"
#include "cli_runs.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

TEST_F(CliSampleTest, help_tells_every_option_with_its_default) {
  const std::string help = adit("sample --help").output;
  for (const char* option :
       {"--list",      "--chains",      "--warmup",      "--draws",          "--seed",        "--device",
        "--precision", "--metric",      "--adapt",       "--stuck",          "--adapt-delta", "--max-depth",
        "--init",      "--thin",        "--save-warmup", "--output",         "--format",      "--json",
        "--quiet",     "--resume",      "--warm-start",  "--log-likelihood", "--predictive",  "--report",
        "--no-report", "--stan-compat", "--fixed-param"})
    EXPECT_TRUE(contains(help, std::string("  ") + option + " ")) << option;
  for (const char* words : {"default 4", "default 1000", "default 0.8", "default 10", "default auto",
                            "default adit-<model>", "Example:\n  adit sample "})
    EXPECT_TRUE(contains(help, words)) << words;
  for (const std::string name : {"summary", "diagnose", "loo", "report"}) {
    const Outcome outcome = adit(name + " --help");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(contains(outcome.output, "Example:\n  adit " + name)) << outcome.output;
  }
}

TEST_F(CliSampleTest, list_tells_the_examples) {
  const std::string text = adit("sample --list").output;
  const Json array = json_of("sample --list --json");
  const auto names = adit::example_names();
  ASSERT_EQ(array.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(contains(text, "\n" + names[i] + " ")) << text;
    EXPECT_TRUE(contains(text, adit::example_doc(names[i]))) << text;
    EXPECT_EQ(array[i].at("name"), names[i]);
    EXPECT_EQ(array[i].at("doc"), adit::example_doc(names[i]));
  }
}

TEST_F(CliSampleTest, one_draw_has_a_table) {
  const Outcome outcome = adit(
      "sample eight_schools_noncentered --device cpu --chains 1 --warmup 20 --draws 1 --output run --quiet");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_TRUE(contains(outcome.output, "mean")) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "\ntau ")) << outcome.output;
}

// What log likelihoods and predictive draws take counts, and is named.
TEST_F(CliSampleTest, draws_that_never_fit_are_refused_with_what_they_take) {
  // Without them this is a fifth of the memory: radon has 919 observations and 90 numbers.
  const auto draws = static_cast<int64_t>(memory_left() / 4 / 8 / 90 / 15);
  const std::string words =
      "sample radon --device cpu --output run --warmup 1 --draws " + std::to_string(draws);
  const Outcome outcome = adit(words + " --log-likelihood --predictive");
  EXPECT_EQ(outcome.status, 2) << outcome.errors;
  for (const char* part : {"--draws: expected draws that fit into ", " GB with 4 chains, ",
                           "for --log-likelihood, ", "for --predictive; --thin N"})
    EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(CliSampleTest, bad_words_are_named) {
  const std::pair<const char*, const char*> cases[] = {
      {"--chains 0", "--chains: expected a number that is 1 or more, got 0"},
      {"--chains -3", "--chains"},
      {"--chains four", "--chains: expected a whole number, got four"},
      {"--chains 99999999999999999999",
       "--chains: expected a whole number, got 99999999999999999999, which is"},
      {"--draws 1000000000", "--draws: expected draws that fit into "},
      {"--warmup -1", "--warmup"},
      {"--draws 0", "--draws"},
      {"--thin 0", "--thin"},
      {"--seed -1", "--seed"},
      {"--seed 1.5", "--seed"},
      {"--adapt-delta 0", "--adapt-delta"},
      {"--adapt-delta 1", "--adapt-delta: expected a number between 0 and 1, got 1"},
      {"--adapt-delta nan", "--adapt-delta"},
      {"--max-depth 0", "--max-depth"},
      {"--max-depth 13", "--max-depth: expected a number from 1 to 12, got 13"},
      {"--metric dia", "--metric: unknown dia; did you mean diag?"},
      {"--adapt poled", "--adapt: unknown poled; did you mean pooled?"},
      {"--precision f16", "--precision: unknown f16; expected auto, f32, mixed, f64"},
      {"--format scv", "--format: unknown scv; did you mean csv?"},
      {"--device cpi", "--device: unknown cpi; did you mean cpu?"},
      {"--init -1", "--init"},
      {"--init nowhere.json", "--init"},
      {"--chian 4", "unknown option --chian; did you mean --chains?"},
      {"--stan-compat --adapt pooled", "--stan-compat: --adapt pooled"},
      {"--stan-compat --precision f32", "--stan-compat: --precision f32"},
      {"--resume --format none", "--resume"}};
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = adit("sample " + model + " " + words);
    EXPECT_EQ(outcome.status, 2) << words << outcome.errors;
    EXPECT_TRUE(outcome.output.empty()) << words;
    EXPECT_TRUE(contains(outcome.errors, expected)) << words << ": " << outcome.errors;
    EXPECT_FALSE(fs::exists(root_ / ("adit-" + model))) << words << ": nothing may be left behind";
  }
  EXPECT_TRUE(contains(adit("sample eight_schools_noncentred").errors, "did you mean " + model + "?"));
  EXPECT_EQ(adit("sample").status, 2);
  EXPECT_TRUE(contains(adit("sample").errors, "[sample] model: expected one of ")) << adit("sample").errors;
  EXPECT_TRUE(contains(adit("sampel").errors, "did you mean sample?"));
  EXPECT_EQ(adit("summary").status, 2);
  EXPECT_EQ(adit("summary x.csv --sig-figs 0").status, 2);
}

TEST_F(CliSampleTest, what_cannot_be_had_is_said_before_sampling) {
  put("file", "x");
  const std::pair<std::string, const char*> cases[] = {
      {"--output file", "[sample] --output: file"},
      {"--output file/below", "[sample] --output: file/below cannot be made"},
      {"--resume", "[sample] --resume: adit-"},
      {"--warm-start nowhere.csv", "[sample] --warm-start: nowhere.csv does not exist"}};
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = adit("sample " + model + " " + words);
    EXPECT_EQ(outcome.status, 1) << words;
    EXPECT_TRUE(outcome.output.empty()) << words;
    EXPECT_TRUE(contains(outcome.errors, expected)) << words << ": " << outcome.errors;
    EXPECT_FALSE(fs::exists(root_ / ("adit-" + model))) << words;
  }
  EXPECT_EQ(content_of(root_ / "file"), "x");
}

TEST_F(CliSampleTest, inits_are_held_against_the_model) {
  put("name.json", R"({"muu": 1})");
  put("size.json", R"({"mu": [1, 2]})");
  put("rows.json", R"({"z": [[1, 2, 3, 4], [5, 6, 7, 8]]})");
  put("text.json", R"({"mu": "one"})");
  put("list.json", R"([{"mu": 1}, {"mu": 2}])");
  put("lists.json", R"({"mu": [[1]]})");
  put("twice.json", R"({"mu": 1, "mu": 2})");
  put("broken.json", R"({"mu": )");
  const std::pair<std::string, const char*> cases[] = {
      {"name.json", "--init: unknown muu; did you mean mu?"},
      {"size.json", "--init: expected values of shape [] for mu, got [1,2]"},
      {"rows.json", "--init: expected values of shape [8] for z, got [[1,2,3,4],[5,6,7,8]]"},
      {"text.json", R"(--init: expected values of shape [] for mu, got "one")"},
      {"list.json", "--init: expected a list of 4 objects"},
      {"lists.json", "--init: expected values of shape [] for mu, got [[1]]"},
      {"twice.json", "--init: twice.json: expected each name once, got mu again"},
      {"broken.json", "--init: broken.json: expected JSON, got parse error at line 1, column 8"}};
  for (const auto& [file, expected] : cases) {
    const Outcome outcome = adit("sample " + model + " --init " + file);
    EXPECT_EQ(outcome.status, 2) << file;
    EXPECT_TRUE(contains(outcome.errors, expected)) << outcome.errors;
  }
}

const char* const row_keys[] = {"mean", "mcse", "sd",       "mad",      "q5",
                                "q50",  "q95",  "ess_bulk", "ess_tail", "r_hat"};

TEST_F(CliSampleTest, json_is_one_document) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Json run = json_of("sample " + model + small + "--json");
  EXPECT_TRUE(content_of(root_ / "errors").empty()) << "no progress beside JSON in a pipe";
  EXPECT_EQ(run.at("model"), model);
  EXPECT_TRUE(contains(run.at("device").get<std::string>(), "cpu"));
  EXPECT_EQ(run.at("chains"), 4);
  EXPECT_EQ(run.at("draws"), 200);
  EXPECT_GT(run.at("leapfrogs").get<int64_t>(), 800);
  EXPECT_TRUE(run.at("divergences").is_number_unsigned());
  EXPECT_TRUE(run.at("warnings").is_array());
  for (const char* key : {"open", "compile", "warmup", "sampling", "total"})
    EXPECT_GE(run.at("seconds").at(key).get<double>(), 0) << key;
  std::vector<std::string> names;
  for (const Json& row : run.at("parameters")) {
    names.push_back(row.at("name"));
    for (const char* key : row_keys)
      EXPECT_TRUE(row.at(key).is_number() || row.at(key).is_null()) << names.back() << " " << key;
  }
  for (const char* name : {"mu", "tau", "theta[1]", "theta[8]"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  // What was saved gives the same rows; CSV keeps fewer digits.
  const Json again = json_of("summary adit-" + model + " --json");
  ASSERT_EQ(again.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(again[i].at("name"), names[i]);
    EXPECT_NEAR(again[i].at("mean").get<double>(), run.at("parameters")[i].at("mean").get<double>(), 1e-3);
  }
}

TEST_F(CliSampleTest, a_run_tells_its_table_and_where_its_files_are) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Outcome outcome = adit("sample " + model + small + "--output 'a run' --format csv");
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  for (const char* words : {"ESS_bulk", "R_hat", "theta[H]", "a run/report.html", "_1.csv", "_4.csv", "cpu"})
    EXPECT_TRUE(contains(outcome.output, words)) << words << "\n" << outcome.output;
  EXPECT_TRUE(contains(outcome.errors, "(100 %)")) << outcome.errors;
  EXPECT_FALSE(contains(outcome.errors, "\r")) << "lines where standard error is no terminal";
  EXPECT_TRUE(fs::exists(root_ / "a run/report.html"));
  EXPECT_FALSE(fs::exists(root_ / "a run/checkpoint")) << "a finished run needs none";
  // Fewer chains in the same folder: nothing of the first run may be taken for theirs.
  EXPECT_EQ(adit(with("sample " + model + small, "--chains 2 --output 'a run' --format csv --quiet")).status,
            0);
  EXPECT_TRUE(content_of(root_ / "errors").empty());
  EXPECT_TRUE(fs::exists(root_ / ("a run/" + model + "_2.csv")));
  EXPECT_FALSE(fs::exists(root_ / ("a run/" + model + "_3.csv")));
  EXPECT_EQ(adit("diagnose 'a run'").status, 0);
  EXPECT_EQ(adit("report 'a run' --output page.html").status, 0);
  EXPECT_TRUE(contains(content_of(root_ / "page.html"), "<html"));
  EXPECT_EQ(adit("sample " + model + small + "--output kept-out --format none --quiet").status, 0);
  EXPECT_FALSE(fs::exists(root_ / "kept-out"));
}

// On a terminal the progress is one line, written over and at last taken away.
TEST_F(CliSampleTest, a_terminal_shows_one_line) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0)
    GTEST_SKIP() << "no terminals here";
  const std::string name = ::ptsname(terminal);
  const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY);  // keeps what was written until it is read
  std::string line = command("sample " + model + small + "--format none");
  line.replace(line.find("2>errors"), 8, "2>" + name);
  EXPECT_EQ(std::system(line.c_str()), 0);
  std::string text(4096, '\0');
  const ssize_t count = ::read(terminal, text.data(), text.size());
  ::close(held);
  ::close(terminal);
  ASSERT_GT(count, 0);
  text.resize(static_cast<size_t>(count));
  EXPECT_TRUE(contains(text, "\rsampling ")) << text;
  EXPECT_TRUE(contains(text, "(100 %)")) << text;
  EXPECT_FALSE(contains(text, "\n")) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
}

TEST_F(CliSampleTest, draws_of_cmdstan) {
  for (int chain = 1; chain <= 4; ++chain)
    put("output_" + std::to_string(chain) + ".csv", csv_of_cmdstan(chain));
  const std::string files = " output_1.csv output_2.csv output_3.csv output_4.csv ";
  const Json rows = json_of("summary" + files + "--json");
  ASSERT_EQ(rows.size(), 3u);
  const std::pair<const char*, double> means[] = {{"mu", 0.5}, {"theta[1]", 10.5}, {"theta[2]", 99.5}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].at("name"), means[i].first);
    EXPECT_NEAR(rows[i].at("mean").get<double>(), means[i].second, 0.05);
    EXPECT_NEAR(rows[i].at("r_hat").get<double>(), 1, 0.02);
  }
  const std::string text = adit("summary" + files + "--sig-figs 4").output;
  EXPECT_TRUE(contains(text, "theta[2]") && contains(text, "99.5") && contains(text, "lp__")) << text;
  EXPECT_EQ(json_of("diagnose" + files + "--json").at("divergences"), 0);
  EXPECT_FALSE(adit("diagnose" + files).output.empty());
  EXPECT_EQ(adit("report" + files).status, 0);
  EXPECT_TRUE(fs::exists(root_ / "report.html"));
  for (const std::string words : {"summary nowhere.csv", "diagnose nowhere", "report nowhere.nc"}) {
    EXPECT_EQ(adit(words).status, 1) << words;
    EXPECT_TRUE(contains(adit(words).errors, "nowhere")) << words;
  }
  put("wrong.csv", "no draws at all\n");
  EXPECT_EQ(adit("summary wrong.csv").status, 1);
  fs::create_directory(root_ / "empty");
  EXPECT_TRUE(contains(adit("summary empty").errors, "no draws in empty"));
}

TEST_F(CliSampleTest, log_likelihoods_give_loo_and_waic) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Outcome text = adit("sample " + model + small + "--log-likelihood --no-report --output run");
  ASSERT_EQ(text.status, 0) << text.errors;
  const Json run = json_of("sample " + model + small + "--log-likelihood --format none --json");
  ASSERT_EQ(run.at("loo").size(), 1u) << run.at("loo");
  const Json loo = run.at("loo").begin().value();
  // Eight schools has an elpd of about -31 and an effective number of parameters of about 1.
  for (const Json& one : {loo, loo.at("waic")}) {
    EXPECT_NEAR(one.at("elpd").get<double>(), -30.8, 1) << loo;
    EXPECT_NEAR(one.at("p").get<double>(), 1, 0.8) << loo;
    EXPECT_GT(one.at("se").get<double>(), 0) << loo;
  }
  EXPECT_LT(loo.at("worst_pareto_k").get<double>(), 1.2) << loo;
  const std::string name = run.at("loo").begin().key();
  const Outcome saved = adit("summary run");
  for (const std::string& output : {text.output, saved.output})
    for (const std::string& words :
         {"LOO  " + name + ": elpd -3", "WAIC " + name + ": elpd -3", std::string("worst Pareto k ")})
      EXPECT_TRUE(contains(output, words)) << words << "\n" << output;
  EXPECT_TRUE(contains(saved.output, adit("loo run").output)) << saved.output;
  const Json of_saved = json_of("loo run --json");
  EXPECT_EQ(of_saved.at(name).at("elpd"), loo.at("elpd"));
  EXPECT_EQ(of_saved.at(name).at("waic"), loo.at("waic"));
  const Outcome without = adit("sample " + model + small + "--no-report --output without");
  EXPECT_FALSE(contains(without.output, "WAIC")) << without.output;
  const Outcome none = adit("loo without");
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(contains(none.errors, "[loo] files: expected log likelihoods in without, got none"))
      << none.errors;
}

}  // namespace
}  // namespace adit::test
