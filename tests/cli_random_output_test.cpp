// Commands at random, in folders where files of the user's lie under the names that adit writes, on disks
// that are full, killed at any moment: the user's files stay as they are, and of what adit had written either
// the old or the new is whole.
#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <random>
#include <sys/stat.h>

#include "cli_runs.hpp"
#include "native/compile.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

class CliRandomOutput : public CliSampleTest {
 protected:
  // What lies at a name: its kind and what is in it, or where it leads.
  static std::string state_of(const fs::path& path) {
    const fs::file_status status = fs::symlink_status(path);
    if (fs::is_symlink(status)) return "link to " + fs::read_symlink(path).string();
    if (fs::is_directory(status)) return "folder";
    return fs::is_regular_file(status) ? "file of " + content_of(path) : "nothing";
  }

  uint64_t below(uint64_t end) { return random_() % end; }
  bool chance(double share) { return static_cast<double>(below(1000)) < 1000 * share; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }

  void SetUp() override {
    CliSampleTest::SetUp();
    if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
    prepare();
  }

  // What every round begins with: runs and values of ours, made once.
  void prepare() {
    put("m.stan",
        "data { int N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 9); y ~ normal(mu, 1); "
        "}\n"
        "generated quantities { real twice = 2 * mu; }\n");
    put("d.json", R"({"N": 4, "y": [1, 2, 4, 9]})");
    put("notes.csv", "mu\n3\n");
    put("page.html", "<!doctype html> mine");
    put("victim", "precious");
    fs::create_directory(root_ / "sub");
    ASSERT_EQ(adit(words_ + "--output old --format csv").status, 0) << content_of(root_ / "errors");
    if (ADIT_HAS_NETCDF) {
      ASSERT_EQ(adit(words_ + "--seed 2 --output old_netcdf --format netcdf").status, 0);
    }
    ASSERT_EQ(adit("optimize m.stan --data d.json --device cpu --output values.csv").status, 0);
    prepare_cut_run();
    fs::rename(root_, base_ = root_.string() + "-base");
  }
  // A run that was killed: few draws of many iterations each, as many as this machine is too slow to end
  // before its checkpoint has been written a few times.
  void prepare_cut_run() {
    for (uint64_t thin = 100'000; !has_cut_ && thin < 100'000'000; thin *= 4) {
      long_ =
          "sample m.stan --data d.json --device cpu --chains 2 --warmup 20 --draws 20 --quiet --format csv "
          "--thin " +
          std::to_string(thin) + " ";
      cut_a_run();
    }
    EXPECT_TRUE(has_cut_) << summary_of("cut");
  }
  void cut_a_run() {
    fs::remove_all(root_ / "cut");
    const pid_t child = started(long_ + "--output cut");
    uintmax_t before = 0;
    int times = 0, status = 0;
    while (times < 3 && ::waitpid(child, &status, WNOHANG) == 0) {
      std::error_code none;
      const uintmax_t now = fs::file_size(root_ / "cut/checkpoint", none);
      if (!none && now > before) before = now, ++times;
      ::usleep(5000);
    }
    if (times < 3) return;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    has_cut_ = fs::exists(root_ / "cut/checkpoint") && summary_of("cut").starts_with('[');
  }
  void TearDown() override {
    CliSampleTest::TearDown();
    if (!base_.empty()) fs::remove_all(base_);
  }

  // Files of the user's in the places that adit's would have.
  void put_mine() {
    mine_.clear();
    for (const char* name : {"m.stan", "d.json", "notes.csv", "page.html", "victim"}) mine_[name];
    const std::vector<std::string> names{"run/m_1.csv",
                                         "run/m_2.csv",
                                         "run/m_7.csv",
                                         "run/m_2019.csv",
                                         "run/draws.nc",
                                         "run/report.html",
                                         "run/checkpoint",
                                         "run/.adit.lock",
                                         "o.csv",
                                         "x.csv",
                                         "x_1.csv",
                                         "run/.adit.writing-1-0",
                                         "run/.checkpoint.writing-999999-0"};
    fs::create_directories(root_ / "run");
    for (uint64_t i = 2 + below(5); i > 0; --i) {
      const std::string name = one_of(names);
      if (state_of(root_ / name) != "nothing") continue;
      if (chance(0.3))
        fs::create_symlink(
            one_of(std::vector<std::string>{"../victim", (root_ / "victim").string(), "nowhere"}),
            root_ / name);
      else if (chance(0.2))
        fs::create_hard_link(root_ / "victim", root_ / name);
      else if (chance(0.1))
        fs::create_directory(root_ / name);
      else
        put(name, one_of(std::vector<std::string>{"a,b\n1,2\n", "mu,twice\n1,2\n", "# a comment\nmu\n1\n"}));
      mine_[name];
    }
    for (auto& [name, state] : mine_) state = state_of(root_ / name);
  }

  std::string spelled(const std::string& name) {
    return one_of(
        std::vector<std::string>{name, name, "./" + name, "sub/../" + name, (root_ / name).string()});
  }

  std::string random_command() {
    const std::string on = " m.stan --data d.json --device cpu ";
    const std::string file =
        spelled(one_of(std::vector<std::string>{"o.csv", "o.csv", "values.csv", "notes.csv", "d.json",
                                                "m.stan", "page.html", "run/m_1.csv", "x.csv", "run"}));
    const std::string folder = spelled(one_of(std::vector<std::string>{"run", "run", "run", "."}));
    const std::string format = one_of(std::vector<std::string>{"csv", "csv", ADIT_HAS_NETCDF ? "both" : "csv",
                                                               ADIT_HAS_NETCDF ? "netcdf" : "csv"});
    const std::string as_cmdstan = " data file=d.json output file=" + file + " --device cpu";
    switch (is_cut_ ? 13 : below(13)) {
      case 0:
      case 1: {
        const std::string seed = std::to_string(3 + below(9));
        return words_ + "--seed " + seed + " --format " + format + " --output " + folder +
               (chance(0.5) ? " --no-report" : "") + (chance(0.5) ? " --overwrite" : "");
      }
      case 2:
        return "generate" + on + "--draws " + spelled("old") + " --format " + format + " --output " + folder;
      case 3: return "generate" + on + "--draws run --format " + format + " --output " + folder;
      case 4: return "optimize" + on + "--output " + file;
      case 5: return "log-prob" + on + "--constrained-params values.csv --output " + file;
      case 6: return "report old --output " + one_of(std::vector<std::string>{file, "run/report.html"});
      case 7:
        return "laplace" + on + "--draws 20 --output " + file + (chance(0.5) ? " --mode values.csv" : "");
      case 8: return "m.stan optimize" + as_cmdstan;
      case 9: return "m.stan laplace mode=values.csv draws=20" + as_cmdstan;
      case 10: return "m.stan log_prob constrained_params=values.csv" + as_cmdstan;
      case 11:
        return "m.stan generate_quantities fitted_params=old/m_1.csv data file=d.json output file=" +
               one_of(std::vector<std::string>{"x.csv", "run.csv", "old.csv", "d.json"}) + " --device cpu";
      case 13:
        return long_ + "--output run " +
               one_of(std::vector<std::string>{"--resume", "--resume", "--overwrite", ""});
      default:
        return "m.stan sample num_samples=20 num_warmup=20 num_chains=" + std::to_string(1 + below(2)) +
               " data file=d.json output file=" +
               one_of(std::vector<std::string>{"x.csv", "run.csv", "d.json"}) + " refresh=0 --device cpu";
    }
  }

  // Its own words go nowhere, so that they need no room.
  Outcome on_full_disk(const std::string& words, const std::string& blocks) const {
    std::string line = "ulimit -f " + blocks + "; " + command(words);
    line.replace(line.find(">output 2>errors"), 16, ">/dev/null 2>/dev/null");
    return outcome_of(std::system(line.c_str()));
  }

  // Whether a command is about to put files in their places.
  bool is_writing() const {
    for (const fs::path& folder : {root_, root_ / "run"}) {
      std::error_code error;
      for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (contains(at->path().filename().string(), ".writing-")) return true;
    }
    return false;
  }

  // Killed at any time, or just when it writes.
  Outcome run_and_kill(const std::string& words) {
    const pid_t child = started(words);
    const bool waits = chance(0.8);
    const auto begin = std::chrono::steady_clock::now();
    const auto most = std::chrono::milliseconds(waits ? 20000 : below(400));
    int status = 0;
    while (std::chrono::steady_clock::now() - begin < most && !(waits && is_writing()))
      if (::waitpid(child, &status, WNOHANG) == child) return outcome_of(status);
    ::usleep(static_cast<useconds_t>(below(4000)));
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return outcome_of(status);
  }

  // The rows of a table, by which two runs are told apart; "" where it is not whole.
  std::string summary_of(const std::string& folder) const {
    const Outcome outcome = adit("summary " + folder + " --json");
    const Json rows = Json::parse(outcome.output, nullptr, false);
    return outcome.status == 0 && rows.is_array()
               ? rows.dump()
               : "status " + std::to_string(outcome.status) + outcome.errors;
  }

  static bool is_whole_table(const std::string& text) {
    if (text.ends_with("</html>\n")) return true;  // a report under that name
    std::istringstream lines(text);
    size_t columns = 0, rows = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('#')) continue;
      const size_t fields = static_cast<size_t>(std::count(line.begin(), line.end(), ',')) + 1;
      if (columns == 0) columns = fields;
      if (fields != columns) return false;
      ++rows;
    }
    return rows > 1 && text.ends_with('\n');
  }

  void expect_good(const Outcome& outcome, bool was_killed, bool had_run) const {
    for (const auto& [name, state] : mine_)
      EXPECT_TRUE(state_of(root_ / name) == state) << name << " was changed";
    EXPECT_TRUE(was_killed || outcome.status >= 0) << outcome.status;
    for (const std::string name : {"o.csv", "values.csv", "x.csv", "x_1.csv"})
      if (fs::is_regular_file(fs::symlink_status(root_ / name)) && !mine_.contains(name)) {
        EXPECT_TRUE(is_whole_table(content_of(root_ / name))) << name << " is not whole";
      }
    for (const std::string name : {"run/report.html", "report.html"})
      if (fs::is_regular_file(fs::symlink_status(root_ / name)) && !mine_.contains(name)) {
        EXPECT_TRUE(content_of(root_ / name).ends_with("</html>\n")) << name << " is not whole";
      }
    expect_copies();
    if (!had_run) return;
    std::string summary = summary_of("run");
    EXPECT_TRUE(summary.starts_with('[')) << "neither the old nor the new run is whole: " << summary;
    if (outcome.status != 0 && !was_killed && !is_cut_) {
      // A run that has ended and whose files have no room keeps its draws in a checkpoint, beside the old
      // run's.
      if (!mine_.contains("run/checkpoint") && fs::remove(root_ / "run/checkpoint"))
        summary = summary_of("run");
      EXPECT_EQ(summary, old_summary_) << "an error, and yet the old run has gone";
    }
    if (was_killed) return;
    for (const fs::path& folder : {root_, root_ / "run"})
      for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const bool is_left = contains(name, ".writing-") && !mine_.contains("run/" + name);
        EXPECT_FALSE(is_left) << name << " was left";
      }
  }

  // Chains where CmdStan has them come with those of the run.
  void expect_copies() const {
    summary_of("run");  // whoever looks first moves what counts
    for (const auto& [copy, chain] :
         {std::pair{"run.csv", "run/m_1.csv"}, {"run_1.csv", "run/m_1.csv"}, {"run_2.csv", "run/m_2.csv"}})
      if (fs::exists(root_ / copy)) {
        EXPECT_TRUE(content_of(root_ / copy) == content_of(root_ / chain)) << copy;
      }
  }

  void round(uint64_t seed) {
    random_.seed(seed);
    fs::remove_all(root_);
    fs::copy(base_, root_, fs::copy_options::recursive);
    const bool netcdf = ADIT_HAS_NETCDF && chance(0.3), had_run = chance(0.7);
    is_cut_ = had_run && has_cut_ && chance(0.2);
    if (had_run)
      fs::copy(root_ / (is_cut_  ? "cut"
                        : netcdf ? "old_netcdf"
                                 : "old"),
               root_ / "run", fs::copy_options::recursive);
    put_mine();
    // A foreign file in the place of what a reader takes first makes it another folder.
    const bool is_read = had_run && !mine_.contains("run/draws.nc") && !mine_.contains("run/checkpoint");
    if (is_read) old_summary_ = summary_of("run");
    const std::string words = random_command();
    const uint64_t fate = below(3);
    const std::string blocks = std::to_string(below(40));
    SCOPED_TRACE(words + (fate == 1 ? ", a disk of " + blocks + " blocks" : fate == 2 ? ", killed" : ""));
    const Outcome outcome = fate == 0   ? adit(words)
                            : fate == 1 ? on_full_disk(words, blocks)
                                        : run_and_kill(words);
    SCOPED_TRACE("status " + std::to_string(outcome.status) + ", " + outcome.errors);
    expect_good(outcome, outcome.status == -SIGKILL, is_read);
  }

  const std::string words_ =
      "sample m.stan --data d.json --device cpu --chains 2 --warmup 20 --draws 20 --quiet ";
  std::mt19937_64 random_;
  bool has_cut_ = false, is_cut_ = false;
  fs::path base_;
  std::map<std::string, std::string> mine_;
  std::string old_summary_, long_;
};

TEST_F(CliRandomOutput, what_is_the_users_stays_and_what_is_ours_is_whole) {
  each_seed(8, [&](uint64_t seed) { round(seed); });
}

}  // namespace
}  // namespace adit::test
