// What the command reads: pipes, devices, odd files and odd names.
#include <algorithm>
#include <sys/stat.h>

#include "cli_runs.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

class CliInput : public CliSampleTest {
 protected:
  // In a shell of its own, for pipes; `adit` stands for the command.
  Outcome shell(const std::string& line) const {
    const std::string script = "adit() { env -u ADIT_DEVICE -u ADIT_LOG " ADIT_PROGRAM " \"$@\"; }\ncd " +
                               root_.string() + "\n{ " + line + "\n} >output 2>errors\n";
    put("script", script);
    return outcome_of(std::system(("exec bash " + (root_ / "script").string()).c_str()));
  }
  bool has_bash() const { return std::system("bash -c true 2>/dev/null") == 0; }
  void expect_error(const Outcome& outcome, const std::string& words) const {
    EXPECT_EQ(outcome.status, 1) << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, words)) << words << "\n" << outcome.errors;
    EXPECT_EQ(outcome.output, "");
  }
};

TEST_F(CliInput, PipesAreReadOnce) {
  if (!has_bash()) GTEST_SKIP() << "no bash";
  put("a.csv", csv_of_cmdstan(1));
  put("b.csv", csv_of_cmdstan(2));
  const std::string expected = adit("summary a.csv b.csv").output;
  ASSERT_FALSE(expected.empty());
  for (const std::string line : {"adit summary <(cat a.csv) <(cat b.csv)", "cat a.csv | adit summary - b.csv",
                                 "adit summary a.csv - <b.csv", "cat b.csv | adit summary a.csv /dev/stdin",
                                 "mkfifo f; (sleep 0.3; cat b.csv >f) & adit summary a.csv f"}) {
    const Outcome outcome = shell(line);
    EXPECT_EQ(outcome.status, 0) << line << outcome.errors;
    EXPECT_EQ(outcome.output, expected) << line;
  }
  // Slow writers have time.
  const Outcome slow = shell("(head -c 3000 a.csv; sleep 0.5; tail -c +3001 a.csv) | adit summary - b.csv");
  EXPECT_EQ(slow.output, expected) << slow.errors;
  expect_error(shell("adit summary - </dev/null"), "/dev/stdin");
  expect_error(shell("true | adit summary -"), "empty file");
}

TEST_F(CliInput, NobodyWritesToThePipe) {
  ASSERT_EQ(::mkfifo((root_ / "pipe.csv").c_str(), 0600), 0);
  expect_error(adit("summary pipe.csv"),
               "pipe.csv: expected a file to read, got a pipe that nobody writes to");
}

TEST_F(CliInput, DevicesAndFolders) {
  for (const std::string device : {"/dev/zero", "/dev/null", "/dev/random"})
    if (fs::exists(device)) expect_error(adit("summary " + device), device + ": expected a file or a pipe");
  expect_error(adit("summary - </dev/zero"), "got a device");
  fs::create_directory(root_ / "folder.csv");
  put("a.csv", csv_of_cmdstan(1));
  expect_error(adit("summary a.csv folder.csv"), "no draws in folder.csv");
  fs::create_directory(root_ / "run");
  fs::create_directory(root_ / "run/x.csv");
  expect_error(adit("summary run"), "x.csv");
  put("empty.csv", "");
  expect_error(adit("summary empty.csv"), "empty.csv: expected draws, got an empty file");
  std::ofstream(root_ / "sparse.csv").put('l');
  std::error_code too_large;
  fs::resize_file(root_ / "sparse.csv", uintmax_t{1} << 42, too_large);
  if (!too_large) expect_error(adit("summary sparse.csv"), "sparse.csv: expected what fits into");
}

TEST_F(CliInput, InitFilesOfAllKinds) {
  put("deep.json", std::string(200'000, '[') + std::string(200'000, ']'));
  put("open.json", std::string(200'000, '['));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"mu\":";
  put("objects.json", objects + "1" + std::string(100'000, '}'));
  put("hundred.json",
      "{\"mu\":" + std::string(90, '[') + "\"" + std::string(5000, 'x') + "\"" + std::string(90, ']') + "}");
  put("name.json", "{\"m\\u001b[31m\\nu\": 1}");
  put("bytes.json", "{\"mu\": \"\xff\"}");
  for (const std::string file : {"deep.json", "open.json", "objects.json", "hundred.json", "name.json",
                                 "bytes.json", ".", "/dev/zero", "nowhere.json"}) {
    const Outcome outcome = adit("sample " + model + " --init " + file);
    EXPECT_EQ(outcome.status, 2) << file << outcome.errors;
    EXPECT_TRUE(outcome.errors.starts_with("adit: [sample] --init: ")) << outcome.errors;
    EXPECT_LT(outcome.errors.size(), 400u) << file;
    EXPECT_FALSE(contains(outcome.errors, "\x1b") || contains(outcome.errors, "\xff")) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  }
}

TEST_F(CliInput, InitFromAPipe) {
  if (!has_bash() || !native::available()) GTEST_SKIP() << "no bash, or no LLVM";
  const std::string run = "adit sample " + model + small + "--format none --json ";
  const Outcome piped = shell(run + "--init <(echo '{\"mu\": 3}')"),
                wrong = shell(run + "--init <(echo '{\"muu\": 3}')");
  EXPECT_EQ(piped.status, 0) << piped.errors;
  EXPECT_TRUE(contains(wrong.errors, "unknown muu; did you mean mu?")) << wrong.errors;
  EXPECT_EQ(shell("echo '{\"mu\": 3}' | " + run + "--init -").status, 0);
}

// --- Names that a terminal would obey ---

const std::string evil =
    "a\x1b]0;owned\x07\x1b[2J\x9b"
    "31m\xff\r";

std::string evil_csv() {
  std::string text = csv_of_cmdstan(1);
  text.replace(text.find("small_model"), 11, "model" + evil.substr(0, evil.size() - 1));
  const size_t mu = text.find(",mu,");
  return text.replace(mu, 4, "," + evil + "b,");
}

void expect_harmless(const std::string& text) {
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    EXPECT_TRUE(code == '\n' || (code >= 0x20 && code < 0x7f)) << static_cast<int>(code) << " in\n" << text;
  }
}

TEST_F(CliInput, NamesFromFilesAreShownNotObeyed) {
  put("a.csv", evil_csv());
  for (const std::string words :
       {"summary a.csv", "diagnose a.csv", "summary a.csv --json", "diagnose a.csv --json"}) {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 0) << words << outcome.errors;
    expect_harmless(outcome.output + outcome.errors);
    EXPECT_TRUE(contains(outcome.output, "owned") || contains(words, "diagnose")) << outcome.output;
    if (contains(words, "--json")) {
      EXPECT_FALSE(Json::parse(outcome.output, nullptr, false).is_discarded()) << outcome.output;
    }
  }
  // In errors too: names of columns, names of files, what was typed.
  put("b.csv", csv_of_cmdstan(2));
  const std::string name = "'" + evil + ".csv'";
  const std::vector<std::string> wrong{
      "summary b.csv a.csv",
      "summary " + name,
      "summary '" + evil + "/x'",
      "loo a.csv",
      "sample '" + evil + "'",
      "'" + evil + "'",
      "summary '--" + evil + "'",
      "sample " + model + " --output '" + evil + "/\x1b' --device '" + evil + "'"};
  for (const std::string& words : wrong) {
    const Outcome outcome = adit(words);
    EXPECT_NE(outcome.status, 0) << words;
    expect_harmless(outcome.output + outcome.errors);
  }
  const Outcome lines = adit("summary 'a\nadit: all is well'");
  EXPECT_EQ(std::count(lines.errors.begin(), lines.errors.end(), '\n'), 1) << lines.errors;
  put("c.csv", std::string("# model = x\nlp__,\x1b[31mx\n1,\x1b[31m\n"));
  expect_harmless(adit("summary c.csv").errors);
}

TEST_F(CliInput, NamesOfFilesInJson) {
  put("a.csv", csv_of_cmdstan(1));
  for (const std::string name : {"r\xff.html", "r\x1b[31m.html", "rö.html"}) {
    const Outcome outcome = adit("report a.csv --json --output '" + name + "'");
    EXPECT_FALSE(contains(outcome.output + outcome.errors, "\x1b") || contains(outcome.output, "\xff"));
    if (outcome.status == 0) {
      EXPECT_FALSE(Json::parse(outcome.output, nullptr, false).is_discarded()) << outcome.output;
    }
    const Outcome text = adit("report a.csv --output 'b" + name + "'");
    EXPECT_FALSE(contains(text.output, "\x1b") || contains(text.output, "\xff")) << text.output;
  }
}

TEST_F(CliInput, LogLikelihoodsOfCmdStan) {
  std::string text = csv_of_cmdstan(1);
  text.replace(text.find("theta.1,theta.2"), 15, "log_lik.1,log_lik.2");
  put("a.csv", text);
  const Json loo = json_of("loo a.csv --json");
  EXPECT_TRUE(loo.at("log_lik").at("elpd").is_number()) << loo;
  EXPECT_TRUE(contains(adit("summary a.csv").output, "LOO  log_lik: elpd")) << adit("summary a.csv").output;
}

}  // namespace
}  // namespace adit::test
