// Whose file it is: what commands write and remove, beside files of the user's that have the same names. Each
// of them keeps what it reads, goes through no link, leaves what it has not written, and leaves what was
// there until the new is whole.
#include <csignal>
#include <random>
#include <sys/stat.h>

#include <adit/error.hpp>

#include "cli/staged_files.hpp"
#include "cli_runs.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

class CliOwnFiles : public CliSampleTest {
 protected:
  void SetUp() override {
    CliSampleTest::SetUp();
    if (!adit::native::available()) GTEST_SKIP() << "this build has no LLVM";
    put("m.stan", program);
    put("d.json", data);
  }
  const std::string program =
      "data { int N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 9); y ~ normal(mu, 1); }\n"
      "generated quantities { real twice = 2 * mu; }\n";
  const std::string data = R"({"N": 4, "y": [1, 2, 4, 9]})";
  const std::string on = " m.stan --data d.json --device cpu ";
  const std::string sampled = "sample" + on + "--chains 2 --warmup 20 --draws 20 --quiet ";

  std::string at(const std::string& name) const { return content_of(root_ / name); }
  Outcome refused(const std::string& words, const std::string& expected) const {
    const Outcome outcome = adit(words);
    EXPECT_TRUE(outcome.status == 1 || outcome.status == 2) << words << ": " << outcome.status;
    EXPECT_TRUE(contains(outcome.errors, expected)) << words << ": " << outcome.errors;
    return outcome;
  }
  Outcome within(const std::string& limits, const std::string& words) const {
    return outcome_of(std::system((limits + "; " + command(words)).c_str()));
  }
  // Names that begin with "." and are not the test's own.
  std::vector<std::string> hidden_in(const fs::path& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      if (const std::string name = entry.path().filename().string(); name.starts_with('.'))
        names.push_back(name);
    return names;
  }
};

TEST_F(CliOwnFiles, tables_beside_a_run_stay) {
  const std::string table = "x,y\n1,2\n";
  for (const char* name : {"m_2019.csv", "m_7.csv", "m_02.csv", "report.html", "m_x.csv"}) put(name, table);
  EXPECT_EQ(adit(sampled + "--output . --format csv --no-report").status, 0) << at("errors");
  EXPECT_EQ(adit(with(sampled, "--chains 1 --output . --format csv --no-report")).status, 0) << at("errors");
  EXPECT_FALSE(fs::exists(root_ / "m_2.csv")) << "a chain of the earlier run";
  for (const char* name : {"m_2019.csv", "m_7.csv", "m_02.csv", "report.html", "m_x.csv"})
    EXPECT_EQ(at(name), table) << name;
  EXPECT_EQ(at("d.json"), data);
  EXPECT_EQ(adit("summary .").status, 0) << at("errors");
  // In the place of what is to be written.
  refused(sampled + "--output .", "expected a new name or a report of adit's at ./report.html");
  put("m_1.csv", table);
  refused(sampled + "--output . --format csv --no-report", "at ./m_1.csv, got another file");
  refused("generate" + on + "--draws m_1.csv --output . --format csv", "m_1.csv");
  EXPECT_EQ(at("m_1.csv"), table);
  if (!ADIT_HAS_NETCDF) return;
  fs::create_directory(root_ / "run");
  put("run/draws.nc", table);
  refused(sampled + "--output run", "expected a new name or draws of adit's at run/draws.nc");
  EXPECT_EQ(adit(sampled + "--output run --format csv").status, 0);
  EXPECT_EQ(at("run/draws.nc"), table);
  EXPECT_EQ(adit("summary run").status, 0) << at("errors");
}

TEST_F(CliOwnFiles, no_command_writes_over_what_it_reads) {
  ASSERT_EQ(adit("optimize" + on + "--output o.csv").status, 0) << at("errors");
  ASSERT_EQ(adit(sampled + "--output run --format " + (ADIT_HAS_NETCDF ? "both" : "csv")).status, 0);
  fs::create_hard_link(root_ / "o.csv", root_ / "hard.csv");
  fs::create_directory_symlink(root_, root_ / "way");
  const std::string optimum = at("o.csv"), chain = at("run/m_1.csv"), draws = at("run/draws.nc");
  const std::pair<const char*, const char*> over[] = {
      {"optimize", "d.json"},
      {"laplace", "./d.json"},
      {"log-prob --constrained-params o.csv", "run/../d.json"},
      {"check-gradient", "way/m.stan"},
      {"optimize", "m.stan"}};
  for (const auto& [command, input] : over)
    refused(command + on + "--output " + input, std::string("got ") + input);
  for (const char* input : {"o.csv", "hard.csv"})
    refused("laplace" + on + "--mode o.csv --output " + input, "that of --mode");
  refused("log-prob" + on + "--constrained-params o.csv --output ./o.csv", "--constrained-params");
  refused("optimize" + on + "--init o.csv --output way/o.csv", "--init");
  refused("log-prob" + on + "--constrained-params - --output o.csv <o.csv", "o.csv");
  for (const char* words : {"m.stan optimize data file=d.json output file=d.json",
                            "m.stan laplace mode=o.csv data file=d.json output file=o.csv"})
    EXPECT_NE(adit(words).status, 0) << words;
  const std::pair<const char*, const char*> folders[] = {
      {"run", "both"}, {"way/run", "csv"}, {"run/", "netcdf"}};
  for (const auto& [folder, format] : folders)
    if (ADIT_HAS_NETCDF || std::string(format) == "csv")
      refused("generate" + on + "--draws run --format " + format + " --output " + folder, "that of --draws");
  refused(sampled + "--warm-start run --output run", "--warm-start");
  fs::create_directory(root_ / "mine");
  std::ofstream(root_ / "mine/m_1.csv") << "{}";
  refused(sampled + "--init mine/m_1.csv --format csv --output mine", "that of --init");
  EXPECT_EQ(at("mine/m_1.csv"), "{}");
  EXPECT_EQ(at("d.json"), data);
  EXPECT_EQ(at("m.stan"), program);
  EXPECT_EQ(at("o.csv"), optimum);
  EXPECT_EQ(at("run/m_1.csv"), chain);
  EXPECT_EQ(at("run/draws.nc"), draws);
}

TEST_F(CliOwnFiles, files_of_others_are_not_written_over) {
  const std::string notes = "mu\n3\n";
  put("notes.csv", notes);
  put("page.html", "<!doctype html> mine");
  put("values.csv", "# stan_version_major = 2\nmu\n3\n");
  put("empty.csv", "");
  ASSERT_EQ(adit(sampled + "--output run --format csv").status, 0);
  const std::string chain = at("run/m_1.csv");
  for (const std::string command : {"optimize", "laplace", "log-prob --constrained-params values.csv"})
    refused(command + on + "--output notes.csv", "at notes.csv, got another file, which stays");
  refused("optimize" + on + "--output page.html", "page.html");
  refused("report run --output notes.csv", "notes.csv");
  refused("report run --output run/m_1.csv", "run/m_1.csv");
  refused("report run --output page.html", "expected a new name or a report of adit's at page.html");
  refused("optimize" + on + "--output run/report.html", "run/report.html");
  EXPECT_EQ(at("notes.csv"), notes);
  EXPECT_EQ(at("page.html"), "<!doctype html> mine");
  EXPECT_EQ(at("run/m_1.csv"), chain);
  // Ours, CmdStan's, which it would write over as well, and one in which nothing is.
  for (const std::string name : {"o.csv", "o.csv", "values.csv", "empty.csv"})
    EXPECT_EQ(adit("optimize" + on + "--output " + name).status, 0) << at("errors");
  EXPECT_EQ(adit("report run --output page2.html").status, 0);
  EXPECT_EQ(adit("report run --output page2.html").status, 0);
}

TEST_F(CliOwnFiles, nothing_goes_through_links) {
  put("victim", "precious");
  ASSERT_EQ(adit(sampled + "--output old --format csv").status, 0);
  fs::create_directory(root_ / "run");
  for (const char* name : {"o.csv", "run/m_1.csv", "run/draws.nc", "x.csv", "x_2.csv"})
    fs::create_symlink(root_ / "victim", root_ / name);
  fs::create_symlink(root_ / "made", root_ / "dangling.csv");
  for (const std::string command : {"optimize", "laplace", "check-gradient"})
    for (const char* name : {"o.csv", "dangling.csv"})
      refused(command + on + "--output " + name, std::string("at ") + name + ", got a link");
  refused("report old --output o.csv", "at o.csv, got a link");
  refused(sampled + "--output run --format csv --no-report", "at run/m_1.csv, got a link");
  refused("generate" + on + "--draws old --output run --format csv", "at run/m_1.csv, got a link");
  const std::string as_cmdstan =
      "m.stan sample num_samples=20 num_warmup=20 data file=d.json output file=x.csv";
  refused(as_cmdstan + " --device cpu", "at x.csv, got a link");
  refused("m.stan sample num_chains=2 data file=d.json output file=x.csv --device cpu",
          "at x_2.csv, got a link");
  EXPECT_EQ(at("victim"), "precious");
  EXPECT_FALSE(fs::exists(root_ / "made"));
  for (const char* name : {"o.csv", "x.csv", "x_2.csv", "run/m_1.csv"})
    EXPECT_TRUE(fs::is_symlink(root_ / name)) << name;
}

TEST_F(CliOwnFiles, streams_and_devices_take_values) {
  const auto table = [&](const std::string& text) { return contains(text, "lp__,mu,twice\n"); };
  EXPECT_TRUE(table(adit("optimize" + on + "--output /dev/stdout").output));
  EXPECT_TRUE(table(adit("optimize" + on + "--output /dev/stderr").errors));
  EXPECT_EQ(adit("optimize" + on + "--output /dev/null").status, 0);
  EXPECT_EQ(adit("optimize" + on + "--output /dev/fd/5 5>five").status, 0) << at("errors");
  EXPECT_TRUE(table(at("five")));
  refused("optimize" + on + "--output /dev/fd/77", "/dev/fd/77");
  ASSERT_EQ(::mkfifo((root_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(within("cat " + (root_ / "pipe").string() + " > " + (root_ / "through").string() + " & true",
                   "optimize" + on + "--output pipe")
                .status,
            0);
  for (int i = 0; i < 500 && !table(at("through")); ++i) ::usleep(10000);
  EXPECT_TRUE(table(at("through")));
  if (fs::exists("/dev/full")) refused("optimize" + on + "--output /dev/full", "expected to write /dev/full");
  refused("report nowhere --output /dev/null", "");
}

TEST_F(CliOwnFiles, a_run_stays_until_its_successor_has_something_to_show) {
  put("hard.stan", "parameters { real x; } model { target += negative_infinity(); }");
  const std::string base =
      "sample m.stan --data d.json --device cpu --chains 1 --no-report --format csv --quiet ";
  const pid_t child = started(base + "--warmup 100 --draws 4000000 --output run");
  // When it has grown twice, its first state is whole.
  uintmax_t before = 0;
  for (int i = 0, times = 0; i < 6000 && times < 3; ++i) {
    std::error_code none;
    const uintmax_t now = fs::file_size(root_ / "run/checkpoint", none);
    if (!none && now > before) {
      before = now;
      ++times;
    }
    ::usleep(5000);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const std::string kept = at("run/checkpoint");
  ASSERT_GT(kept.size(), 10000u);
  const auto fails = [&](const std::string& words) {
    EXPECT_NE(adit(words + " --output run --overwrite").status, 0) << words;
    EXPECT_TRUE(at("run/checkpoint") == kept) << words;
  };
  fails("sample hard.stan --device cpu --format csv --quiet");
  fails(base + "--init 1e308");
  fails(with(base, "--data nowhere.json"));
  EXPECT_NE(within("ulimit -f 1", base + "--output run --overwrite").status, 0);
  EXPECT_TRUE(at("run/checkpoint") == kept) << "a full disk";
  // Killed before its first state.
  put("slow.stan",
      "parameters { real x; } model { real s = 0; for (i in 1:100000) s += sin(x * i); s ~ normal(0, 1); }");
  const pid_t other =
      started("sample slow.stan --device cpu --chains 1 --format csv --output run --overwrite");
  ::usleep(200000);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_TRUE(at("run/checkpoint") == kept) << "a kill";
  // It is read; on a slow machine it was killed in its warm-up.
  const Outcome read = adit("summary run");
  EXPECT_TRUE(read.status == 0 || contains(read.errors, "cut short before its first draw")) << read.errors;
  EXPECT_EQ(adit(base + "--warmup 20 --draws 20 --output run --overwrite").status, 0) << at("errors");
  EXPECT_FALSE(fs::exists(root_ / "run/checkpoint"));
  EXPECT_TRUE(hidden_in(root_ / "run").empty());
  // What is no checkpoint is nobody's to replace.
  put("run/checkpoint", "model_checkpoint_path: \"model.ckpt-12\"\n");
  const std::string foreign = at("run/checkpoint");
  for (const char* word : {"", "--overwrite", "--resume"})
    EXPECT_NE(adit(base + "--output run " + word).status, 0);
  EXPECT_EQ(at("run/checkpoint"), foreign);
}

TEST_F(CliOwnFiles, a_full_disk_leaves_all_that_was_there) {
  const std::string format = ADIT_HAS_NETCDF ? "both" : "csv";
  ASSERT_EQ(adit(sampled + "--output run --format " + format).status, 0);
  ASSERT_EQ(adit(sampled + "--seed 2 --output other --format csv").status, 0);
  const std::string draws = at("run/draws.nc"), page = at("run/report.html"), chain = at("run/m_1.csv");
  const int64_t enough_for_a_chain = static_cast<int64_t>(chain.size()) / 512 + 2;
  ASSERT_GT(page.size(), 1024 * static_cast<size_t>(enough_for_a_chain));
  // Between the draws and the report; and before the draws.
  for (const int64_t blocks : {enough_for_a_chain, int64_t{1}, int64_t{0}}) {
    std::string line = "ulimit -f " + std::to_string(blocks) + "; " +
                       command("generate" + on + "--draws other --output run --format csv");
    line.replace(line.find(">output"), 7, ">/dev/null");
    const Outcome outcome = outcome_of(std::system(line.c_str()));
    EXPECT_EQ(outcome.status, 1) << blocks << outcome.errors;
    EXPECT_TRUE(at("run/draws.nc") == draws) << blocks;
    EXPECT_TRUE(at("run/report.html") == page) << blocks;
    EXPECT_TRUE(at("run/m_1.csv") == chain) << blocks;
    EXPECT_TRUE(hidden_in(root_ / "run").empty()) << blocks;
    EXPECT_FALSE(contains(outcome.errors, ".adit.")) << outcome.errors;
  }
}

TEST_F(CliOwnFiles, chains_of_cmdstan_come_with_the_run) {
  const std::string call =
      "m.stan sample num_samples=20 num_warmup=20 data file=d.json output file=x.csv --device cpu";
  put("x.csv", "mine");
  refused(call, "at x.csv, got another file");
  EXPECT_EQ(at("x.csv"), "mine");
  EXPECT_FALSE(fs::exists(root_ / "x")) << "before anything is drawn";
  put("x.csv", "# stan_version_major = 2\nold");
  EXPECT_EQ(adit(call).status, 0) << at("errors");
  EXPECT_EQ(at("x.csv"), at("x/m_1.csv"));
  const std::string first = at("x.csv");
  // Both or neither: the run and its copies.
  const int64_t blocks = static_cast<int64_t>(first.size()) / 512 + 1;
  const std::string longer =
      "m.stan sample num_samples=400 num_warmup=20 data file=d.json output file=x.csv --device cpu";
  EXPECT_EQ(within("ulimit -f " + std::to_string(blocks), longer).status, 1);
  EXPECT_EQ(at("x.csv"), first);
  EXPECT_EQ(at("x/m_1.csv"), first);
  fs::create_directory(root_ / "things");
  put("things/a", "mine");
  for (const char* file : {"/", ".", "..", "x/", "things", "//"})
    refused(std::string("m.stan sample data file=d.json output file=") + file,
            "[cmdstan] file: expected a file, got the folder");
}

// What a process leaves that dies while it moves its files: they are whole, so they count.
TEST_F(CliOwnFiles, files_that_count_are_moved_by_whoever_looks_next) {
  ASSERT_EQ(adit(sampled + "--output run --format csv").status, 0);
  ASSERT_EQ(adit(with(sampled, "--chains 3 --seed 2 --output next --format csv --no-report")).status, 0);
  const std::string old = adit("summary run").output, now = adit("summary next").output;
  ASSERT_NE(old, now);
  const fs::path stage = root_ / "run/.adit.writing-999999999-0";
  const auto leave = [&](bool counts, const std::string& origin) {
    fs::create_directories(stage / "files");
    put("run/.adit.writing-999999999-0/origin", origin);
    for (const char* name : {"m_1.csv", "m_2.csv", "m_3.csv"})
      fs::copy_file(root_ / "next" / name, stage / "files" / name);
    if (counts)
      put("run/.adit.writing-999999999-0/commit", std::string("report.html\0../m.stan\0d.json\0", 29));
  };
  leave(false, "adit 1 1\n");
  EXPECT_EQ(adit("summary run").output, old);
  EXPECT_FALSE(fs::exists(stage));
  leave(true, "adit 1 1\n");
  fs::rename(stage / "files/m_2.csv", root_ / "run/m_2.csv");
  EXPECT_EQ(adit("summary run").output, now) << at("errors");
  EXPECT_FALSE(fs::exists(stage));
  EXPECT_FALSE(fs::exists(root_ / "run/report.html"));
  EXPECT_EQ(at("m.stan"), program);
  // A folder of this name that is not ours stays.
  leave(true, "precious");
  EXPECT_EQ(adit("summary run").output, now);
  EXPECT_TRUE(fs::exists(stage / "files/m_1.csv"));
  put("run/.adit.lock", "of another program");
  refused(sampled + "--output run --format csv", "its .adit.lock is a file of others");
  EXPECT_EQ(at("run/.adit.lock"), "of another program");
}

TEST_F(CliOwnFiles, odd_names_in_hints_and_numbers_without_signs) {
  put("list.stan", "generated quantities { real a = not_a_number(); real b = -not_a_number(); }");
  ASSERT_EQ(
      adit("sample list.stan --device cpu --chains 1 --draws 2 --output l --format csv --no-report").status,
      0);
  EXPECT_FALSE(contains(at("l/list_1.csv"), "-nan"));
  EXPECT_TRUE(contains(at("l/list_1.csv"), "nan"));
  // A limit on memory under which BLAS cannot have its own, and does not end.
  const Outcome version = within("ulimit -v 300000 2>/dev/null", "version");
  EXPECT_GE(version.status, 0);
  const pid_t child =
      started("sample" + on + "--chains 2 --warmup 4000000 --output \"$(printf 'a\\033[31mb')\"");
  int status = 0;
  ASSERT_TRUE(waits_for("warm-up", child, status));
  ::kill(child, SIGINT);
  ::waitpid(child, &status, 0);
  EXPECT_EQ(outcome_of(status).status, 130) << at("errors");
  EXPECT_FALSE(contains(at("errors"), "\x1b")) << at("errors");
  EXPECT_TRUE(contains(at("errors"), "$'a\\033[31mb'")) << at("errors");
}

// A file that cannot come to its place: what is new goes back, and where something was replaced, the rest
// comes later.
TEST_F(CliOwnFiles, files_come_all_or_not_at_all) {
  const auto writes = [&](const fs::path& path, const char* text) { std::ofstream(path) << text; };
  const auto commit = [&] {
    cli::StagedFiles files("[test]", root_);
    writes(files.path("first"), "new"), writes(files.path("taken"), "new");
    EXPECT_THROW(files.commit({}), Error);
  };
  fs::create_directory(root_ / "taken");
  put("taken/kept", "of the user");
  commit();
  EXPECT_FALSE(fs::exists(root_ / "first"));
  EXPECT_TRUE(hidden_in(root_).empty());
  put("first", "old");
  commit();
  EXPECT_EQ(at("first"), "new");
  EXPECT_EQ(at("taken/kept"), "of the user");
  EXPECT_FALSE(cli::StagedFiles::settle(root_));
  fs::remove_all(root_ / "taken");
  EXPECT_TRUE(cli::StagedFiles::settle(root_));
  EXPECT_EQ(at("taken"), "new");
  EXPECT_TRUE(hidden_in(root_).empty());
}

}  // namespace
}  // namespace adit::test
