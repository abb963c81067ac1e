// Gathers in phases: the kernel alone in small sizes, and tensors that are large enough for it.
#include "ops/gather.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include <adit/adit.hpp>

#include "devices.hpp"
#include "explain/explain.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/explain.hpp"

namespace adit::test {
namespace {

using namespace adit::ops;

class Gathers : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Gathers, testing::ValuesIn(device_ids()), test_name);

// The table holds the numbers of its elements, so that a wrong place is seen.
uint32_t element(uint64_t place) { return static_cast<uint32_t>(place * 2654435761u + 1); }

template <class T>
uint64_t place_of(T index, uint64_t table) {
  if (std::is_signed_v<T> && index < T{0}) return 0;
  return std::min(static_cast<uint64_t>(index), table - 1);
}

template <class T>
void check(Device& device, Type index_type, uint64_t table, const std::vector<T>& indices,
           const GatherTuning& tuning) {
  SCOPED_TRACE("table " + std::to_string(table) + ", indices " + std::to_string(indices.size()) +
               ", phases " + std::to_string(tuning.phases));
  std::vector<uint32_t> values(table), want, got(indices.size(), 7);
  for (uint64_t i = 0; i < table; ++i) values[i] = element(i);
  for (const T index : indices) want.push_back(element(place_of(index, table)));
  GatherPlan plan;
  plan.index_type = index_type, plan.table = table, plan.count = indices.size();
  const PhasedGather made = phased_gather(plan, tuning);
  const auto results = run_on(device, made.program, made.teams,
                              {Input::buffer(got), Input::buffer(values), Input::buffer(indices)});
  std::memcpy(got.data(), results[0].data(), results[0].size());
  const auto wrong = std::mismatch(got.begin(), got.end(), want.begin());
  EXPECT_TRUE(wrong.first == got.end()) << "element " << wrong.first - got.begin();
}

template <class T>
std::vector<T> random_indices(uint64_t count, T from, T to) {
  std::mt19937_64 random(count);
  std::vector<T> indices;
  for (uint64_t i = 0; i < count; ++i)
    indices.push_back(static_cast<T>(from + static_cast<T>(random() % static_cast<uint64_t>(to - from))));
  return indices;
}

TEST_P(Gathers, InPhasesReadWhatTheIndicesSay) {
  if (!on().limits().lanes_by_hand) GTEST_SKIP() << "needs a GPU: chosen there alone";
  for (const uint32_t phases : {1u, 2u, 4u, 7u}) {
    const GatherTuning t{64, 4, phases};
    // Sizes that fill teams and phases, and some that do not; tables with fewer elements than phases.
    for (const uint64_t count : {1u, 255u, 256u, 257u, 1024u, 3001u})
      for (const int32_t table : {1, 5, 1000, 1024, 4099}) {
        check(on(), Type::i32, static_cast<uint64_t>(table), random_indices<int32_t>(count, 0, table), t);
        auto sorted = random_indices<int32_t>(count, 0, table);
        std::sort(sorted.begin(), sorted.end());
        check(on(), Type::i32, static_cast<uint64_t>(table), sorted, t);
        check(on(), Type::i32, static_cast<uint64_t>(table),
              random_indices<int32_t>(count, -table, 2 * table), t);
      }
  }
}

TEST_P(Gathers, InPhasesClampIndicesOfEveryType) {
  if (!on().limits().lanes_by_hand) GTEST_SKIP() << "needs a GPU: chosen there alone";
  const GatherTuning t{64, 4, 3};
  check<int32_t>(on(), Type::i32, 100, {INT32_MIN, -1, 0, 99, 100, INT32_MAX, 33, 34, 67, 68}, t);
  check<uint32_t>(on(), Type::u32, 100, {0, 99, 100, 0x80000000u, ~0u}, t);
  if (!on().limits().int64) return;
  const int64_t far = int64_t{1} << 32;
  check<int64_t>(on(), Type::i64, 100, {INT64_MIN, -far - 1, -1, 0, 99, 100, far, far + 5, INT64_MAX}, t);
  check<uint64_t>(on(), Type::u64, 100, {0, 99, 100, uint64_t{1} << 32, ~uint64_t{0}}, t);
}

TEST(GatherChoice, IsMadeForLargeTablesAndManyIndices) {
  Limits limits;
  limits.lanes_by_hand = true, limits.max_lanes = 1024;
  const uint64_t million = uint64_t{1} << 20;
  const auto choose = [&](uint64_t table, uint64_t count, Type type = Type::i32) {
    return choose_phases({type, table, count}, limits);
  };
  const auto timed = choose(4 * million, 4 * million);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->lanes, 512u);
  EXPECT_EQ(timed->each, 16u);
  EXPECT_EQ(timed->phases, 4u);
  EXPECT_EQ(choose(2 * million + 1, million)->phases, 3u);
  EXPECT_EQ(choose(4 * million, million)->each, 4u);
  EXPECT_FALSE(choose(2 * million, 4 * million));
  EXPECT_FALSE(choose(4 * million, million - 1));
  EXPECT_FALSE(choose(64 * million, 4 * million));
  EXPECT_FALSE(choose(4 * million, 4 * million, Type::u16));
  limits.lanes_by_hand = false;
  EXPECT_FALSE(choose(4 * million, 4 * million));
}

// --- Tensors
// ------------------------------------------------------------------------------------------------

struct Large : OnDevice {
  static constexpr int64_t table = (2 << 20) + 77, count = (1 << 20) + 333;
  void SetUp() override {
    device_ = Device::open(GetParam());
    set_default_device(device_);
    std::vector<float> values(table);
    for (int64_t i = 0; i < table; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i);
    x_ = tensor(values);
    places_ = random_indices<int32_t>(count, -1000, table + 1000);
    indices_ = tensor(places_);
  }
  // The names of its kernels say whether it runs in phases.
  bool runs_in_phases(const Tensor& root) const {
    const std::lock_guard lock(graph::graph_lock());
    const Tensors roots{root};
    const auto made = compile_with_notes(device_, roots, compile::describe(roots, device_word(*device_)));
    for (const compile::Step& step : made.executable->steps())
      if (step.name == "phased_gather") return true;
    return false;
  }
  void check(const Tensor& got, float sign = 1) const {
    const std::vector<float> values = got.to_vector<float>();
    ASSERT_EQ(values.size(), places_.size());
    size_t wrong = 0;
    for (size_t i = 0; i < values.size(); ++i)
      wrong += values[i] != sign * static_cast<float>(place_of(places_[i], table));
    EXPECT_EQ(wrong, 0u);
  }
  std::shared_ptr<Device> device_;
  std::vector<int32_t> places_;
  Tensor x_, indices_;
};
INSTANTIATE_TEST_SUITE_P(Devices, Large, testing::ValuesIn(device_ids()), test_name);

TEST_P(Large, PlainGathersRunInPhasesOnGpus) {
  const bool gpu = device_->limits().lanes_by_hand;
  const auto expect = [&](const Tensor& result, bool phases, float sign = 1) {
    EXPECT_EQ(runs_in_phases(result), phases && gpu);
    check(result, sign);
  };
  expect(take(x_, indices_), true);
  expect(gather(reshape(x_, {1, table}), expand_dims(indices_, -1), {1}), true);
  expect(reshape(take(x_, reshape(indices_, {1, count})), {count, 1}), true);
  // More than a gather: what follows is computed where the element is read.
  expect(negate(take(x_, indices_)), false, -1);
}

}  // namespace
}  // namespace adit::test
