// The folder of a run from its first file to its last: whose it is, what is replaced and when, and what
// readers make of one that a run has not finished.
#include <csignal>
#include <functional>
#include <sys/stat.h>

#include "cli_runs.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

const std::string csv_words = "sample " + model + small + "--no-report --format csv --quiet ";
// Files that take a while to be written.
const std::string long_files =
    "sample " + model + " --device cpu --chains 4 --warmup 100 --draws 10000 --no-report --format csv ";

class CliFolderTest : public CliSampleTest {
 protected:
  void SetUp() override {
    CliSampleTest::SetUp();
    if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
  }

  std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(root_ / folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  static std::vector<std::string> chains(int count) {
    std::vector<std::string> names;
    for (int chain = 1; chain <= count; ++chain)
      names.push_back(model + "_" + std::to_string(chain) + ".csv");
    return names;
  }

  bool writes_files(const std::string& folder) const {
    if (!fs::exists(root_ / folder)) return false;
    for (const std::string& name : names_in(folder))
      if (contains(name, ".writing-")) return true;
    return false;
  }

  // Starts a run, and does something as soon as it writes files. One that is over before that was seen, on a
  // busy machine, is tried again.
  Outcome while_writing(const std::string& words, const std::string& folder,
                        const std::function<void(pid_t)>& act) const {
    int status = 0;
    for (int attempt = 0; attempt < 10; ++attempt) {
      const pid_t child = started(words + "--output " + folder);
      bool ended = false;
      while (!ended && !writes_files(folder)) {
        ended = ::waitpid(child, &status, WNOHANG) == child;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (ended) continue;
      act(child);
      ::waitpid(child, &status, 0);
      return outcome_of(status);
    }
    ADD_FAILURE() << "never seen to write: " << content_of(root_ / "errors");
    return outcome_of(status);
  }
};

TEST_F(CliFolderTest, a_stopped_run_is_not_replaced_by_chance) {
  fs::create_directory(root_ / "run");
  const std::string week = "ADITrun\nthe work of a week";
  put("run/checkpoint", week);
  const auto kept = [&] { return content_of(root_ / "run/checkpoint"); };
  const Outcome refused = adit(csv_words + "--output run");
  EXPECT_EQ(refused.status, 1);
  for (const char* word : {"[sample] --output: run", "--resume", "--overwrite"})
    EXPECT_TRUE(contains(refused.errors, word)) << refused.errors;
  EXPECT_EQ(kept(), week);
  // Asked for, but the new run never begins.
  for (const std::string bad :
       {"--device vulkan:99", "--chains 0", "--init nowhere.json", "--warm-start nowhere",
        "--metric nonsense", "--resume", "--draws 4000000000000"}) {
    EXPECT_NE(adit(with(csv_words, "--output run --overwrite " + bad)).status, 0) << bad;
    EXPECT_EQ(kept(), week) << bad;
  }
  EXPECT_EQ(adit("sample nonsense --output run --overwrite").status, 2);
  EXPECT_EQ(kept(), week);
  EXPECT_EQ(adit(csv_words + "--output run --overwrite").status, 0);
  EXPECT_EQ(names_in("run"), chains(4));
}

TEST_F(CliFolderTest, a_second_run_is_refused_and_told_by_whom) {
  const std::string words = "sample " + model +
                            " --device cpu --chains 4 --warmup 200 --draws 4000000 --no-report --format csv "
                            "--output run";
  const pid_t child = started(words);
  int status = 0;
  ASSERT_TRUE(waits_for("sampling ", child, status));
  fs::rename(root_ / "errors", root_ / "errors of the first");
  for (const char* more : {"", " --overwrite", " --resume"}) {
    const Outcome second = adit(words + more);
    EXPECT_EQ(second.status, 1) << second.errors;
    EXPECT_TRUE(
        contains(second.errors, "another run (process " + std::to_string(child) + ") is working there"))
        << second.errors;
    EXPECT_FALSE(contains(second.errors, "--resume")) << second.errors;
  }
  ::kill(child, SIGKILL);  // to wait for its files would take long
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(fs::exists(root_ / "run/checkpoint"));
}

// Until the last file is there: stopped in the middle of them, so that there is time to look.
TEST_F(CliFolderTest, the_folder_is_taken_while_files_are_written) {
  const Outcome first = while_writing(long_files, "run", [&](pid_t child) {
    ::kill(child, SIGSTOP);
    fs::rename(root_ / "errors", root_ / "errors of the first");
    const Outcome second = adit(csv_words + "--output run --overwrite");
    EXPECT_EQ(second.status, 1);
    EXPECT_TRUE(contains(second.errors, "another run (process ")) << second.errors;
    const Outcome summary = adit("summary run");
    EXPECT_EQ(summary.status, 0) << summary.errors;
    EXPECT_TRUE(contains(summary.errors, "is still going (process ")) << summary.errors;
    ::kill(child, SIGCONT);
  });
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(names_in("run"), chains(4));
}

TEST_F(CliFolderTest, ctrl_c_while_files_are_written_leaves_all_of_them) {
  const Outcome run = while_writing(long_files, "run", [](pid_t child) { ::kill(child, SIGINT); });
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_TRUE(contains(run.errors, "The files are being written")) << run.errors;
  EXPECT_EQ(names_in("run"), chains(4));
}

TEST_F(CliFolderTest, killed_while_files_are_written) {
  ASSERT_EQ(adit(csv_words + "--seed 7 --output run").status, 0);
  const std::string before = adit("summary run").output;
  const Outcome run = while_writing(long_files, "run", [](pid_t child) { ::kill(child, SIGKILL); });
  EXPECT_EQ(run.status, -SIGKILL);
  ASSERT_TRUE(fs::exists(root_ / "run/checkpoint"));
  EXPECT_TRUE(writes_files("run"));
  const Outcome summary = adit("summary run");
  EXPECT_EQ(summary.status, 0) << summary.errors;
  EXPECT_TRUE(contains(summary.errors, "cut short after 10000 draws a chain")) << summary.errors;
  EXPECT_TRUE(contains(summary.output, "4 chains")) << summary.output;
  EXPECT_NE(summary.output, before);
  // What was left goes with the next start; the files of live processes stay.
  const std::string live = ".adit.writing-" + std::to_string(::getpid()) + "-3";
  fs::create_directory(root_ / "run" / live);
  EXPECT_EQ(adit(long_files + "--quiet --resume --output run").status, 0);
  std::vector<std::string> expected = chains(4);
  expected.insert(expected.begin(), live);
  EXPECT_EQ(names_in("run"), expected);
  EXPECT_EQ(adit("summary run").status, 0);
}

TEST_F(CliFolderTest, chains_that_are_missing_are_noticed) {
  ASSERT_EQ(adit(csv_words + "--output run").status, 0);
  const std::string first = "run/" + model + "_1.csv", second = "run/" + model + "_2.csv";
  const Outcome part = adit("summary " + first + " " + second);
  EXPECT_EQ(part.status, 0);
  EXPECT_TRUE(contains(part.errors, "2 of the run's 4 chains")) << part.errors;
  EXPECT_EQ(adit("summary " + first + " " + first).status, 1) << "one chain is not two";
  EXPECT_TRUE(contains(content_of(root_ / "errors"), "got the same"));
  fs::remove(root_ / ("run/" + model + "_3.csv"));
  for (const std::string words : {"summary run", "diagnose run", "loo run", "report run"}) {
    const Outcome outcome = adit(words);
    EXPECT_EQ(outcome.status, 1) << words;
    EXPECT_TRUE(contains(outcome.errors, "3 of the run's 4 chains")) << words << ": " << outcome.errors;
  }
  EXPECT_FALSE(fs::exists(root_ / "report.html"));
  // Killed between two of them, and the rest cannot be moved: a folder is in the way.
  const std::string stage = "run/.adit.writing-999999999-0";
  fs::create_directories(root_ / stage / "files");
  put(stage + "/origin", "adit 1\n");
  put(stage + "/commit", "");
  put(stage + "/files/" + model + "_3.csv", "the third");
  fs::create_directory(root_ / ("run/" + model + "_3.csv"));
  const Outcome marked = adit("summary run");
  EXPECT_EQ(marked.status, 1);
  EXPECT_TRUE(contains(marked.errors, "it ended while it moved them")) << marked.errors;
  EXPECT_EQ(adit(csv_words + "--output run").status, 1);
  fs::remove_all(root_ / ("run/" + model + "_3.csv"));
  fs::remove_all(root_ / stage);
  EXPECT_EQ(adit(csv_words + "--output run").status, 0);
  EXPECT_EQ(names_in("run"), chains(4));
  EXPECT_EQ(adit("summary run").status, 0);
}

TEST_F(CliFolderTest, files_of_two_runs_are_told_apart) {
  ASSERT_EQ(adit(csv_words + "--output run").status, 0);
  ASSERT_EQ(adit(csv_words + "--seed 2 --output other").status, 0);
  fs::copy_file(root_ / ("other/" + model + "_2.csv"), root_ / ("run/" + model + "_2.csv"),
                fs::copy_options::overwrite_existing);
  const Outcome mixed = adit("summary run");
  EXPECT_EQ(mixed.status, 1);
  EXPECT_TRUE(contains(mixed.errors, model + "_2.csv: expected a chain of the run of ")) << mixed.errors;
  // The draws of another model beside those of this one.
  if (!ADIT_HAS_NETCDF) return;
  ASSERT_EQ(adit("sample eight_schools_centered" + small + "--no-report --format netcdf --output run").status,
            0);
  const Outcome two = adit("summary run");
  EXPECT_EQ(two.status, 1);
  EXPECT_TRUE(contains(two.errors, "expected the files of one run in run, got " + model + "_1.csv"))
      << two.errors;
  EXPECT_EQ(adit("summary run/draws.nc").status, 0);
  // Both formats of one run are no two runs.
  ASSERT_EQ(adit("sample " + model + small + "--no-report --format both --output both").status, 0);
  EXPECT_EQ(adit("summary both").status, 0) << content_of(root_ / "errors");
}

TEST_F(CliFolderTest, a_report_does_not_take_the_place_of_draws) {
  ASSERT_EQ(adit("sample " + model + small + "--format csv --output run").status, 0);
  const std::string chain = "run/" + model + "_1.csv", good = content_of(root_ / chain);
  fs::create_hard_link(root_ / chain, root_ / "hard");
  fs::create_symlink(root_ / chain, root_ / "soft");
  fs::create_directory_symlink(root_ / "run", root_ / "way");
  put("checkpoint", "ADITrun\nand more");
  for (const std::string& output :
       {chain, std::string("hard"), std::string("soft"), "way/" + model + "_1.csv", "./run/../" + chain,
        "run/" + model + "_4.csv", std::string("checkpoint")}) {
    const Outcome refused = adit("report run --output " + output);
    EXPECT_TRUE(refused.status == 1 || refused.status == 2) << output;
    EXPECT_TRUE(contains(refused.errors, "[report] --output: expected ") && contains(refused.errors, output))
        << refused.errors;
  }
  EXPECT_EQ(adit("report " + chain + " --output hard").status, 2);
  EXPECT_EQ(content_of(root_ / chain), good);
  EXPECT_EQ(content_of(root_ / "checkpoint"), "ADITrun\nand more");
  EXPECT_EQ(adit("report run --output run/report.html").status, 0) << content_of(root_ / "errors");
}

TEST_F(CliFolderTest, a_full_disk_keeps_the_old_files) {
  ASSERT_EQ(adit(csv_words + "--output run").status, 0);
  ASSERT_EQ(adit("report run --output page.html").status, 0);
  const std::string good_page = content_of(root_ / "page.html");
  const auto on_full_disk = [&](const std::string& words) {
    const std::string line = "ulimit -f 60; " + command(words);  // 30 or 60 KB
    return outcome_of(std::system(line.c_str()));
  };
  const std::string good = content_of(root_ / ("run/" + model + "_1.csv"));
  const Outcome page = on_full_disk("report run --output page.html");
  EXPECT_EQ(page.status, 1);
  EXPECT_TRUE(contains(page.errors, "page.html: expected to write it")) << page.errors;
  EXPECT_TRUE(content_of(root_ / "page.html") == good_page);
  const Outcome run = on_full_disk(with(csv_words, "--draws 2000 --seed 3 --output run"));
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(content_of(root_ / ("run/" + model + "_1.csv")), good);
  EXPECT_FALSE(writes_files("run"));
  EXPECT_TRUE(contains(run.errors, "expected to write it")) << run.errors;
  EXPECT_FALSE(contains(run.errors, ".writing-")) << run.errors;
  // Nothing was drawn that could be gone on from.
  const Outcome at_once = on_full_disk("sample radon --device cpu --chains 50 --output fresh --quiet");
  EXPECT_EQ(at_once.status, 1);
  EXPECT_FALSE(contains(at_once.errors, "--resume")) << at_once.errors;
  EXPECT_EQ(adit("sample radon --device cpu --chains 2 --warmup 50 --draws 50 --output fresh --quiet").status,
            0);
}

TEST_F(CliFolderTest, an_old_report_does_not_stay_beside_new_draws) {
  ASSERT_EQ(adit("sample eight_schools_centered" + small + "--format csv --output run").status, 0);
  ASSERT_TRUE(contains(content_of(root_ / "run/report.html"), "eight_schools_centered"));
  ASSERT_EQ(adit(csv_words + "--output run").status, 0);
  EXPECT_FALSE(fs::exists(root_ / "run/report.html"));
  put("run/report.html", "a page of somebody else");
  ASSERT_EQ(adit(csv_words + "--output run").status, 0);
  EXPECT_EQ(content_of(root_ / "run/report.html"), "a page of somebody else");
}

TEST_F(CliFolderTest, nothing_is_written_through_what_others_have_put_there) {
  const std::string words =
      "sample " + model + " --device cpu --chains 2 --warmup 20 --draws 20 --quiet --output run ";
  const auto put_there = [&](const std::string& kind, const fs::path& at) {
    if (kind == "link") fs::create_symlink(root_ / "victim", at);
    if (kind == "hard link") fs::create_hard_link(root_ / "victim", at);
    if (kind == "dangling link") fs::create_symlink(root_ / "made", at);
    if (kind == "pipe") {
      EXPECT_EQ(::mkfifo(at.c_str(), 0600), 0);
    }
    if (kind == "folder") fs::create_directory(at);
  };
  for (const std::string name : {"checkpoint", "report.html", ".adit.lock", ".trial"})
    for (const std::string kind : {"link", "hard link", "dangling link", "pipe", "folder"}) {
      const bool is_hidden = name.front() == '.';
      if (is_hidden && (kind == "pipe" || kind == "folder")) continue;
      fs::remove_all(root_ / "run");
      fs::create_directory(root_ / "run");
      put("victim", "precious");
      put_there(kind, root_ / "run" / name);
      const Outcome outcome = adit(words + (name == "checkpoint" ? "--overwrite" : ""));
      EXPECT_GE(outcome.status, 0) << name << " " << kind;
      EXPECT_EQ(content_of(root_ / "victim"), "precious") << name << " " << kind;
      EXPECT_FALSE(fs::exists(root_ / "made")) << name << " " << kind;
      if (is_hidden || (kind == "hard link" && name != "checkpoint")) continue;
      EXPECT_EQ(outcome.status, 1) << name << " " << kind;
      const std::string expected =
          kind == "hard link" ? "checkpoint of adit's at run/" : "expected a plain file or none at run/";
      EXPECT_TRUE(contains(outcome.errors, expected + name)) << outcome.errors;
    }
}

}  // namespace
}  // namespace adit::test
