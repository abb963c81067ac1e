// How random tests go on: from which seed, for how many rounds, for how long. The environment says the same
// to all of them: ADIT_TEST_SEED is the first seed (`make test` takes it from the commit), ADIT_TEST_ROUNDS
// how many rounds in place of the test's own number, ADIT_TEST_SECONDS for how long in place of both numbers.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace adit::test {

inline std::optional<uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text && *text ? std::optional(std::strtoull(text, nullptr, 0)) : std::nullopt;
}

// Printed, so that the variable repeats it. From 0 to 2^31 - 1: it has room in any type of a seed.
inline uint64_t first_seed() {
  static const uint64_t seed = [] {
    const uint64_t number = number_in("ADIT_TEST_SEED").value_or(1) & 0x7fffffff;
    std::printf("ADIT_TEST_SEED=%llu\n", static_cast<unsigned long long>(number));
    std::fflush(stdout);  // before a program ends the process
    return number;
  }();
  return seed;
}

// Dear tests try a part of their cases: one in `of`, other ones with each seed. ADIT_TEST_ALL=1: all of them.
inline bool all_have_turns() { return number_in("ADIT_TEST_ALL").value_or(0) != 0; }
inline bool is_its_turn(uint64_t number, uint64_t of) {
  if (all_have_turns()) return true;
  uint64_t x =
      (number + 1) * 0x9e3779b97f4a7c15 + first_seed();  // so that neighbours have turns of their own
  x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9;
  return (x ^ x >> 29) % of == 0;
}

// The same of a few cases that are counted from 0: one in `of`, and never none where there are so many.
inline bool is_in_share(uint64_t number, uint64_t of) {
  return all_have_turns() || (number + first_seed()) % of == 0;
}

// The same of a whole test, which skips itself where it has no turn.
inline bool has_turn(uint64_t of) {
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  return is_its_turn(std::hash<std::string>()(std::string(test->test_suite_name()) + "." + test->name()), of);
}
constexpr const char* other_turn = "its turn comes with another seed; ADIT_TEST_ALL=1 tries it";

inline bool has_own_rounds() { return number_in("ADIT_TEST_ROUNDS") || number_in("ADIT_TEST_SECONDS"); }

// body(seed) for `usual` seeds, until one fails. Of several shares that run side by side, each takes every
// so-manieth.
template <class Body>
void each_seed(uint64_t usual, const Body& body, uint64_t share = 0, uint64_t shares = 1) {
  using Clock = std::chrono::steady_clock;
  const uint64_t first = first_seed();
  const std::optional<uint64_t> seconds = number_in("ADIT_TEST_SECONDS");
  const uint64_t rounds = seconds ? UINT64_MAX : number_in("ADIT_TEST_ROUNDS").value_or(usual);
  const auto end = Clock::now() + std::chrono::seconds(seconds.value_or(0));
  for (uint64_t i = share; i < rounds && (!seconds || Clock::now() < end); i += shares) {
    if (testing::Test::HasFailure()) return;
    const testing::ScopedTrace trace(__FILE__, __LINE__, "ADIT_TEST_SEED=" + std::to_string(first + i));
    body(first + i);
  }
}

}  // namespace adit::test
