// The memory pool on a made-up source: classes, joining, reuse, running short, many threads.
#include "device/pool.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <thread>

#include <adit/error.hpp>

namespace adit {
namespace {

constexpr uint64_t kib = 1024, mib = 1024 * kib;

// Hands out addresses from a counter and knows what is out. It has `room` bytes.
class FakeSource : public BlockSource {
 public:
  struct State {
    std::mutex mutex;
    uint64_t room = ~uint64_t{0}, out = 0, next = 4096, asked = 0, settled = 0, done = ~uint64_t{0};
    std::atomic<int> inside{0};
    std::atomic<uint64_t> together{0};  // how often a thread came while another one was inside
    std::map<uint64_t, uint64_t> blocks;
    bool empties = false;
    std::vector<std::pair<uint64_t, uint64_t>> emptied;
  };
  explicit FakeSource(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::optional<Block> obtain(uint64_t bytes) override {
    const Stay stay(*state_);
    std::lock_guard lock(state_->mutex);
    ++state_->asked;
    if (bytes > state_->room - std::min(state_->room, state_->out)) return std::nullopt;
    const Block block{state_->next, bytes, nullptr, nullptr};
    state_->next += bytes + 4096;
    state_->out += bytes;
    state_->blocks[block.base] = bytes;
    return block;
  }
  void release(const Block& block) override {
    const Stay stay(*state_);
    std::lock_guard lock(state_->mutex);
    ASSERT_EQ(state_->blocks.erase(block.base), 1u);
    state_->out -= block.bytes;
  }
  void settle() override { ++state_->settled; }
  bool is_done(uint64_t stamp) override { return stamp <= state_->done; }
  bool empties() const override { return state_->empties; }
  bool empty(const Block& block, uint64_t offset, uint64_t bytes) override {
    std::lock_guard lock(state_->mutex);
    EXPECT_EQ(state_->blocks.count(block.base), 1u);
    EXPECT_LE(offset + bytes, block.bytes);
    state_->emptied.emplace_back(offset, bytes);
    return true;
  }

 private:
  struct Stay {
    explicit Stay(State& s) : state(s) {
      if (state.inside.fetch_add(1) > 0) ++state.together;
      std::this_thread::yield();
    }
    ~Stay() { --state.inside; }
    State& state;
  };
  std::shared_ptr<State> state_;
};

struct Fixture : testing::Test {
  std::shared_ptr<FakeSource::State> state = std::make_shared<FakeSource::State>();
  std::unique_ptr<Pool> pool = std::make_unique<Pool>(std::make_unique<FakeSource>(state));
  void limit(uint64_t room) { state->room = room; }
};
using PoolTest = Fixture;

TEST(PoolSizes, FourStepsAnOctave) {
  EXPECT_EQ(Pool::rounded(0), 256u);
  EXPECT_EQ(Pool::rounded(1), 256u);
  EXPECT_EQ(Pool::rounded(256), 256u);
  EXPECT_EQ(Pool::rounded(257), 512u);
  EXPECT_EQ(Pool::rounded(1025), 1280u);
  EXPECT_EQ(Pool::rounded(1281), 1536u);
  EXPECT_EQ(Pool::rounded(1793), 2048u);
  EXPECT_EQ(Pool::rounded(mib), mib);
  EXPECT_EQ(Pool::rounded(mib + 1), mib + mib / 4);
  EXPECT_EQ(Pool::rounded(100 * mib + 1), 102 * mib);
  for (uint64_t bytes = 1; bytes < 100 * mib; bytes += bytes / 7 + 1) {
    const uint64_t size = Pool::rounded(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_EQ(size % 256, 0u);
    EXPECT_LE(size, std::max<uint64_t>(bytes + bytes / 4, bytes + 256)) << bytes;
    EXPECT_EQ(Pool::rounded(size), size);
  }
}

TEST_F(PoolTest, TenThousandOfOneMebibyteHoldNothingMore) {
  pool->release(pool->allocate(mib));
  const uint64_t held = pool->statistics().bytes_held;
  for (int i = 0; i < 10'000; ++i) pool->release(pool->allocate(mib));
  EXPECT_EQ(pool->statistics().bytes_held, held);
  EXPECT_EQ(pool->statistics().bytes_in_use, 0u);
  EXPECT_EQ(pool->statistics().allocations, 10'001u);
  EXPECT_EQ(pool->statistics().blocks, 1u);
}

TEST_F(PoolTest, NeighboursJoin) {
  // The block of 64 MiB is cut into 4 MiB; when all are back, 12 MiB fit again without another block.
  std::vector<Pool::Chunk*> chunks;
  for (int i = 0; i < 16; ++i) chunks.push_back(pool->allocate(4 * mib));
  EXPECT_EQ(pool->statistics().blocks, 1u);
  for (int i : {3, 1, 2, 0, 15, 14, 7, 5, 6, 4, 8, 10, 9, 13, 12, 11}) pool->release(chunks[i]);
  for (int i = 0; i < 5; ++i) chunks[i] = pool->allocate(12 * mib);
  EXPECT_EQ(pool->statistics().blocks, 1u);
  for (int i = 0; i < 5; ++i) pool->release(chunks[i]);
}

TEST_F(PoolTest, ALargeRequestHasItsOwnBlockAndSmallOnesLeaveItWhole) {
  Pool::Chunk* large = pool->allocate(500 * mib);
  EXPECT_EQ(pool->statistics().bytes_held, 500 * mib);
  pool->release(large);
  Pool::Chunk* small = pool->allocate(kib);
  Pool::Chunk* again = pool->allocate(500 * mib);
  EXPECT_EQ(again, large);
  pool->release(small);
  pool->release(again);
}

TEST_F(PoolTest, TrimGivesBackOnlyWhatIsWhollyFreeAndSettlesFirst) {
  Pool::Chunk* kept = pool->allocate(kib);
  pool->release(pool->allocate(200 * mib));
  EXPECT_EQ(pool->trim(), 200 * mib);
  EXPECT_EQ(state->settled, 1u);
  EXPECT_EQ(state->blocks.size(), 1u);
  EXPECT_EQ(pool->trim(), 0u);
  pool->release(kept);
  EXPECT_GT(pool->trim(), 0u);
  EXPECT_EQ(state->out, 0u);
  EXPECT_EQ(pool->statistics().bytes_held, 0u);
}

TEST_F(PoolTest, ShortOfMemoryReleasesWhatIsFreeAndTriesAgain) {
  limit(300 * mib);
  pool->release(pool->allocate(200 * mib));
  Pool::Chunk* other = pool->allocate(250 * mib);  // fits only after the first block went back
  EXPECT_EQ(state->settled, 1u);
  pool->release(other);
}

TEST_F(PoolTest, OutOfMemoryTellsTheSizesAndTheRestGoesOn) {
  limit(300 * mib);
  Pool::Chunk* first = pool->allocate(200 * mib);
  try {
    pool->allocate(150 * mib);
    FAIL() << "150 MiB more than there is";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    const std::string text = error.what();
    EXPECT_NE(text.find(std::to_string(150 * mib)), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(200 * mib) + " in use"), std::string::npos) << text;
    EXPECT_NE(text.find("held"), std::string::npos) << text;
  }
  Pool::Chunk* small = pool->allocate(mib);
  pool->release(small);
  pool->release(first);
  EXPECT_EQ(pool->statistics().bytes_in_use, 0u);
}

TEST_F(PoolTest, ASourceThatHasLittleGivesJustEnough) {
  limit(10 * mib);  // less than the comfortable block
  Pool::Chunk* chunk = pool->allocate(8 * mib);
  EXPECT_EQ(pool->statistics().bytes_held, 8 * mib);
  pool->release(chunk);
}

TEST_F(PoolTest, ASmallRequestBreaksUpALargeBlockRatherThanFail) {
  limit(500 * mib);
  Pool::Chunk* half = pool->allocate(400 * mib);
  Pool::Chunk* rest = pool->allocate(100 * mib);
  pool->release(half);
  // Room again for 400 MiB, none in the source: a part of a large block serves.
  Pool::Chunk* small = pool->allocate(kib);
  EXPECT_EQ(small->address, half->address);
  pool->release(small);
  pool->release(rest);
}

TEST_F(PoolTest, RequestsAboveTheLimitAreRefused) {
  PoolOptions options;
  options.largest_request = 100 * mib + 17;
  Pool limited(std::make_unique<FakeSource>(state), options);
  EXPECT_THROW(limited.allocate(100 * mib + 18), Error);
  EXPECT_THROW(limited.allocate(~uint64_t{0}), Error);
  Pool::Chunk* largest = limited.allocate(100 * mib + 17);
  EXPECT_EQ(largest->bytes, 100 * mib + 17);
  limited.release(largest);
}

TEST_F(PoolTest, StampsOutliveTheirOwnerThroughJoiningAndCutting) {
  Pool::Chunk* a = pool->allocate(mib);
  Pool::Chunk* b = pool->allocate(mib);
  a->stamp = 5;
  b->stamp = 9;
  pool->release(a);
  pool->release(b);
  Pool::Chunk* both = pool->allocate(2 * mib);
  EXPECT_EQ(both->stamp, 9u);
  pool->release(both);
  Pool::Chunk* part = pool->allocate(kib);
  EXPECT_EQ(part->stamp, 9u);
  pool->release(part);
}

// Random work against a map of what is out: chunks never overlap and lie within their block.
TEST_F(PoolTest, RandomWorkNeverOverlaps) {
  std::mt19937_64 random(7);
  std::map<uint64_t, Pool::Chunk*> out;
  for (int step = 0; step < 50'000; ++step) {
    if (out.empty() || random() % 5 < 3) {
      const uint64_t bytes = (random() % 1000) << (random() % 16);
      Pool::Chunk* chunk = pool->allocate(bytes);
      ASSERT_GE(chunk->bytes, bytes);
      ASSERT_EQ(chunk->offset() % 256, 0u);
      ASSERT_LE(chunk->offset() + chunk->bytes, chunk->block().bytes);
      auto after = out.lower_bound(chunk->address);
      ASSERT_TRUE(after == out.end() || chunk->address + chunk->bytes <= after->first);
      if (after != out.begin()) {
        const Pool::Chunk* before = std::prev(after)->second;
        ASSERT_LE(before->address + before->bytes, chunk->address);
      }
      out[chunk->address] = chunk;
    } else {
      auto victim = out.lower_bound(random() % state->next);
      if (victim == out.end()) victim = out.begin();
      pool->release(victim->second);
      out.erase(victim);
    }
    if (step % 10'000 == 9'999) pool->trim();
  }
  uint64_t sum = 0;
  for (auto& [address, chunk] : out) sum += chunk->bytes;
  EXPECT_EQ(pool->statistics().bytes_in_use, sum);
  for (auto& [address, chunk] : out) pool->release(chunk);
  pool->trim();
  EXPECT_EQ(state->out, 0u);
}

TEST_F(PoolTest, WhatHasRestedGoesBack) {
  const auto start = rest::Clock::now();
  Pool::Chunk* used = pool->allocate(mib);
  Pool::Chunk* large = pool->allocate(200 * mib);
  Pool::Chunk* small = pool->allocate(kib);  // rests on a shelf of this thread
  pool->release(large);
  pool->release(small);
  // Too early; then when it has rested; what is in use stays.
  const auto early = pool->give_back(start + std::chrono::seconds(1));
  ASSERT_TRUE(early);
  EXPECT_GT(*early, start + std::chrono::seconds(4));
  EXPECT_EQ(pool->statistics().bytes_held, 264 * mib);
  EXPECT_FALSE(pool->give_back(rest::Clock::now() + std::chrono::seconds(6)));
  EXPECT_EQ(pool->statistics().bytes_held, 64 * mib);
  EXPECT_EQ(state->out, 64 * mib);
  pool->release(used);
  EXPECT_FALSE(pool->give_back(rest::Clock::now() + std::chrono::seconds(6)));
  EXPECT_EQ(state->out, 0u);
  EXPECT_EQ(state->settled, 0u);  // it waits for nothing
}

// Something small keeps the block; what lies beside it goes back all the same.
TEST_F(PoolTest, LargePartsOfABlockInUseAreEmptied) {
  state->empties = true;
  Pool::Chunk* first = pool->allocate(8 * mib);
  Pool::Chunk* small = pool->allocate(20 * kib);
  Pool::Chunk* second = pool->allocate(12 * mib);
  pool->release(first);
  pool->release(second);
  EXPECT_EQ(pool->statistics().bytes_held, 64 * mib);
  EXPECT_TRUE(pool->give_back(rest::Clock::now()));
  EXPECT_EQ(pool->statistics().bytes_held, 64 * mib);  // too early
  EXPECT_FALSE(pool->give_back(rest::Clock::now() + std::chrono::seconds(6)));
  EXPECT_EQ(pool->statistics().bytes_held, small->bytes);
  EXPECT_EQ(state->emptied.size(), 2u);
  EXPECT_EQ(state->out, 64 * mib);
  // It is used again, and counts again; then all of it goes.
  Pool::Chunk* again = pool->allocate(8 * mib);
  EXPECT_GE(pool->statistics().bytes_held, 8 * mib + small->bytes);
  pool->release(again);
  pool->release(small);
  EXPECT_EQ(pool->statistics().bytes_held, 64 * mib);
  EXPECT_FALSE(pool->give_back(rest::Clock::now() + std::chrono::seconds(6)));
  EXPECT_EQ(pool->statistics().bytes_held, 0u);
  EXPECT_EQ(state->out, 0u);
}

TEST_F(PoolTest, WhatQueuedWorkUsesRestsOn) {
  Pool::Chunk* large = pool->allocate(200 * mib);
  large->stamp = 7;
  pool->release(large);
  state->done = 6;
  const auto now = rest::Clock::now() + std::chrono::seconds(6);
  const auto next = pool->give_back(now);
  ASSERT_TRUE(next);
  EXPECT_GT(*next, now);
  EXPECT_EQ(state->out, 200 * mib);
  state->done = 7;
  EXPECT_FALSE(pool->give_back(*next));
  EXPECT_EQ(state->out, 0u);
}

TEST_F(PoolTest, WhatIsUsedAgainRestsAnew) {
  pool->release(pool->allocate(200 * mib));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto before = rest::Clock::now();
  pool->release(pool->allocate(200 * mib));
  EXPECT_TRUE(pool->give_back(before + std::chrono::milliseconds(4990)));
  EXPECT_EQ(state->out, 200 * mib);
}

// Nobody calls it: a thread of the process comes by.
TEST_F(PoolTest, ASharedPoolGivesBackByItself) {
  PoolOptions options;
  options.rest = std::chrono::milliseconds(30);
  const auto shared = std::make_shared<Pool>(std::make_unique<FakeSource>(state), options);
  for (int round = 0; round < 2; ++round) {
    shared->release(shared->allocate(100 * mib));
    EXPECT_GT(shared->statistics().bytes_held, 0u);
    const auto until = rest::Clock::now() + std::chrono::seconds(20);
    while (shared->statistics().bytes_held > 0 && rest::Clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(shared->statistics().bytes_held, 0u);
  }
}

// A source is not made for several threads at once.
TEST_F(PoolTest, OneThreadAtATimeIsInTheSource) {
  std::atomic<bool> stop{false};
  std::thread trims([&] {
    while (!stop) pool->trim();
  });
  std::thread rests([&] {
    while (!stop) pool->give_back(rest::Clock::now() + std::chrono::seconds(6));
  });
  for (int i = 0; i < 300; ++i) pool->release(pool->allocate(80 * mib));
  stop = true;
  trims.join();
  rests.join();
  EXPECT_EQ(state->together, 0u);
}

TEST_F(PoolTest, ManyThreadsGrowItOnce) {
  std::vector<std::thread> threads;
  std::vector<Pool::Chunk*> chunks(64);
  for (size_t t = 0; t < chunks.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        chunks[t] = pool->allocate(64 * kib);
        if (i < 199) pool->release(chunks[t]);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(pool->statistics().blocks, 1u);
  EXPECT_EQ(pool->statistics().bytes_in_use, 64 * 64 * kib);
  for (Pool::Chunk* chunk : chunks) pool->release(chunk);  // from another thread than took them
  EXPECT_EQ(pool->statistics().bytes_in_use, 0u);
}

}  // namespace
}  // namespace adit
