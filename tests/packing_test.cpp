// Which chains share a vector: those with the same work left, from what they did before.
#include "sample/packing.hpp"

#include <gtest/gtest.h>

#include "nuts/layout.hpp"

namespace adit::test {
namespace {

using namespace adit::sampling;

// The words of chains that made so many transitions with so many leaves, and waited for so many rounds.
struct Chains {
  explicit Chains(size_t count) : words(count * word_count) {}
  void go(size_t chain, uint32_t transitions, uint32_t leaves, uint32_t waited = 0) {
    uint32_t* own = &words[chain * word_count];
    own[word_iteration] += transitions;
    own[word_leapfrogs] += leaves;
    own[word_rounds] += leaves + waited;
  }
  std::vector<uint32_t> words;
};

TEST(Packing, ChainsLieInOrderAtFirst) {
  const Packing packing(5, 2);
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(packing.executed(), 0u);
}

TEST(Packing, MostWorkFirst) {
  Packing packing(4, 2);
  Chains before(4), after(4);
  after.go(0, 10, 70);
  after.go(1, 5, 150);
  after.go(2, 10, 80);
  after.go(3, 4, 160);
  packing.learn(before.words, after.words);
  packing.arrange(after.words, 100);
  // 7, 30, 8 and 40 leaves a transition; 90, 95, 90 and 96 transitions left
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{3, 1, 2, 0}));
  EXPECT_GT(packing.longest(), 90 * 30);
  EXPECT_LE(packing.longest(), 96 * 40);
}

TEST(Packing, ChainsThatAreThereGetNoPlace) {
  Packing packing(4, 2);
  Chains before(4), after(4);
  for (size_t c = 0; c < 4; ++c) after.go(c, c % 2 ? 100 : 40, 400);
  packing.learn(before.words, after.words);
  packing.arrange(after.words, 100);
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{0, 2}));
  packing.arrange(after.words, 40);
  EXPECT_TRUE(packing.places().empty());
  EXPECT_EQ(packing.longest(), 0);
}

TEST(Packing, ChainsThatAreThereFillTheLastVector) {
  Packing packing(6, 4);
  Chains before(6), after(6);
  for (size_t c = 0; c < 6; ++c) after.go(c, c == 1 || c == 4 ? 100 : 40, 400 + static_cast<uint32_t>(c));
  packing.learn(before.words, after.words);
  packing.arrange(after.words, 100);
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{5, 3, 2, 0}));  // full as it is
  after.go(3, 60, 600);
  packing.arrange(after.words, 100);
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{5, 2, 0, 1}));
  after.go(2, 60, 600);
  packing.arrange(after.words, 100);
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{5, 0, 1, 2}));
  Packing few(3, 4);  // not enough chains to fill it
  few.arrange(std::span(after.words).first(3 * word_count), 100);
  EXPECT_EQ(few.places(), (std::vector<uint32_t>{0, 1, 2}));
}

// A chain that got slow is told from one that was slow before; what is forgotten tells nothing.
TEST(Packing, WhatIsLongAgoCountsLess) {
  Packing packing(2, 1);
  Chains start(2), then(2);
  then.go(0, 100, 1000);
  then.go(1, 100, 2500);
  packing.learn(start.words, then.words);
  packing.arrange(then.words, 1000);
  EXPECT_EQ(packing.places().front(), 1u);
  Chains now = then;
  now.go(0, 100, 2600);  // fewer in all, more of late
  now.go(1, 100, 1500);
  packing.learn(then.words, now.words);
  packing.arrange(now.words, 1000);
  EXPECT_EQ(packing.places().front(), 0u);
  packing.forget();
  packing.arrange(now.words, 1000);
  EXPECT_EQ(packing.places(), (std::vector<uint32_t>{0, 1}));  // alike: by number
}

// What a vector executes is what its slowest chain does, times its chains.
TEST(Packing, CountsWhatIsExecuted) {
  Packing packing(3, 2);
  Chains before(3), after(3);
  after.go(0, 1, 7, 1);
  after.go(1, 1, 15, 1);
  after.go(2, 1, 3);
  packing.learn(before.words, after.words);
  EXPECT_EQ(packing.executed(), 2u * 16 + 3);
  EXPECT_EQ(packing.longest_run(), 16u);
  packing.learn(after.words, after.words);
  EXPECT_EQ(packing.executed(), 2u * 16 + 3);
  EXPECT_EQ(packing.longest_run(), 0u);
}

}  // namespace
}  // namespace adit::test
