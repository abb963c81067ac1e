// The threads of the process: ranges of work that they share with the caller.
#include "posterior/diagnostics/parallel.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <adit/error.hpp>

#include "support/machine.hpp"
#include "support/threads.hpp"
#include "support/work_meter.hpp"

namespace adit::test {
namespace {

namespace fs = std::filesystem;

TEST(Parallel, EveryIndexIsDoneOnceFromManyCallers) {
  std::vector<std::thread> callers;
  std::atomic<uint64_t> total{0};
  for (int c = 0; c < 8; ++c)
    callers.emplace_back([&] {
      for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{7}, uint64_t{1000}, uint64_t{4096}}) {
        std::vector<std::atomic<int>> seen(count);
        parallel(4, count, 13, [&](uint64_t begin, uint64_t end) {
          for (uint64_t i = begin; i < end; ++i) seen[i]++;
        });
        for (auto& s : seen) total += s == 1;
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 8u * (0 + 1 + 7 + 1000 + 4096));
}

// --- What of the machine a process may use ---

// A root folder with files of its own.
class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("adit-groups-" + std::to_string(::getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void file(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  // A line of mountinfo.
  void mount(const std::string& kind, const std::string& shown, const std::string& point,
             const std::string& options) {
    mounts_ += "30 23 0:26 " + shown + " " + point + " rw,nosuid shared:9 - " + kind + " " + kind + " " +
               options + "\n";
    file("proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounts_);
  }
  machine::Bounds found() const { return machine::control_groups(root_); }

  fs::path root_;
  std::string mounts_;
};
constexpr uint64_t gib = uint64_t{1} << 30;

TEST_F(ControlGroups, NoneIsNoBound) {
  EXPECT_FALSE(found().memory_bytes);
  EXPECT_FALSE(found().processors);
  mount("cgroup2", "/", "/sys/fs/cgroup", "rw");
  file("proc/self/cgroup", "0::/user.slice\n");
  file("sys/fs/cgroup/user.slice/memory.max", "max\n");
  file("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  EXPECT_FALSE(found().memory_bytes);
  EXPECT_FALSE(found().processors);
}

TEST_F(ControlGroups, OfVersion2AndThoseAround) {
  mount("cgroup2", "/", "/sys/fs/cgroup", "rw,nsdelegate");
  file("proc/self/cgroup", "0::/batch/job:7/step\n");
  file("sys/fs/cgroup/batch/job:7/step/memory.max", "max\n");
  file("sys/fs/cgroup/batch/job:7/step/cpu.max", "400000 100000\n");
  file("sys/fs/cgroup/batch/job:7/memory.max", "2147483648\n");
  file("sys/fs/cgroup/batch/memory.max", "8589934592\n");
  file("sys/fs/cgroup/batch/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/other/memory.max", "1\n");
  EXPECT_EQ(found().memory_bytes, 2 * gib);
  EXPECT_EQ(found().processors, 1.5);
}

// As in a container: the group is the root of what is mounted, whatever its name outside.
TEST_F(ControlGroups, OfVersion2InAContainer) {
  mount("cgroup2", "/", "/sys/fs/cgroup", "rw");
  file("proc/self/cgroup", "0::/\n");
  file("sys/fs/cgroup/memory.max", "1073741824\n");
  file("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(found().memory_bytes, gib);
  EXPECT_EQ(found().processors, 0.5);
}

TEST_F(ControlGroups, OfVersion1) {
  mount("cgroup", "/", "/sys/fs/cgroup/memory", "rw,memory");
  mount("cgroup", "/", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct");
  file("proc/self/cgroup", "12:memory:/jobs/a\n4:cpu,cpuacct:/jobs\n1:name=systemd:/x\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  file("sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "3221225472\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "250000\n");
  file("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(found().memory_bytes, 3 * gib);
  EXPECT_EQ(found().processors, 2.5);
}

// The mount shows the container's group alone, which the process knows by its name outside.
TEST_F(ControlGroups, OfVersion1InAContainer) {
  mount("cgroup", "/docker/4f", "/sys/fs/cgroup/memory", "rw,memory");
  file("proc/self/cgroup", "9:memory:/docker/4f\n0::/init\n");
  file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(found().memory_bytes, gib);
  file("proc/self/cgroup", "9:memory:/docker/4f/inner\n");
  file("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(found().memory_bytes, gib / 2);
  file("proc/self/cgroup", "9:memory:/elsewhere\n");
  EXPECT_EQ(found().memory_bytes, gib);
}

TEST_F(ControlGroups, NonsenseIsNoBound) {
  mount("cgroup2", "/", "/sys/fs/cgroup", "rw");
  file("proc/self/cgroup", "0::/a\n:::\nx\n\n7\n");
  for (const char* text : {"", "\n", "-5", "0", "abc 7", "nan"}) {
    file("sys/fs/cgroup/a/memory.max", text);
    file("sys/fs/cgroup/a/cpu.max", text);
    EXPECT_FALSE(found().memory_bytes) << text;
    EXPECT_FALSE(found().processors) << text;
  }
}

TEST(Machine, ThisOneHasSome) {
  EXPECT_GE(machine::processors(), 1u);
  EXPECT_LE(machine::processors(), std::max(1u, std::thread::hardware_concurrency()));
  EXPECT_GT(machine::memory_bytes(), uint64_t{1} << 26);
}

// In a child: what is allowed is asked once a process.
TEST(Machine, ProcessorsThatAreNotAllowedDoNotCount) {
  const pid_t child = ::fork();
  if (child == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) ::_exit(0);
    ::_exit(machine::allowed_processors() == 1 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Every worker is inside of an outer piece when the inner ones come.
TEST(Parallel, APieceMayShareItsOwnWork) {
  std::atomic<uint64_t> total{0};
  const auto each = [](uint64_t count, const std::function<void()>& piece) {
    parallel(3, count, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t i = begin; i < end; ++i) piece();
    });
  };
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) each(5, [&] { each(4, [&] { each(3, [&] { ++total; }); }); });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 4u * 20 * 5 * 4 * 3);
}

// Both pieces wait for each other, so that one is a helper's.
TEST(Parallel, AMeterTellsProcessorTimeOfAllWhoHelped) {
  const auto spent = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const auto work = [&](double seconds) {
    for (const double begin = spent(); spent() - begin < seconds;) {
    }
  };
  const auto pieces = [&](const std::function<void()>& piece) {
    std::atomic<int> here{0};
    parallel(2, 2, 1, [&](uint64_t, uint64_t) {
      for (++here; here < 2;) std::this_thread::sleep_for(std::chrono::microseconds(200));
      piece();
    });
  };
  const WorkMeter idle;
  pieces([] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); });
  EXPECT_LT(idle.seconds(), 0.03);
  const WorkMeter busy;
  pieces([&] { work(0.02); });
  EXPECT_GT(busy.seconds(), 0.04);
}

TEST(Parallel, TheFirstExceptionIsThrownAgainAndTheThreadsGoOn) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<uint64_t> done{0};
    const auto work = [&](uint64_t begin, uint64_t) {
      if (begin % 10 == 3) throw std::runtime_error("piece " + std::to_string(begin % 10));
      ++done;
    };
    try {
      parallel(4, 1000, 1, work);
      ADD_FAILURE() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "piece 3");
    }
    EXPECT_LE(done, 900u);
    std::atomic<uint64_t> after{0};
    parallel(4, 100, 1, [&](uint64_t begin, uint64_t end) { after += end - begin; });
    EXPECT_EQ(after, 100u);
  }
}

// As many as asked for at most, however many there are; and all of them when they have to meet.
TEST(Parallel, NoMoreThreadsThanAskedFor) {
  parallel(6, 100, 1, [](uint64_t, uint64_t) {});  // there are five workers now
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::atomic<int> arrived{0};
  parallel(3, 3, 1, [&](uint64_t, uint64_t) {
    {
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    }
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(seen.size(), 3u);
  seen.clear();
  parallel(2, 60, 1, [&](uint64_t, uint64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough for others to come
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 2u);
}

// Diagnostics start none of their own. A thread counts itself the first time that it comes by.
TEST(Parallel, DiagnosticsUseTheSameThreads) {
  static std::atomic<uint64_t> threads{0};
  const auto come_by = [] {
    thread_local const bool first = (++threads, true);
    (void)first;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough for others to come
  };
  for (int round = 0; round < 12; ++round) {
    parallel(thread_count(), 8, 1, [&](uint64_t, uint64_t) { come_by(); });
    diagnostics::for_each_piece(8, true, [&](int64_t) { come_by(); });
  }
  EXPECT_LE(threads, std::max(6u, thread_count()));  // others of these tests have asked for six
}

TEST(Parallel, TheNumberOfThreadsIsChecked) {
  for (const char* wrong : {"0", "-1", "1025", "two", "2x"}) {
    ::setenv("ADIT_THREADS", wrong, 1);
    try {
      thread_count();
      ADD_FAILURE() << wrong;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(error.what()).find("[threads] ADIT_THREADS: expected 1 to 1024, got"),
                std::string::npos);
    }
  }
  ::setenv("ADIT_THREADS", "3", 1);
  EXPECT_EQ(thread_count(), 3u);
  ::unsetenv("ADIT_THREADS");
  EXPECT_GE(thread_count(), 1u);
}

}  // namespace
}  // namespace adit::test
