// adit sample, summary, diagnose and report, as their users meet them.
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <adit/sample.hpp>

#include "native/compile.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using namespace std::chrono_literals;

struct Outcome {
  int status = -1;  // minus the signal, where one ended it
  std::string output, errors;
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string model = "eight_schools_noncentered";
const std::string small = " --device cpu --chains 4 --warmup 200 --draws 200 ";

class CliSampleTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "adit-cli-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  // In a folder of the test's own; one cache for all tests of this program.
  std::string command(const std::string& words) const {
    return "cd " + root_.string() + " && exec env -u ADIT_DEVICE -u ADIT_LOG " ADIT_PROGRAM " " + words +
           " >output 2>errors";
  }
  Outcome outcome_of(int status) const {
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(root_ / "output"),
            content_of(root_ / "errors")};
  }
  Outcome adit(const std::string& words) const { return outcome_of(std::system(command(words).c_str())); }

  // Whether `words` are on standard error before the child ends; `status` is its own if it does.
  bool waits_for(const std::string& words, pid_t child, int& status) const {
    for (int i = 0; i < 30000; ++i) {
      if (contains(content_of(root_ / "errors"), words)) return true;
      if (::waitpid(child, &status, WNOHANG) == child) return false;
      std::this_thread::sleep_for(2ms);
    }
    ADD_FAILURE() << "no " << words;
    return true;
  }

  pid_t started(const std::string& words) const {
    fs::remove(root_ / "errors");
    const std::string line = command(words);
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }

  // Starts a run and kills it between two writes of its checkpoint, when that has `bytes`.
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
      std::this_thread::sleep_for(2ms);
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

  // The one document on standard output; parsing refuses anything before or after it.
  Json json_of(const std::string& words) const {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.errors;
    const Json document = Json::parse(outcome.output, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << words << ": " << outcome.output;
    return document;
  }

  void put(const std::string& name, const std::string& text) const { std::ofstream(root_ / name) << text; }

  fs::path root_;
};

// As CmdStan writes it, shortened: a chain that walks through four values again and again.
std::string csv_of_cmdstan(int chain) {
  std::string text =
      "# stan_version_major = 2\n# stan_version_minor = 35\n# model = small_model\n# method = sample "
      "(Default)\n#   sample\n#     num_samples = 400\n#     num_warmup = 1000 (Default)\n#     thin = 1 "
      "(Default)\n#     algorithm = hmc (Default)\n#       hmc\n#         engine = nuts (Default)\n"
      "#           nuts\n#             max_depth = 10 (Default)\n# id = " +
      std::to_string(chain) +
      "\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,theta.1,theta.2\n"
      "# Adaptation terminated\n# Step size = 0.5\n# Diagonal elements of inverse mass matrix:\n# 1, 2, 3\n";
  uint64_t state = static_cast<uint64_t>(chain);
  for (int i = 0; i < 400; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double u = static_cast<double>(state >> 11) / 9007199254740992.0;
    text += "-" + std::to_string(u) + ",0.9,0.5,2,3,0," + std::to_string(1 + u) + "," + std::to_string(u) +
            "," + std::to_string(10 + u) + "," + std::to_string(100 - u) + "\n";
  }
  return text +
         "# \n#  Elapsed Time: 0.1 seconds (Warm-up)\n#                0.2 seconds (Sampling)\n"
         "#                0.3 seconds (Total)\n# \n";
}

TEST_F(CliSampleTest, help_tells_every_option_with_its_default) {
  const std::string help = adit("sample --help").output;
  for (const char* option :
       {"--list",           "--chains",     "--warmup", "--draws",       "--seed",
        "--device",         "--precision",  "--metric", "--adapt",       "--adapt-delta",
        "--max-depth",      "--init",       "--thin",   "--save-warmup", "--output",
        "--format",         "--json",       "--quiet",  "--resume",      "--warm-start",
        "--log-likelihood", "--predictive", "--report", "--no-report",   "--stan-compat"})
    EXPECT_TRUE(contains(help, std::string("  ") + option + " ")) << option;
  for (const char* words : {"default 4", "default 1000", "default 0.8", "default 10", "default diag",
                            "default adit-<model>", "Example:\n  adit sample "})
    EXPECT_TRUE(contains(help, words)) << words;
  for (const std::string name : {"summary", "diagnose", "report"}) {
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

TEST_F(CliSampleTest, bad_words_are_named) {
  const std::pair<const char*, const char*> cases[] = {
      {"--chains 0", "--chains: expected a number that is 1 or more, got 0"},
      {"--chains -3", "--chains"},
      {"--chains four", "--chains"},
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
      {"--precision f16", "--precision: unknown f16; expected auto, f32, f64"},
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
      {"--warm-start nowhere.csv", "[sample] --warm-start: nowhere.csv does not exist"},
      {"--device vulkan:99", "vulkan:99"}};
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
  put("text.json", R"({"mu": "one"})");
  put("list.json", R"([{"mu": 1}, {"mu": 2}])");
  put("broken.json", R"({"mu": )");
  const std::pair<std::string, const char*> cases[] = {
      {"name.json", "--init: unknown muu; did you mean mu?"},
      {"size.json", "--init: expected values of shape [] for mu, got 2 numbers"},
      {"text.json", "--init: expected numbers for mu"},
      {"list.json", "--init: expected a list of 4 objects"},
      {"broken.json", "--init: expected a JSON file, got broken.json"}};
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
  for (const char* words : {"ESS_bulk", "R_hat", "theta[8]", "a run/report.html", "_1.csv", "_4.csv", "cpu"})
    EXPECT_TRUE(contains(outcome.output, words)) << words << "\n" << outcome.output;
  EXPECT_TRUE(contains(outcome.errors, "(100 %)")) << outcome.errors;
  EXPECT_FALSE(contains(outcome.errors, "\r")) << "lines where standard error is no terminal";
  EXPECT_TRUE(fs::exists(root_ / "a run/report.html"));
  EXPECT_FALSE(fs::exists(root_ / "a run/checkpoint")) << "a finished run needs none";
  // Fewer chains in the same folder: nothing of the first run may be taken for theirs.
  EXPECT_EQ(adit("sample " + model + small + "--chains 2 --output 'a run' --format csv --quiet").status, 0);
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

TEST_F(CliSampleTest, a_warm_start_takes_over_step_size_and_metric) {
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
    ASSERT_EQ(adit("sample " + model + small + "--warmup 0 --warm-start first --format csv --no-report " +
                   "--output next --chains " + std::to_string(chains))
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
TEST_F(CliSampleTest, ctrl_c_stops_and_resume_goes_on) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const std::string words =
      "sample " + model + " --device cpu --chains 4 --warmup 200 --draws 40000 --no-report --format csv ";
  const Outcome stopped = interrupted(words + "--output broken");
  ASSERT_EQ(stopped.status, 130) << stopped.errors;
  EXPECT_TRUE(contains(stopped.errors, "Stopping")) << stopped.errors;
  EXPECT_TRUE(contains(stopped.errors, "--output broken --resume")) << stopped.errors;
  EXPECT_TRUE(contains(stopped.output, "theta[8]")) << stopped.output;
  EXPECT_TRUE(fs::exists(root_ / "broken/checkpoint"));
  EXPECT_FALSE(json_of("summary broken --json").empty());

  const Json resumed = json_of(words + "--output broken --resume --json");
  const Json unbroken = json_of(words + "--output whole --json");
  EXPECT_TRUE(resumed.at("finished").get<bool>());
  EXPECT_EQ(resumed.at("draws"), 40000);
  EXPECT_EQ(resumed.at("parameters"), unbroken.at("parameters"));
  EXPECT_FALSE(fs::exists(root_ / "broken/checkpoint"));
}

TEST_F(CliSampleTest, the_second_ctrl_c_ends_at_once) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Outcome killed = interrupted(
      "sample " + model + " --device cpu --chains 4 --warmup 200 --draws 200000 --no-report --format csv",
      20);
  EXPECT_EQ(killed.status, -SIGINT) << killed.errors;
  EXPECT_TRUE(killed.output.empty()) << "no summary after a kill";
}

// A kill leaves the checkpoint alone: its draws are those that the run makes in the end.
TEST_F(CliSampleTest, a_killed_run_is_read_from_its_checkpoint) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const std::string words =
      "sample " + model + " --device cpu --chains 2 --warmup 200 --no-report --format csv --output cut ";
  const Outcome dead = killed(words + "--draws 4000000", "cut/checkpoint", 200000);
  ASSERT_EQ(dead.status, -SIGKILL) << dead.errors;
  const Outcome summary = adit("summary cut --sig-figs 6");
  ASSERT_EQ(summary.status, 0) << summary.errors;
  EXPECT_TRUE(contains(summary.output, "theta[8]")) << summary.output;
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
    const Outcome other = adit(words + "--resume " + option);
    EXPECT_EQ(other.status, 1) << option;
    EXPECT_TRUE(contains(other.errors, expected)) << option << ": " << other.errors;
  }
  // The same draws as an unbroken run of that length has.
  const Json whole =
      json_of("sample " + model + " --device cpu --chains 2 --warmup 200 --format none --json " + "--draws " +
              std::to_string(draws));
  ASSERT_EQ(rows.size(), whole.at("parameters").size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].at("name"), whole.at("parameters")[i].at("name"));
    EXPECT_NEAR(rows[i].at("mean").get<double>(), whole.at("parameters")[i].at("mean").get<double>(), 1e-9);
  }
}

TEST_F(CliSampleTest, log_likelihoods_give_loo_and_waic) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const Outcome text = adit("sample " + model + small + "--log-likelihood --no-report --output run");
  ASSERT_EQ(text.status, 0) << text.errors;
  const Json run = json_of("sample " + model + small + "--log-likelihood --format none --json");
  ASSERT_EQ(run.at("loo").size(), 1u) << run.at("loo");
  const Json& loo = run.at("loo").begin().value();
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
  const Outcome without = adit("sample " + model + small + "--format none");
  EXPECT_FALSE(contains(without.output, "WAIC")) << without.output;
}

}  // namespace
