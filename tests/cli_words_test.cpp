// Every option with every kind of wrong value: status 2, one line that names the option, nothing done. The
// command line is parsed in this process: starting some 400 of them takes longer than all else here.
#include <algorithm>
#include <map>
#include <set>

#include <adit/command.hpp>

#include "cli_runs.hpp"

namespace adit::test {
namespace {

// What is typed, and what it is called in the tables below.
const std::map<std::string, std::string> values = {{"empty", ""},
                                                   {"negative", "-1"},
                                                   {"zero", "0"},
                                                   {"huge", "99999999999999999999999"},
                                                   {"very small", "-99999999999999999999999"},
                                                   {"overflow", "1e400"},
                                                   {"underflow", "1e-400"},
                                                   {"nan", "nan"},
                                                   {"inf", "inf"},
                                                   {"hexadecimal", "0x10"},
                                                   {"exponent", "1e3"},
                                                   {"fraction", "2.5"},
                                                   {"junk", "4junk"},
                                                   {"two", "4 4"},
                                                   {"digits of others", "٤"},
                                                   {"plus", "+4"},
                                                   {"space before", " 4"},
                                                   {"space after", "4 "},
                                                   {"minus alone", "-"},
                                                   {"escape", "\x1b[31m4"},
                                                   {"no UTF-8", "\xff"}};

struct Option {
  std::string command, name;
  std::set<std::string> good;  // values that it takes
};

const std::set<std::string> every_number{"zero", "huge", "exponent", "fraction"};

// Where `good` has "all", only the empty word is wrong.
const std::vector<Option> options = {
    {"sample", "--chains", {}},      {"sample", "--warmup", {"zero"}}, {"sample", "--draws", {}},
    {"sample", "--thin", {}},        {"sample", "--seed", {"zero"}},   {"sample", "--precision", {}},
    {"sample", "--metric", {}},      {"sample", "--adapt", {}},        {"sample", "--stuck", {}},
    {"sample", "--adapt-delta", {}}, {"sample", "--max-depth", {}},    {"sample", "--init", every_number},
    {"sample", "--output", {"all"}}, {"sample", "--format", {}},       {"summary", "--sig-figs", {}},
    {"report", "--output", {"all"}}, {"probe", "--skip", {"zero"}}};
// Devices are looked for at each call, which takes time; what is no number anyway is tried on the others.
const std::set<std::string> asked_before{"zero", "huge", "very small",   "overflow",   "underflow",
                                         "nan",  "inf",  "hexadecimal",  "exponent",   "fraction",
                                         "two",  "plus", "space before", "space after"};
const std::vector<Option> device_options = {{"sample", "--device", asked_before},
                                            {"doctor", "--device", asked_before},
                                            {"bench device", "--device", asked_before}};

// As a shell splits them: at spaces that are not between single quotes.
std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> all;
  bool quoted = false, begun = false;
  std::string word;
  for (const char c : words + " ") {
    if (c == '\'') {
      quoted = !quoted;
      begun = true;
    } else if (c != ' ' || quoted) {
      word += c;
      begun = true;
    } else if (begun) {
      all.push_back(std::exchange(word, ""));
      begun = false;
    }
  }
  return all;
}

class CliWords : public CliSampleTest {
 protected:
  void SetUp() override {
    CliSampleTest::SetUp();
    before_ = fs::current_path();
    fs::current_path(root_);
  }
  void TearDown() override {
    fs::current_path(before_);
    CliSampleTest::TearDown();
  }

  // The command in this process; a model that is asked for has no business here.
  static Outcome called(const std::string& words) {
    std::vector<std::string> typed = split("adit " + words);
    std::vector<char*> argv;
    for (std::string& word : typed) argv.push_back(word.data());
    argv.push_back(nullptr);
    const auto make = []() -> Model { throw std::logic_error("it goes on"); };
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = run_command(static_cast<int>(typed.size()), argv.data(), {{model, "", make}});
    return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
  }
  static std::string rest_of(const std::string& command) {
    if (command == "sample") return " " + model + " ";
    if (command == "summary" || command == "report") return " nowhere.csv ";
    return command == "probe" ? " nothing " : " ";
  }
  void expect_usage_error(const Option& option, const std::string& words, bool escaped = false) const {
    const Outcome outcome = called(words);
    SCOPED_TRACE(words + "\n" + outcome.errors);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output, "");
    EXPECT_TRUE(outcome.errors.starts_with("adit: "));
    EXPECT_TRUE(contains(outcome.errors, option.name));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
    EXPECT_FALSE(contains(outcome.errors, "\x1b") || contains(outcome.errors, "\xff"));
    EXPECT_EQ(escaped, contains(outcome.errors, "\\x"));
    EXPECT_FALSE(fs::exists(root_ / ("adit-" + model)) || fs::exists(root_ / "report.html"));
  }
  void try_all(const std::vector<Option>& all) const {
    for (const Option& option : all) {
      const std::string start = option.command + rest_of(option.command) + option.name;
      expect_usage_error(option, start);
      expect_usage_error(option, start + "=");
      expect_usage_error(option, option.command + " " + option.name + "= --help" + rest_of(option.command));
      for (const auto& [what, value] : values) {
        if (option.good.contains(what) || (option.good.contains("all") && what != "empty")) continue;
        const bool escaped = what == "escape" || what == "no UTF-8";
        expect_usage_error(option, start + " '" + value + "'", escaped);
        if (what == "junk") expect_usage_error(option, start + "=" + value);
      }
    }
  }

  fs::path before_;
};

TEST_F(CliWords, EveryOptionRefusesWhatItCannotTake) { try_all(options); }

// The program says what the call in this process says.
TEST_F(CliWords, ProcessesSayTheSame) {
  const std::vector<std::string> all{"sample " + model + " --chains 4junk",
                                     "summary nowhere.csv --sig-figs '\x1b[31m4'", "doctor --device nothing",
                                     "sample --drwas 5"};
  for (const std::string& words : all) {
    const Outcome here = called(words), there = adit(words + " </dev/null");
    EXPECT_EQ(there.status, 2) << words;
    EXPECT_EQ(here.status, there.status) << words;
    EXPECT_EQ(here.errors, there.errors) << words;
    EXPECT_EQ(here.output, there.output) << words;
  }
}

TEST_F(CliWords, DevicesThatDoNotExist) {
  try_all(device_options);
  for (const Option& option : device_options)
    expect_usage_error(option, option.command + rest_of(option.command) + "--device vulkan:99");
  for (const char* id : {"vulkan:", "vulkan:-1", "vulkan:0x0", "vulkan:00", "CPU", "cpu:0"})
    expect_usage_error(device_options[0], "sample " + model + " --device " + id);
}

TEST_F(CliWords, MessagesSayWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"sample " + model + " --adapt-delta 1e-400",
       "[sample] --adapt-delta: expected a number, got 1e-400, which is too near to 0"},
      {"sample " + model + " --adapt-delta 1e400", "got 1e400, which is too large"},
      {"sample " + model + " --adapt-delta -1e400", "got -1e400, which is too small"},
      {"sample " + model + " --adapt-delta 1e400x", "expected a number, got 1e400x\n"},
      {"sample " + model + " --chains 99999999999999999999", "got 99999999999999999999, which is too large"},
      {"sample " + model + " --chains -99999999999999999999", "which is too small"},
      {"sample " + model + " --chains 1 --chains 2", "[sample] --chains: expected it once, got it again"},
      {"sample " + model + " --chains 1 --draws 5 --chains=1", "--chains: expected it once, got it again"},
      {"optimize m.stan --data a --data b", "[optimize] --data: expected it once, got it again"},
      {"sample " + model + " --chains= --quiet", "[sample] --chains: expected a value after =, got none"},
      {"sample " + model + " --device ''", "[sample] --device: expected ID, got \"\""},
      {"sample " + model + " --device vulkan:99", "[sample] --device: unknown vulkan:99"},
      {"doctor --device ''", "[doctor] --device: expected a device id"},
      {"sample " + model + " --seed ''", "[sample] --seed: expected a whole number, 0 to 2^64 - 1, got \"\""},
      {"sample " + model + " --seed 18446744073709551616", "which is too large"},
      {"sample " + model + " --warmup 1073741825",
       "[sample] --warmup: expected a number that is 1073741824 or less, got 1073741825"},
      {"sample " + model + " --warmup 0 --draws 1073741824 --thin 2",
       "[sample] --draws: expected at most 1073741824"},
      {"sample " + model + " --chains 16777217",
       "[sample] --chains: expected a number that is 16777216 or less"},
      {"sample " + model + " --init 1e400",
       "[sample] --init: expected a number, got 1e400, which is too large"},
      {"sample " + model + " --warm-start ''", "[sample] --warm-start: expected FILES, got \"\""},
      {"sample " + model + " --warm-start=", "[sample] --warm-start: expected a value after ="},
      {"summary a.csv --json=", "[summary] --json: expected a value after ="},
      {"report a.csv --output ''", "[report] --output: expected the name of a file, got \"\""}};
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = called(words);
    EXPECT_EQ(outcome.status, 2) << words << "\n" << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, expected)) << words << "\n" << outcome.errors;
  }
}

// After "--" all words are names of files.
TEST_F(CliWords, NamesThatLookLikeOptions) {
  put("--odd.csv", csv_of_cmdstan(1));
  EXPECT_EQ(adit("summary -- --odd.csv").status, 0);
  EXPECT_EQ(adit("summary --odd.csv").status, 2);
}

}  // namespace
}  // namespace adit::test
