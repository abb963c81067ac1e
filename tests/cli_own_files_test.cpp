// Whose file it is: what commands write and remove, beside files of the user's that have the same names. Each
// of them keeps what it reads, goes through no link, leaves what it has not written, and leaves what was
// there until the new is whole.
#include <csignal>
#include <random>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <adit/error.hpp>

#include "cli/staged_files.hpp"
#include "cli_runs.hpp"
#include "native/compile.hpp"
#include "seeds.hpp"

// How files are locked here: as the system does, or as file systems do that cannot.
enum class Locks : uint8_t { all, of_written_files, none };
static Locks locks = Locks::all;  // NOLINT

extern "C" int flock(int file, int operation) noexcept {
  const bool is_read = (::fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY;
  errno = locks == Locks::none ? ENOLCK : EBADF;
  if (locks == Locks::none || (locks == Locks::of_written_files && is_read)) return -1;
  return static_cast<int>(::syscall(SYS_flock, file, operation));
}

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
  ASSERT_EQ(adit("optimize" + on + "--output c.csv").status, 0);
  for (const char* words : {"m.stan log_prob constrained_params=c.csv data file=d.json output file=c.csv",
                            "m.stan log_prob constrained_params=c.csv data file=d.json output file=m.stan",
                            "m.stan log_prob constrained_params=c.csv data file=d.json output file=./d.json"})
    refused(words, "expected another file than that of ");
  const std::string generate = "m.stan generate_quantities fitted_params=run/m_1.csv data file=d.json ";
  refused(generate + "output file=run.csv", "than that of --draws");
  for (const char* input : {"d.json", "m.stan"}) refused(generate + "output file=" + input, "cannot be made");
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
  // CmdStan's have no mark of ours.
  refused("optimize" + on + "--output values.csv",
          "at values.csv, got a file of CmdStan's, which stays; give");
  refused("m.stan optimize data file=d.json output file=values.csv", "got a file of CmdStan's, which stays");
  EXPECT_EQ(at("values.csv"), "# stan_version_major = 2\nmu\n3\n");
  // Ours, and one in which nothing is, as mktemp makes it.
  for (const std::string name : {"o.csv", "o.csv", "empty.csv"})
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
  const pid_t child = started(base + "--warmup 100 --thin 100 --draws 4000000 --output run");
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
  refused(call, "at x.csv, got a file of CmdStan's, which stays");
  put("x.csv", "");
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
  for (const char* file : {"..csv", "...csv", "x/...csv"})
    refused(std::string("m.stan sample data file=d.json output file=") + file,
            "[cmdstan] file: expected a file whose name without .csv can be a folder's, got");
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
  // What came into a place since then stays as well, until it is moved away.
  leave(true, "adit 1 1\n");
  put("run/m_2.csv", "x,y\n1,2\n");
  refused("summary run", "run/m_2.csv is in the way");
  refused(sampled + "--output run --overwrite --format csv", "run/m_2.csv is in the way");
  EXPECT_EQ(at("run/m_2.csv"), "x,y\n1,2\n");
  fs::remove(root_ / "run/m_2.csv");
  fs::create_symlink(root_ / "m.stan", root_ / "run/m_2.csv");
  refused("summary run", "run/m_2.csv is in the way");
  fs::remove(root_ / "run/m_2.csv");
  EXPECT_EQ(adit("summary run").output, now) << at("errors");
  EXPECT_FALSE(fs::exists(stage));
  EXPECT_EQ(at("m.stan"), program);
  // A folder of this name that is not ours stays.
  leave(true, "precious");
  EXPECT_EQ(adit("summary run").output, now);
  EXPECT_TRUE(fs::exists(stage / "files/m_1.csv"));
  put("run/.adit.lock", "of another program");
  refused(sampled + "--output run --format csv", "its .adit.lock is a file of others");
  EXPECT_EQ(at("run/.adit.lock"), "of another program");
}

// A limit under which BLAS cannot have its own memory, and does not end; and no stack of 256 MiB is there.
TEST_F(CliOwnFiles, little_memory_is_enough_for_small_work) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more addresses than that";
#endif
  ASSERT_EQ(adit(with(sampled, "--chains 1 --output l --format csv --no-report")).status, 0);
  const auto ends = [&](const std::string& words) {
    std::string line = "ulimit -v 300000; " + command(words);
    line.replace(line.find("exec env"), 8, "exec timeout 60 env");
    return outcome_of(std::system(line.c_str())).status == 0;
  };
  EXPECT_TRUE(ends("version")) << at("errors");
  EXPECT_TRUE(ends("summary l")) << at("errors");
  EXPECT_TRUE(ends("check m.stan")) << at("errors");
  put("calls.stan", "functions { real f(real x); real f(real x) { return x > 0 ? f(x - 1) : x; } }");
  EXPECT_TRUE(ends("check calls.stan")) << at("errors");
}

TEST_F(CliOwnFiles, odd_names_in_hints_and_numbers_without_signs) {
  put("list.stan", "generated quantities { real a = not_a_number(); real b = -not_a_number(); }");
  ASSERT_EQ(
      adit("sample list.stan --device cpu --chains 1 --draws 2 --output l --format csv --no-report").status,
      0);
  EXPECT_FALSE(contains(at("l/list_1.csv"), "-nan"));
  EXPECT_TRUE(contains(at("l/list_1.csv"), "nan"));
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

TEST_F(CliOwnFiles, draws_without_a_sampler_go_on_from_nothing) {
  put("none.stan", "generated quantities { real a = normal_rng(0, 1); }");
  ASSERT_EQ(adit(sampled + "--output run --format csv").status, 0) << at("errors");
  const std::string week = "ADITrun\nthe work of a week", chain = at("run/m_1.csv");
  put("run/checkpoint", week);
  const std::string none = "sample none.stan --device cpu --draws 5 --format csv --quiet --output run ";
  refused(none + "--resume", "[sample] --resume: expected a program with parameters, got one without");
  refused(none, "run holds a run that was stopped");
  // Who has no such words is not told of them.
  put("other.csv", chain);
  const Outcome other = refused("generate" + on + "--draws other.csv --output run", "another --output");
  EXPECT_FALSE(contains(other.errors, "--resume")) << other.errors;
  EXPECT_EQ(at("run/checkpoint"), week);
  EXPECT_EQ(at("run/m_1.csv"), chain);
  EXPECT_EQ(adit(none + "--overwrite").status, 0) << at("errors");
  EXPECT_FALSE(fs::exists(root_ / "run/checkpoint"));
}

// A folder that is moved while a run works there, and another run where it was.
TEST_F(CliOwnFiles, a_run_leaves_the_files_of_the_next_where_its_folder_was) {
  put("slow.stan",
      "parameters { real x; } model { real s = 0; for (i in 1:1000) s += sin(x * i); s ~ normal(0, 100); }");
  const std::string long_run =
      "sample slow.stan --device cpu --chains 1 --warmup 20 --draws 400000 --no-report --format csv --output "
      "run";
  int status = 0;
  const pid_t first = started(long_run);
  ASSERT_TRUE(waits_for("sampling ", first, status)) << at("errors");
  fs::rename(root_ / "run", root_ / "moved");
  fs::rename(root_ / "errors", root_ / "errors of the first");
  const pid_t next = started(long_run);
  EXPECT_TRUE(waits_for("sampling ", next, status)) << at("errors");
  ::kill(first, SIGINT);
  ::waitpid(first, &status, 0);
  EXPECT_EQ(outcome_of(status).status, 1);
  const std::string errors = at("errors of the first");
  EXPECT_TRUE(contains(errors, "run was moved or replaced while the run worked there")) << errors;
  EXPECT_FALSE(contains(errors, "--resume")) << errors;
  EXPECT_TRUE(fs::exists(root_ / "run/checkpoint"));
  EXPECT_FALSE(fs::exists(root_ / "run/m_1.csv"));
  EXPECT_EQ(hidden_in(root_ / "run"), std::vector<std::string>{".adit.lock"});
  ::kill(next, SIGKILL);
  ::waitpid(next, &status, 0);
  EXPECT_TRUE(hidden_in(root_ / "moved").empty());
  EXPECT_EQ(adit("summary moved").status, 0) << at("errors");
  EXPECT_TRUE(contains(at("errors"), "was cut short after")) << at("errors");
}

TEST_F(CliOwnFiles, names_that_are_no_utf8) {
  std::ofstream(root_ / "\xff.stan") << program;
  const std::string words = with(sampled, "").substr(std::string("sample m.stan").size());
  EXPECT_EQ(adit("sample \"$(printf '\\377')\".stan " + words + "--output run --format csv").status, 0)
      << at("errors");
  EXPECT_EQ(adit("summary run").status, 0) << at("errors");
  EXPECT_EQ(adit("sample \"$(printf '\\377')\".stan " + words + "--output run --json").status, 0)
      << at("errors");
}

TEST_F(CliOwnFiles, open_streams_are_no_inputs) {
  refused("optimize" + on + "--output /dev/fd/3 3<>d.json", "--output: expected another file than that of");
  refused("optimize m.stan --data - --device cpu --output /dev/fd/0 0<>d.json", "that of --data");
  refused("laplace" + on + "--output /proc/self/fd/4 4>>m.stan", "that of the program");
  std::string line = command("optimize" + on + "--output /dev/stdout");
  line.replace(line.find(">output"), 7, ">>d.json");
  EXPECT_EQ(outcome_of(std::system(line.c_str())).status, 2);
  EXPECT_EQ(at("d.json"), data);
  EXPECT_EQ(at("m.stan"), program);
}

// A run that was killed after its files counted: the resumed one finds nothing to do.
TEST_F(CliOwnFiles, a_run_that_was_killed_at_its_end_is_complete) {
  ASSERT_EQ(adit(sampled + "--output run --format csv").status, 0);
  ASSERT_EQ(adit(sampled + "--seed 2 --output next --format csv --no-report").status, 0);
  const std::string now = adit("summary next").output;
  const fs::path stage = root_ / "run/.adit.writing-999999999-0";
  fs::create_directories(stage / "files");
  std::ofstream(stage / "origin") << "adit 1 1\n";
  std::ofstream(stage / "commit") << std::string("report.html\0checkpoint\0", 23);
  for (const char* name : {"m_1.csv", "m_2.csv"})
    fs::copy_file(root_ / "next" / name, stage / "files" / name);
  put("run/checkpoint", "ADITrun\nthe work of a week");
  refused(sampled + "--output run --format csv --resume",
          "run holds no run that was stopped; the one there is complete");
  EXPECT_FALSE(fs::exists(root_ / "run/checkpoint"));
  EXPECT_EQ(adit("summary run").output, now) << at("errors");
  // One that was killed before it wrote anything.
  put("run/checkpoint", "");
  refused(sampled + "--output run --format csv --resume", "run holds no run that was stopped");
  EXPECT_EQ(adit(sampled + "--output run --format csv").status, 0) << at("errors");
}

TEST_F(CliOwnFiles, a_run_without_draws_hides_no_whole_one) {
  ASSERT_EQ(adit(sampled + "--output run --format csv").status, 0);
  const std::string whole = adit("summary run").output;
  const pid_t child =
      started("sample" + on + "--chains 1 --warmup 400000000 --format csv --output run --overwrite");
  for (int i = 0; i < 6000 && at("run/checkpoint").empty(); ++i) ::usleep(5000);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_FALSE(at("run/checkpoint").empty());
  const Outcome read = adit("summary run");
  EXPECT_EQ(read.status, 0) << read.errors;
  EXPECT_EQ(read.output, whole);
  EXPECT_TRUE(contains(read.errors, "The newer run in run/checkpoint has no draws")) << read.errors;
}

// Folders of a stage's name that adit did not make, and stages that it did.
TEST_F(CliOwnFiles, only_stages_with_an_origin_of_adit_go) {
  ASSERT_EQ(adit(sampled + "--output run --format csv").status, 0);
  const auto stage = [&](const char* name) {
    fs::create_directories(root_ / "run" / name);
    std::ofstream(root_ / "run" / name / "notes") << "mine";
    return root_ / "run" / name;
  };
  const fs::path folder = stage(".adit.writing-999999999-1"), pipe = stage(".adit.writing-999999999-2"),
                 empty = stage(".adit.writing-999999999-3"), link = stage(".adit.writing-999999999-4");
  fs::create_directory(folder / "origin");
  ASSERT_EQ(::mkfifo((pipe / "origin").c_str(), 0600), 0);
  std::ofstream(empty / "origin") << "";
  std::ofstream(root_ / "text") << "adit 1 1\n";
  fs::create_symlink(root_ / "text", link / "origin");
  EXPECT_EQ(adit("summary run").status, 0) << at("errors");
  for (const fs::path& kept : {folder, pipe, empty, link}) {
    EXPECT_EQ(content_of(kept / "notes"), "mine") << kept;
    fs::remove_all(kept);
  }
  // A pipe is no record; what was only begun, and what a process of another world wrote, goes.
  const fs::path ours = stage(".adit.writing-999999999-5"), begun = root_ / "run/.adit.writing-999999999-6",
                 living = stage(".adit.writing-1-0");
  std::ofstream(ours / "origin") << "adit 1 1\n";
  ASSERT_EQ(::mkfifo((ours / "commit").c_str(), 0600), 0);
  fs::create_directory(begun);
  std::ofstream(begun / "origin") << "";
  std::ofstream(living / "origin") << "adit 1 1\n";
  EXPECT_EQ(adit("summary run").status, 0) << at("errors");
  EXPECT_TRUE(hidden_in(root_ / "run").empty());
}

TEST_F(CliOwnFiles, stages_of_other_users_hold_up_their_own_names_alone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const fs::path stage = root_ / ".adit.writing-999999999-0";
  fs::create_directories(stage / "files");
  for (const char* name : {"origin", "commit", "files/o.csv"}) std::ofstream(stage / name) << "adit 1 1\n";
  ASSERT_EQ(::chown(stage.c_str(), 12345, 12345), 0);
  EXPECT_EQ(adit("optimize" + on + "--output p.csv").status, 0) << at("errors");
  const Outcome held =
      refused("optimize" + on + "--output o.csv", ".adit.writing-999999999-0 of the user 12345");
  EXPECT_TRUE(contains(held.errors, "or remove it")) << held.errors;
  EXPECT_FALSE(fs::exists(root_ / "o.csv"));
  EXPECT_TRUE(fs::exists(stage / "files/o.csv"));
}

// A stage whose files count, of a process that is dead, or of one by its number.
class CliLeftStage : public CliOwnFiles {
 protected:
  void SetUp() override { CliSampleTest::SetUp(); }
  void TearDown() override {
    locks = Locks::all;
    CliSampleTest::TearDown();
  }
  fs::path leave(const std::string& process) const {
    fs::path stage = root_ / (".adit.writing-" + process + "-0");
    fs::create_directories(stage / "files");
    std::ofstream(stage / "origin") << "adit 1 1\n";
    std::ofstream(stage / "commit") << "";
    std::ofstream(stage / "files/new.csv") << "# adit_version = 1\n";
    return stage;
  }
};

TEST_F(CliLeftStage, files_that_cannot_be_listed_are_not_none) {
  const fs::path stage = leave("999999999");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(STDIN_FILENO);
  ::close(next);
  const struct rlimit one { static_cast<rlim_t>(next) + 1, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one), 0);
  const std::string obstacle = cli::StagedFiles::settle(root_);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(contains(obstacle, "Too many open files")) << obstacle;
  EXPECT_TRUE(fs::exists(stage / "files/new.csv"));
  EXPECT_EQ(cli::StagedFiles::settle(root_), "");
  EXPECT_TRUE(fs::exists(root_ / "new.csv"));
}

TEST_F(CliLeftStage, without_locks_the_number_of_the_process_tells) {
  for (const Locks kind : {Locks::of_written_files, Locks::none}) {
    locks = kind;
    leave("999999999");
    EXPECT_EQ(cli::StagedFiles::settle(root_), "");
    EXPECT_TRUE(fs::exists(root_ / "new.csv"));
    EXPECT_TRUE(hidden_in(root_).empty());
    fs::remove(root_ / "new.csv");
  }
  leave(std::to_string(::getpid()));
  EXPECT_TRUE(contains(cli::StagedFiles::settle(root_), "another command moves files there"));
  locks = Locks::all;  // then the number may be another's
  EXPECT_EQ(cli::StagedFiles::settle(root_), "");
  EXPECT_TRUE(fs::exists(root_ / "new.csv"));
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
  EXPECT_NE(cli::StagedFiles::settle(root_), "");
  fs::remove_all(root_ / "taken");
  EXPECT_EQ(cli::StagedFiles::settle(root_), "");
  EXPECT_EQ(at("taken"), "new");
  EXPECT_TRUE(hidden_in(root_).empty());
}

// Does the work in a process that is killed when so many of its calls of the system are done; false where it
// ends before that.
bool is_killed_after(int calls, const std::function<void()>& work) {
  constexpr int cannot = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(cannot);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (int stops = 0; WIFSTOPPED(status); ++stops) {  // before a call and behind it
    if (stops == 2 * calls) ::kill(child, SIGKILL);
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
  }
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == cannot);
  return WIFSIGNALED(status);
}

// A run and its copies where CmdStan has them: files in two folders.
class CliTwoFolders : public CliOwnFiles {
 protected:
  void SetUp() override { CliSampleTest::SetUp(); }
  static std::string text(const char* what) { return std::string("# adit_version = 1\n") + what; }
  void put_old() const {
    fs::remove_all(root_);
    fs::create_directories(root_ / "x");
    for (const char* name : {"x/a.csv", "x/b.csv", "x/outdated.csv", "x.csv"}) put(name, text("old"));
  }
  void commit() const {
    cli::StagedFiles run("[test]", root_ / "x"), copies("[test]", root_);
    for (const char* name : {"a.csv", "b.csv", "more.csv"}) std::ofstream(run.path(name)) << text("new");
    for (const char* name : {"x.csv", "x_2.csv"}) std::ofstream(copies.path(name)) << text("new");
    cli::StagedFiles::commit_together({{&run, {"outdated.csv"}}, {&copies, {}}});
  }
  // By the names that are there, and what is in them.
  std::string state() const {
    std::string all;
    for (const char* name : {"x/a.csv", "x/b.csv", "x/outdated.csv", "x/more.csv", "x.csv", "x_2.csv"})
      all += fs::exists(root_ / name) ? at(name).substr(text("").size(), 1) : "-";
    return all;
  }
  static std::string stage_in(const fs::path& folder) {
    for (const auto& entry : fs::directory_iterator(folder))
      if (const std::string name = entry.path().filename().string(); name.starts_with(".adit.writing-"))
        return name;
    return "none";
  }
  // Whoever looks into one of the folders ends what was begun in both.
  bool is_new_in_both(bool from_the_run) const {
    const fs::path folder = root_ / "x";
    EXPECT_EQ(cli::StagedFiles::settle(from_the_run ? folder : root_), "");
    const std::string found = state();
    EXPECT_TRUE(found == "ooo-o-" || found == "nn-nnn") << found;
    EXPECT_EQ(cli::StagedFiles::settle(from_the_run ? root_ : folder), "");
    EXPECT_EQ(state(), found);
    for (const fs::path& each : {folder, root_})
      EXPECT_TRUE(hidden_in(each).empty()) << hidden_in(each).front();
    return found == "nn-nnn";
  }
};

// Each step in its turn: a kill takes its time.
TEST_F(CliTwoFolders, a_kill_at_any_step_leaves_all_that_is_old_or_all_that_is_new) {
  const int steps = all_have_turns() ? 1 : 4;
  int first_new = 0, calls = static_cast<int>(first_seed() % steps);
  bool was_killed = true;
  for (; was_killed && !HasFailure(); calls += steps) {
    SCOPED_TRACE(calls);
    put_old();
    was_killed = is_killed_after(calls, [&] { commit(); });
    if (calls < steps && !was_killed) GTEST_SKIP() << "processes may not be traced here";
    const bool is_new = is_new_in_both(calls / steps % 2 == 0);
    EXPECT_TRUE(is_new || first_new == 0) << "what counts goes on to count";
    if (is_new && first_new == 0) first_new = calls;
  }
  EXPECT_GT(first_new, 0);
  EXPECT_GT(calls, first_new + 5) << "the last calls are those that move files";
  // Whoever looks is killed too.
  was_killed = true;
  for (int more = calls % steps; was_killed && !HasFailure(); more += steps) {
    SCOPED_TRACE(more);
    put_old();
    EXPECT_TRUE(is_killed_after(first_new, [&] { commit(); }));
    const fs::path folder = more / steps % 2 == 0 ? root_ / "x" : root_;
    was_killed = is_killed_after(more, [&] { cli::StagedFiles::settle(folder); });
    EXPECT_TRUE(is_new_in_both(more / steps % 4 < 2));
  }
}

// Folders that were moved together are still known to each other; one that points at the other alone is not
// believed.
TEST_F(CliTwoFolders, stages_of_two_folders_name_each_other) {
  put_old();
  const auto is_new_after = [&](int calls) {
    put_old();
    is_killed_after(calls, [&] { commit(); });
    return fs::exists(root_ / "x" / stage_in(root_ / "x") / "commit");
  };
  int calls = 0;
  while (calls < 500 && !is_new_after(calls)) ++calls;
  if (calls == 500) GTEST_SKIP() << "processes may not be traced here";
  const fs::path away = root_.string() + "-away";
  fs::rename(root_, away);
  EXPECT_EQ(cli::StagedFiles::settle(away), "");
  EXPECT_EQ(content_of(away / "x/more.csv"), text("new"));
  EXPECT_EQ(content_of(away / "x_2.csv"), text("new"));
  fs::remove_all(away);
  // A file of the user's in one of the folders holds up the other.
  is_new_after(calls);
  put("x.csv", "mine");
  EXPECT_NE(cli::StagedFiles::settle(root_ / "x"), "");
  EXPECT_EQ(at("x.csv"), "mine");
  EXPECT_EQ(at("x/a.csv"), text("old"));
  fs::remove(root_ / "x.csv");
  EXPECT_TRUE(is_new_in_both(true));
  // The copies' stage alone counts for nothing.
  is_new_after(calls);
  put("x/" + stage_in(root_ / "x") + "/commit", "");
  EXPECT_EQ(cli::StagedFiles::settle(root_), "");
  EXPECT_EQ(at("x.csv"), text("old"));
  EXPECT_EQ(at("x/a.csv"), text("old")) << "those of the run are not asked after";
  EXPECT_TRUE(hidden_in(root_).empty());
}

}  // namespace
}  // namespace adit::test
