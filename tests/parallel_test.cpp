// The threads of the process: ranges of work that they share with the caller.
#include "posterior/diagnostics/parallel.hpp"

#include <atomic>
#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <adit/error.hpp>

#include "support/threads.hpp"
#include "support/work_meter.hpp"

namespace adit::test {
namespace {

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
