// The command where its streams do not do what they should: closed, full, read by nobody, a terminal that
// knows no escapes; and JSON of what has no words in it.
#include <cerrno>
#include <csignal>
#include <fcntl.h>

#include "cli_runs.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

class CliStreamsTest : public CliSampleTest {
 protected:
  // The status of a shell that runs `adit words streams`; minus the signal that ended the command.
  int status_with(const std::string& words, const std::string& streams) const {
    const std::string line = "cd " + root_.string() + " && env -u ADIT_DEVICE -u ADIT_LOG " ADIT_PROGRAM " " +
                             words + " " + streams;
    const int status = std::system(("( " + line + " )").c_str());
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return code > 128 && code != 130 ? 128 - code : code;
  }

  // What a terminal is sent on standard error.
  std::string on_terminal(const std::string& words, const std::string& environment) const {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return "no terminal";
    const std::string name = ::ptsname(terminal);
    const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY);
    std::string line = command(words);
    line.replace(line.find("2>errors"), 8, "2>" + name);
    line.replace(line.find("exec env"), 8, "exec env NO_COLOR= " + environment + " env");
    EXPECT_EQ(std::system(line.c_str()), 0);
    std::string text(65536, '\0');
    ::fcntl(terminal, F_SETFL, O_NONBLOCK);
    const ssize_t count = ::read(terminal, text.data(), text.size());
    ::close(held);
    ::close(terminal);
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }
};

const char* const quick[] = {"version", "ops --json", "--version", "--help", "sample --list", "cache"};

TEST_F(CliStreamsTest, output_that_is_lost_is_an_error) {
  for (const std::string words : quick)
    for (const std::string streams : {">&-", ">/dev/full", "<&- >&- 2>&-"}) {
      if (contains(streams, "/dev/full") && !fs::exists("/dev/full")) continue;
      EXPECT_EQ(status_with(words, streams), 1) << words << " " << streams;
    }
  if (!fs::exists("/dev/full")) return;
  EXPECT_EQ(status_with("version", ">/dev/full 2>errors"), 1);
  EXPECT_TRUE(contains(content_of(root_ / "errors"), "adit: standard output: expected to write it, got: "));
}

TEST_F(CliStreamsTest, errors_that_nobody_hears_change_nothing) {
  for (const std::string words : {"", "nonsense", "ops --nonsense", "summary nowhere", "sample --chains x"}) {
    const int expected = status_with(words, ">output 2>errors");
    EXPECT_TRUE(expected == 1 || expected == 2) << words << " " << expected;
    for (const std::string streams : {"2>&-", "2>/dev/full"}) {
      if (contains(streams, "/dev/full") && !fs::exists("/dev/full")) continue;
      EXPECT_EQ(status_with(words, ">output " + streams), expected) << words << " " << streams;
    }
  }
  for (const std::string words : quick) EXPECT_EQ(status_with(words, ">output <&- 2>&-"), 0) << words;
}

TEST_F(CliStreamsTest, a_pipe_that_nobody_reads_ends_nothing) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(ADIT_PROGRAM, "adit", "ops", "--json", nullptr);
    ::_exit(127);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

// Progress on a standard error that is closed: no word may come into the files of the run.
TEST_F(CliStreamsTest, closed_streams_do_not_reach_the_files_of_a_run) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const std::string words = "sample " + model + small + "--no-report --format csv ";
  ASSERT_EQ(status_with(words + "--output good", ">output 2>errors"), 0) << content_of(root_ / "errors");
  for (const std::string streams : {"2>&-", "<&- >&- 2>&-"}) {
    // A checkpoint after each second only: one that is stopped has one for certain.
    const std::string stopped = "( cd " + root_.string() + " && exec " ADIT_PROGRAM " " +
                                with(words, "--draws 4000000 --thin 50 --output cut ") + streams +
                                " ) & p=$!; " + "for i in $(seq 1 3000); do [ -s " +
                                (root_ / "cut/checkpoint").string() +
                                " ] && break; sleep 0.01; done; sleep 1.5; kill -INT $p; wait $p";
    [[maybe_unused]] const int status = std::system(("bash -c '" + stopped + "' >/dev/null 2>&1").c_str());
    const Outcome read = adit("summary cut/checkpoint");
    EXPECT_EQ(read.status, 0) << streams << ": " << read.errors;
    fs::remove_all(root_ / "cut");
  }
}

TEST_F(CliStreamsTest, a_terminal_without_escapes_gets_none) {
  if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  const std::string words = "sample " + model + small + "--format none";
  if (on_terminal(words, "TERM=xterm") == "no terminal") GTEST_SKIP() << "no terminals here";
  EXPECT_TRUE(contains(on_terminal(words, "TERM=xterm"), "\x1b["));
  for (const std::string environment : {"TERM=dumb", "TERM=xterm NO_COLOR=1"}) {
    const std::string text = on_terminal(words, environment);
    EXPECT_TRUE(contains(text, "sampling ")) << environment << text;
    EXPECT_FALSE(contains(text, "\x1b")) << environment << text;
  }
}

TEST_F(CliStreamsTest, odd_paths_are_named_with_json_too) {
  put("file", "x");
  fs::create_directory(root_ / "folder");
  const std::string long_name(5000, 'n');
  const std::string bad_bytes = "$(printf 'a\\377b')";
  const std::pair<std::string, std::string> cases[] = {
      {"summary file/below", "[summary] files: "},
      {"summary ''", "[summary] files: expected a path"},
      {"summary " + long_name, "File name too long"},
      {"diagnose folder/none", "[diagnose] files: folder/none does not exist"},
      {"loo folder", "[loo] files: no draws in folder"},
      {"report file --output ''", "[report] --output: expected the name of a file"},
      {"report file --output folder", "[report] --output: expected a file or a new name, got folder"},
      {"report file --output file/below", "[report] --output: "},
      {"report file --output " + bad_bytes, "[report] --output: expected a name in UTF-8"},
      {"sample " + model + " --output file", "[sample] --output: file cannot be made"},
      {"sample " + model + " --output file/below", "[sample] --output: file/below"},
      {"sample " + model + " --output ''", "[sample] --output: expected "},
      {"sample " + model + " --output " + long_name, "[sample] --output: "},
      {"sample " + model + " --resume --output " + long_name, "File name too long"},
      {"sample " + model + " --resume --output file", "[sample] --"},
      {"sample " + model + " --output " + bad_bytes, "[sample] --output: expected a name in UTF-8"}};
  for (const auto& [words, expected] : cases) {
    const Outcome outcome = adit(words + " --json");
    EXPECT_TRUE(outcome.status == 1 || outcome.status == 2) << words << " " << outcome.status;
    EXPECT_TRUE(contains(outcome.errors, expected)) << words << ": " << outcome.errors;
    for (const char* raw : {"filesystem error", "json.exception", "bad_alloc", "std::"})
      EXPECT_FALSE(contains(outcome.errors, raw)) << outcome.errors;
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
  }
  EXPECT_EQ(content_of(root_ / "file"), "x");
}

TEST_F(CliStreamsTest, json_of_names_that_are_no_text) {
  std::string text = csv_of_cmdstan(1);
  text.replace(text.find(",mu,"), 4, ",m\xff,");
  put("odd.csv", text);
  EXPECT_EQ(json_of("summary odd.csv --json").size(), 3u);
}

}  // namespace
}  // namespace adit::test
