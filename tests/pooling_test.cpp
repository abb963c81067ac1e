// What many chains learn together on the device, beside sums of the host in f64 over all draws.
#include "sample/pooling.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "devices.hpp"

namespace adit::test {
namespace {

using namespace sampling;

class PoolingOn : public testing::TestWithParam<std::string> {};

struct Chains {
  Layout layout;
  std::vector<float> state;
  std::vector<uint32_t> words;
  float& at(int64_t chain, int64_t place) { return state[static_cast<size_t>(chain * layout.count + place)]; }
  uint32_t& word(int64_t chain, Word which) { return words[static_cast<size_t>(chain) * word_count + which]; }
};

// Chains with some draws each, far from zero, and what they keep of them; and all draws.
Chains random_chains(int64_t sets, int64_t chains_a_set, int64_t size,
                     std::vector<std::vector<std::vector<double>>>& draws) {
  Chains chains{make_layout(size, Metric::diagonal, 6, 0), {}, {}};
  const int64_t count = sets * chains_a_set;
  chains.state.assign(static_cast<size_t>(count * chains.layout.count), 0.5f);
  chains.words.assign(static_cast<size_t>(count) * word_count, 3);
  std::mt19937 random(7);
  std::normal_distribution<double> normal_numbers;
  draws.assign(static_cast<size_t>(sets), std::vector<std::vector<double>>(static_cast<size_t>(size)));
  for (int64_t c = 0; c < count; ++c) {
    const int64_t many = 2 + static_cast<int64_t>(random() % 5), set = c / chains_a_set;
    chains.word(c, word_collected) = static_cast<uint32_t>(many);
    chains.at(c, real_step) = 0.1f * static_cast<float>(1 + c % 7);
    for (int64_t d = 0; d < size; ++d) {
      std::vector<double> own;
      for (int64_t i = 0; i < many; ++i)
        own.push_back(20 + static_cast<double>(d) + static_cast<double>(1 + set) * normal_numbers(random));
      double mean = 0, squares = 0;
      for (const double x : own) mean += x / static_cast<double>(many);
      for (const double x : own) squares += (x - mean) * (x - mean);
      chains.at(c, chains.layout.mean + d) = static_cast<float>(mean);
      chains.at(c, chains.layout.squares + d) = static_cast<float>(squares);
      auto& all = draws[static_cast<size_t>(set)][static_cast<size_t>(d)];
      all.insert(all.end(), own.begin(), own.end());
    }
  }
  return chains;
}

double metric_of(const std::vector<double>& draws) {
  const auto n = static_cast<double>(draws.size());
  double mean = 0, squares = 0;
  for (const double x : draws) mean += x / n;
  for (const double x : draws) squares += (x - mean) * (x - mean);
  return squares / (n - 1) * n / (n + 5) + 1e-3 * 5 / (n + 5);
}

TEST_P(PoolingOn, IsThatOfAllDraws) {
  const auto device = Device::open(GetParam());
  for (const auto& [sets, chains_a_set] :
       {std::pair<int64_t, int64_t>{1, 1}, {1, 1025}, {3, 700}, {2, 2048}}) {
    SCOPED_TRACE(chains_a_set);
    std::vector<std::vector<std::vector<double>>> draws;
    Chains chains = random_chains(sets, chains_a_set, 3, draws);
    const Chains before = chains;
    const Buffer state = device->allocate(chains.state.size() * 4),
                 words = device->allocate(chains.words.size() * 4);
    device->write(state, chains.state.data(), chains.state.size() * 4);
    device->write(words, chains.words.data(), chains.words.size() * 4);
    Pooler pooler(device, chains.layout, DType::f32, sets, chains_a_set);
    ASSERT_TRUE(pooler.pool_adaptation(state, words));
    device->read(state, chains.state.data(), chains.state.size() * 4);
    device->read(words, chains.words.data(), chains.words.size() * 4);
    double logs = 0;
    for (int64_t c = 0; c < chains_a_set; ++c) logs += std::log(0.1 * static_cast<double>(1 + c % 7));
    for (int64_t c = 0; c < sets * chains_a_set; c += 97) {
      for (int64_t d = 0; d < 3; ++d) {
        const double want = metric_of(draws[static_cast<size_t>(c / chains_a_set)][static_cast<size_t>(d)]);
        EXPECT_NEAR(chains.at(c, chains.layout.inverse_metric + d), want, 2e-4 * want);
        EXPECT_EQ(chains.at(c, chains.layout.mean + d), 0);
        EXPECT_EQ(chains.at(c, chains.layout.squares + d), 0);
      }
      if (sets == 1) {
        EXPECT_NEAR(std::log(chains.at(c, real_step)), logs / static_cast<double>(chains_a_set), 1e-5);
      }
      EXPECT_EQ(chains.word(c, word_collected), 0u);
      EXPECT_EQ(chains.word(c, word_phase), static_cast<uint32_t>(Phase::search));
      EXPECT_EQ(chains.word(c, word_leapfrogs), 3u);  // is left alone, as are positions
      EXPECT_EQ(chains.at(c, chains.layout.current), 0.5f);
    }
    // The geometric mean alone.
    device->write(state, before.state.data(), before.state.size() * 4);
    device->write(words, before.words.data(), before.words.size() * 4);
    pooler.pool_steps(state, words);
    Chains after = before;
    device->read(state, after.state.data(), after.state.size() * 4);
    device->read(words, after.words.data(), after.words.size() * 4);
    EXPECT_EQ(after.words, before.words);
    for (size_t i = 0; i < after.state.size(); ++i)
      if (i % static_cast<size_t>(before.layout.count) == real_step) after.state[i] = before.state[i];
    EXPECT_EQ(after.state, before.state);
  }
}

// A data set of one chain whose window was one draw: the metric stays what it was, and shrinks.
TEST_P(PoolingOn, OneDrawHasNoVariance) {
  const auto device = Device::open(GetParam());
  constexpr int64_t sets = 9000;
  std::vector<std::vector<std::vector<double>>> draws;
  Chains chains = random_chains(sets, 1, 2, draws);
  const auto scale = [](int64_t chain, int64_t d) { return static_cast<float>(1 + chain % 5 + d); };
  for (int64_t c = 0; c < sets; ++c)
    for (int64_t d = 0; d < 2; ++d) {
      chains.at(c, chains.layout.inverse_metric + d) = scale(c, d);
      if (c % 3 != 0) continue;
      chains.word(c, word_collected) = 1;
      chains.at(c, chains.layout.squares + d) = 0;
    }
  const Buffer state = device->allocate(chains.state.size() * 4),
               words = device->allocate(chains.words.size() * 4);
  device->write(state, chains.state.data(), chains.state.size() * 4);
  device->write(words, chains.words.data(), chains.words.size() * 4);
  Pooler pooler(device, chains.layout, DType::f32, sets, 1);
  ASSERT_TRUE(pooler.pool_adaptation(state, words));
  device->read(state, chains.state.data(), chains.state.size() * 4);
  for (int64_t c = 0; c < sets; ++c)
    for (int64_t d = 0; d < 2; ++d) {
      const double want = c % 3 == 0 ? (static_cast<double>(scale(c, d)) + 5e-3) / 6
                                     : metric_of(draws[static_cast<size_t>(c)][static_cast<size_t>(d)]);
      EXPECT_NEAR(chains.at(c, chains.layout.inverse_metric + d), want, 2e-4 * want) << c;
    }
}

INSTANTIATE_TEST_SUITE_P(, PoolingOn, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
