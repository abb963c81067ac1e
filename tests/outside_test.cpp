// What keeps the world outside at a distance: work in a process of its own, text for a terminal, depth of
// JSON.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <adit/text.hpp>

#include "support/apart.hpp"
#include "support/json.hpp"

namespace adit {
namespace {

using Bytes = std::vector<std::byte>;

constexpr ApartLimits ample{20, 60, uint64_t{1} << 30};

Bytes some(size_t size) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  return bytes;
}

TEST(Apart, BringsBackWhatWasMade) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{70'000}, size_t{20'000'003}}) {
    const ApartResult result = run_apart(ample, [&] { return some(size); });
    EXPECT_EQ(result.fault, "");
    EXPECT_TRUE(result.bytes == some(size)) << size;
  }
}

TEST(Apart, WhatHappensThereStaysThere) {
  int changed = 1;
  const ApartResult result = run_apart(ample, [&] {
    changed = 2;
    ::_exit(3);
    return Bytes{};
  });
  EXPECT_EQ(changed, 1);
  EXPECT_NE(result.fault.find("ended with status 3"), std::string::npos) << result.fault;
}

TEST(Apart, ACrashIsAFault) {
  for (const auto& [number, words] :
       {std::pair{SIGSEGV, "ended by signal 11"}, {SIGABRT, "ended by signal 6"}}) {
    const ApartResult result = run_apart(ample, [&, signal = number] {
      ::raise(signal);
      return Bytes{};
    });
    EXPECT_NE(result.fault.find(words), std::string::npos) << result.fault;
  }
}

// The caller's own handlers are not called for it, nor does a signal that the caller blocks save it.
TEST(Apart, TheCallersHandlersAreNotCalled) {
  const auto before = std::signal(SIGABRT, [](int) { ::_exit(0); });
  const std::string fault = run_apart(ample, []() -> Bytes { std::abort(); }).fault;
  std::signal(SIGABRT, before);
  EXPECT_NE(fault.find("ended by signal 6"), std::string::npos) << fault;
}

// Nor does it help to block the signal.
TEST(Apart, WorkWithoutAnEndIsStopped) {
  const auto loop = [] {
    volatile bool more = true;
    while (more) {
    }
    return Bytes{};
  };
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGXCPU);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  EXPECT_EQ(run_apart({1, 60, 1 << 28}, loop).fault, "had no end after 1 s");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Apart, WorkThatWaitsIsStopped) {
  const auto begin = std::chrono::steady_clock::now();
  const ApartResult result = run_apart({20, 0.3, 1 << 28}, [] {
    ::sleep(100);
    return Bytes{};
  });
  EXPECT_NE(result.fault.find("had no end"), std::string::npos) << result.fault;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Apart, MemoryHasALimit) {
  const ApartResult result = run_apart({20, 60, uint64_t{64} << 20}, [] {
    void* large = std::malloc(size_t{512} << 20);
    void* little = std::malloc(size_t{16} << 20);
    return Bytes{static_cast<std::byte>(large != nullptr), static_cast<std::byte>(little != nullptr)};
  });
  ASSERT_EQ(result.bytes.size(), 2u) << result.fault;
  EXPECT_EQ(result.bytes[0], std::byte{0});
  EXPECT_EQ(result.bytes[1], std::byte{1});
}
#endif

TEST(Apart, LeavesNoProcess) {
  run_apart(ample, [] { return some(10); });
  run_apart(ample, []() -> Bytes { std::abort(); });
  run_apart({20, 0.1, 1 << 28}, [] {
    ::sleep(100);
    return Bytes{};
  });
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

// Some programs have their children reaped by the system.
TEST(Apart, WorksWhereChildrenAreIgnored) {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const ApartResult good = run_apart(ample, [] { return some(1000); });
  const ApartResult bad = run_apart(ample, []() -> Bytes { std::abort(); });
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(good.bytes == some(1000)) << good.fault;
  EXPECT_EQ(bad.fault, "ended early");
}

// Whatever descriptor the way back gets, words for standard error must not go into it.
TEST(Apart, WorksWithoutStandardError) {
  for (const int first : {2, 1, 0}) {
    const ApartResult outer = run_apart(ample, [&] {
      for (int descriptor = first; descriptor <= STDERR_FILENO; ++descriptor) ::close(descriptor);
      return run_apart(ample,
                       [] {
                         std::fputs("words\n", stderr);
                         return some(100);
                       })
          .bytes;
    });
    EXPECT_TRUE(outer.bytes == some(100)) << first << outer.fault;
  }
}

// Others allocate and print while the process is copied: none of their locks may be waited for.
TEST(Apart, WorksBesideBusyThreads) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the address sanitizer of this compiler does not bear a copy of a process whose threads allocate";
#endif
  std::atomic<bool> done{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 3; ++i)
    busy.emplace_back([&] {
      while (!done) {
        std::vector<std::string> words;
        for (int k = 0; k < 50; ++k) words.push_back(std::string(static_cast<size_t>(100 + k * 37), 'x'));
      }
    });
  std::vector<std::thread> callers;
  std::atomic<int> good{0};
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int k = 0; k < 40; ++k) good += run_apart(ample, [] { return some(5000); }).bytes == some(5000);
    });
  for (std::thread& thread : callers) thread.join();
  done = true;
  for (std::thread& thread : busy) thread.join();
  EXPECT_EQ(good, 120);
}

TEST(Printable, WhatATerminalObeysIsShown) {
  EXPECT_EQ(printable("theta[1]"), "theta[1]");
  EXPECT_EQ(printable("schoöls θ 漢 🎲"), "schoöls θ 漢 🎲");
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("a\r\n\t\x7f"), "a\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m");  // CSI in one character
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");  // and as a byte of Latin-1
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");                                              // right to left from here on
  EXPECT_EQ(printable("\xe2\x80\xa8\xe2\x81\xa6"), "\\u2028\\u2066");  // end of line, isolate
}

// Both ends of every range.
TEST(Printable, EdgesOfWhatIsObeyed) {
  const auto text = [](uint32_t code) {
    std::string utf8;
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    if (code < 0x800)
      return utf8 + static_cast<char>(0xC0 | code >> 6) + static_cast<char>(0x80 | (code & 0x3F));
    return utf8 + static_cast<char>(0xE0 | code >> 12) + static_cast<char>(0x80 | (code >> 6 & 0x3F)) +
           static_cast<char>(0x80 | (code & 0x3F));
  };
  for (const uint32_t code : {0x00, 0x1F, 0x7F, 0x80, 0x9F, 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A,
                              0x202E, 0x2066, 0x2069, 0xFEFF})
    EXPECT_TRUE(printable(text(code)).starts_with('\\')) << code;
  for (const uint32_t code :
       {0x20, 0x7E, 0xA0, 0x061B, 0x200D, 0x2010, 0x2027, 0x202F, 0x2065, 0x206A, 0xFFFD})
    EXPECT_EQ(printable(text(code)), text(code)) << code;
}

TEST(Printable, BytesThatAreNoCharacters) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x28\xa1"), "\\xe2(\\xa1");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const char c : printable(all)) EXPECT_TRUE(c >= 0x20 && c < 0x7f) << static_cast<int>(c);
}

TEST(Printable, LinesKeepTheirEnds) { EXPECT_EQ(printable_lines("a\n\tb\r\x1b"), "a\n\tb\\x0d\\x1b"); }

TEST(Json, DepthHasALimit) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_FALSE(parse_json(nested(100)).is_discarded());
  EXPECT_TRUE(parse_json(nested(101)).is_discarded());
  EXPECT_TRUE(parse_json(nested(200'000)).is_discarded());
  EXPECT_TRUE(parse_json(std::string(200'000, '[')).is_discarded());
  std::string objects;
  for (int i = 0; i < 200'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(parse_json(objects).is_discarded());
  // Width is no depth, and brackets in words are none.
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "[1,[2]],";
  EXPECT_EQ(parse_json(wide + "{}]").size(), 1001u);
  EXPECT_EQ(parse_json("\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"")
                .get<std::string>()
                .size(),
            2001u);
  EXPECT_TRUE(parse_json("").is_discarded());
  EXPECT_TRUE(parse_json("{").is_discarded());
  EXPECT_EQ(parse_json("\xEF\xBB\xBF{\"a\":1}").at("a"), 1);
}

}  // namespace
}  // namespace adit
