// Summaries of the chains' words beside sums of the host.
#include "sample/summary.hpp"

#include <gtest/gtest.h>
#include <random>

#include "devices.hpp"
#include "nuts/layout.hpp"

namespace adit::test {
namespace {

using namespace sampling;

class SummaryOn : public testing::TestWithParam<std::string> {};

TEST_P(SummaryOn, IsWhatTheHostSums) {
  const auto device = Device::open(GetParam());
  std::mt19937 random(4);
  for (const int64_t chains : {1, 2, 1023, 1024, 1025, 5000}) {
    SCOPED_TRACE(chains);
    Summariser summariser(device, chains);
    std::vector<uint32_t> words(static_cast<size_t>(chains) * word_count),
        rounds(static_cast<size_t>(chains), 0);
    const Buffer buffer = device->allocate(words.size() * 4);
    for (int times = 0; times < 2; ++times) {
      Summary want;
      want.slowest = int64_t{1} << 40;
      constexpr int64_t limit = 700;
      for (size_t c = 0; c < rounds.size(); ++c) {
        uint32_t* const own = &words[c * word_count];
        for (uint32_t w = 0; w < word_count; ++w)
          own[w] = static_cast<uint32_t>(random());  // sums of large numbers
        own[word_phase] = static_cast<uint32_t>(random() % 5);
        own[word_iteration] = static_cast<uint32_t>(random() % 1000);
        own[word_rounds] = rounds[c] + static_cast<uint32_t>(random() % 100000);
        want.slowest = std::min<int64_t>(want.slowest, own[word_iteration]);
        want.transitions += own[word_iteration];
        want.leapfrogs += own[word_leapfrogs];
        want.divergences += own[word_divergences];
        want.warmup_divergences += own[word_warmup_divergences];
        want.failed += own[word_phase] == static_cast<uint32_t>(Phase::failed);
        want.going += own[word_iteration] < limit;
        want.longest_run = std::max(want.longest_run, own[word_rounds] - rounds[c]);
        rounds[c] = own[word_rounds];
      }
      device->write(buffer, words.data(), words.size() * 4);
      const Summary got = summariser.summarise(buffer, limit);
      EXPECT_EQ(got.slowest, want.slowest);
      EXPECT_EQ(got.transitions, want.transitions);
      EXPECT_EQ(got.leapfrogs, want.leapfrogs);
      EXPECT_EQ(got.divergences, want.divergences);
      EXPECT_EQ(got.warmup_divergences, want.warmup_divergences);
      EXPECT_EQ(got.failed, want.failed);
      EXPECT_EQ(got.going, want.going);
      EXPECT_EQ(got.longest_run, want.longest_run);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, SummaryOn, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
