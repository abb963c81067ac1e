// The kernels of sorting, in every form that a device may need, against std::stable_sort.
#include "ops/sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "devices.hpp"
#include "ops/sort_host.hpp"

namespace adit::ops {
namespace {

class Sorts : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Sorts, testing::ValuesIn(test::device_ids()), test::test_name);

template <class T>
struct Results {
  std::vector<T> values;
  std::vector<int64_t> places;
};

template <class T>
Results<T> run(Device& on, const SortPlan& plan, const Limits& limits, const std::vector<T>& x) {
  const Sort made = sort(plan, limits);
  const uint64_t count = x.size(), bytes_of_x = count * sizeof(T);
  std::vector<Buffer> tensors = {on.allocate(bytes_of_x), on.allocate(bytes_of_x), on.allocate(count * 8)};
  for (const uint64_t bytes : made.scratch) tensors.push_back(on.allocate(std::max<uint64_t>(4, bytes)));
  on.write(tensors[0], x.data(), bytes_of_x);
  for (const SortPass& pass : made.passes) {
    std::vector<Argument> arguments;
    for (const uint8_t which : pass.buffers) arguments.emplace_back(tensors[which]);
    for (const uint32_t number : pass.numbers) arguments.emplace_back(number);
    on.run(*on.compile(made.programs[pass.program]), pass.teams, arguments);
  }
  Results<T> found{std::vector<T>(count), std::vector<int64_t>(count)};
  on.read(tensors[1], found.values.data(), bytes_of_x);
  on.read(tensors[2], found.places.data(), count * 8);
  return found;
}

// NaN is larger than any number.
template <class T>
bool is_less(T a, T b) {
  return a < b || (a == a && b != b);
}

template <class T>
Results<T> expected(const SortPlan& plan, const std::vector<T>& x) {
  Results<T> want{x, std::vector<int64_t>(x.size())};
  for (uint64_t row = 0; row < plan.outer * plan.inner; ++row) {
    const auto at = [&](uint64_t i) {
      return (row / plan.inner * plan.length + i) * plan.inner + row % plan.inner;
    };
    std::vector<int64_t> order(plan.length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const T left = x[at(static_cast<uint64_t>(a))], right = x[at(static_cast<uint64_t>(b))];
      return plan.descending ? is_less(right, left) : is_less(left, right);
    });
    for (uint64_t i = 0; i < plan.length; ++i) {
      want.places[at(i)] = order[i];
      want.values[at(i)] = x[at(static_cast<uint64_t>(order[i]))];
    }
  }
  return want;
}

// Sizes and keys at random; each by the form that the device takes, and by the one for devices without lanes.
TEST_P(Sorts, RandomRowsInEveryForm) {
  if (!test::has_turn_on(test::device(GetParam()), 2)) GTEST_SKIP() << test::other_turn;
  Device& on = this->on();
  Limits without = on.limits();
  without.lanes_by_hand = false;
  without.shared_bytes = 0;
  std::mt19937 random(20);
  for (int round = 0; round < 7; ++round) {
    const bool is_tried = test::is_in_share(static_cast<uint64_t>(round), 3);
    SortPlan plan;
    plan.type = DType::i32;
    plan.outer = 1 + random() % 3;
    plan.inner = 1 + random() % 3;
    plan.length = 1 + random() % (round % 3 == 0 ? 6000 : 90);
    plan.descending = random() % 2;
    plan.wants_places = true;
    std::vector<int32_t> x(plan.outer * plan.length * plan.inner);
    const uint32_t range = round % 2 ? 5 : ~0U;
    for (int32_t& value : x) value = static_cast<int32_t>(random() % range - range / 2);
    if (!is_tried) continue;
    const Results<int32_t> want = expected(plan, x);
    Results<int32_t> host{x, std::vector<int64_t>(x.size())};
    sort_on_host({plan.type, plan.outer, plan.length, plan.inner, plan.descending}, x.data(),
                 host.values.data(), host.places.data());
    EXPECT_TRUE(host.values == want.values && host.places == want.places) << "on the host, round " << round;
    const bool is_gpu = on.info().kind != DeviceKind::cpu;
    for (const Limits& limits : {on.limits(), without}) {
      if (!is_gpu && limits.lanes_by_hand) continue;
      const Results<int32_t> got = run(on, plan, limits, x);
      EXPECT_EQ(got.places, want.places) << "round " << round << ", rows of " << plan.length;
      EXPECT_EQ(got.values, want.values) << "round " << round << ", rows of " << plan.length;
    }
  }
}

enum class Pattern : uint8_t { random, few, equal, ordered, steps_down, reversed, count };

template <class T>
T number_of(Pattern pattern, size_t i, size_t count, std::mt19937_64& random) {
  switch (pattern) {
    case Pattern::random: break;
    case Pattern::few: return static_cast<T>(random() % 2);
    case Pattern::equal: return static_cast<T>(77);
    case Pattern::ordered: return static_cast<T>(i);
    case Pattern::steps_down: return static_cast<T>((count - i) / 3);
    default: return static_cast<T>(count - i);
  }
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T special[] = {0,
                             -T{0},
                             std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity(),
                             std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::denorm_min()};
    if (random() % 8 == 0) return special[random() % std::size(special)];
    return static_cast<T>(std::normal_distribution<double>()(random));
  } else {
    return static_cast<T>(random());
  }
}

// Zeros have one value here: without places -0 may stand before 0.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](T x, T y) { return x == y || (x != x && y != y); });
}

template <class T>
void sort_long_rows(Device& on, const SortPlan& plan) {
  std::mt19937_64 random(plan.length);
  for (int p = 0; p < static_cast<int>(Pattern::count); ++p) {
    std::vector<T> x(plan.outer * plan.length * plan.inner);
    for (size_t i = 0; i < x.size(); ++i) x[i] = number_of<T>(static_cast<Pattern>(p), i, x.size(), random);
    const Results<T> want = expected(plan, x), got = run(on, plan, on.limits(), x);
    EXPECT_TRUE(!plan.wants_places || got.places == want.places) << name_of(plan.type) << ", pattern " << p;
    EXPECT_TRUE(!plan.wants_values || same(got.values, want.values))
        << name_of(plan.type) << ", pattern " << p;
  }
}

// By digits, with lengths about the ends of tiles.
TEST_P(Sorts, LongRowsOfAnyType) {
  if (!test::has_turn_on(test::device(GetParam()), 3)) GTEST_SKIP() << test::other_turn;
  Device& on = this->on();
  if (on.info().kind == DeviceKind::cpu) GTEST_SKIP() << "the host sorts there";
  SortPlan plan{DType::f32, 1, 16385, 1, false, true, true};
  sort_long_rows<float>(on, plan);
  plan.wants_places = false;
  plan.outer = 2;
  plan.length = 8191;
  sort_long_rows<float>(on, plan);
  plan.type = DType::f64;
  plan.descending = true;
  sort_long_rows<double>(on, plan);
  plan.inner = 3;
  plan.length = 6144;
  plan.type = DType::i16;
  sort_long_rows<int16_t>(on, plan);
  plan.wants_places = true;
  plan.wants_values = false;
  plan.type = DType::u8;
  sort_long_rows<uint8_t>(on, plan);
}

// On the host short rows go side by side: any number of them, of any length around where that begins and
// ends.
template <class T>
void sort_side_by_side(DType type) {
  std::mt19937_64 random(7);
  for (const uint64_t length : {1, 2, 3, 5, 31, 100, 513, 1024, 1025})
    for (const uint64_t rows : {1, 7, 8, 17, 33, 65})
      for (const bool is_apart : {false, true}) {
        SortPlan plan;
        (is_apart ? plan.inner : plan.outer) = rows;
        plan.length = length;
        plan.descending = random() % 2;
        const auto pattern = static_cast<Pattern>(random() % static_cast<int>(Pattern::count));
        std::vector<T> x(rows * length);
        for (size_t i = 0; i < x.size(); ++i) x[i] = number_of<T>(pattern, i, x.size(), random);
        const Results<T> want = expected(plan, x);
        const HostSort host{type, plan.outer, plan.length, plan.inner, plan.descending};
        Results<T> got{x, std::vector<int64_t>(x.size())};
        sort_on_host(host, x.data(), got.values.data(), got.places.data());
        EXPECT_TRUE(same(got.values, want.values) && got.places == want.places) << rows << " of " << length;
        sort_on_host(host, x.data(), got.values.data(), nullptr);
        EXPECT_TRUE(same(got.values, want.values)) << rows << " of " << length << " without places";
        got.places.assign(x.size(), -1);
        sort_on_host(host, x.data(), nullptr, got.places.data());
        EXPECT_EQ(got.places, want.places) << rows << " of " << length << " without values";
      }
}

TEST(SortsOnTheHost, ShortRowsSideBySide) {
  sort_side_by_side<float>(DType::f32);
  sort_side_by_side<double>(DType::f64);
  sort_side_by_side<int8_t>(DType::i8);
  sort_side_by_side<uint16_t>(DType::u16);
  sort_side_by_side<int32_t>(DType::i32);
  sort_side_by_side<uint64_t>(DType::u64);
}

std::vector<VectorKind> kinds_of_vectors() {
  std::vector<VectorKind> kinds = {VectorKind::none};
  const VectorKind own = vectors_of_this_cpu();
  if (own == VectorKind::avx512) kinds.push_back(VectorKind::avx2);  // which has those too
  if (own != VectorKind::none) kinds.push_back(own);
  return kinds;
}

enum class Keys : uint8_t { of_pattern, near_one_another, few_near_one_another, saw, count };

// Near one another: all but one differ in their lowest bits alone.
template <class T>
std::vector<T> row_of(Keys keys, uint64_t length, std::mt19937_64& random) {
  std::vector<T> x(length);
  const auto pattern = static_cast<Pattern>(random() % static_cast<int>(Pattern::count));
  for (uint64_t i = 0; i < length; ++i) {
    x[i] = number_of<T>(pattern, i, length, random);
    if (keys == Keys::saw) x[i] = static_cast<T>(i % 37);
    if (keys != Keys::near_one_another && keys != Keys::few_near_one_another) continue;
    const uint64_t low = keys == Keys::near_one_another ? random() % 50000 : random() % 3;
    if constexpr (std::is_floating_point_v<T>)
      x[i] = 1 + static_cast<T>(low) * std::numeric_limits<T>::epsilon();
    else
      x[i] = static_cast<T>(low);
  }
  if (keys != Keys::of_pattern) x[length / 2] = std::numeric_limits<T>::max();
  return x;
}

// Without places -0 stands before 0.
template <class T>
bool zeros_are_in_order(const std::vector<T>& values, bool descending) {
  if constexpr (std::is_floating_point_v<T>)
    for (size_t i = 1; i < values.size(); ++i)
      if (values[i - 1] == 0 && values[i] == 0 && std::signbit(values[descending ? i - 1 : i]) &&
          !std::signbit(values[descending ? i : i - 1]))
        return false;
  return true;
}

template <class T>
void sort_a_row(DType type, uint64_t length, std::mt19937_64& random) {
  SortPlan plan;
  plan.length = length;
  plan.descending = random() % 2;
  if (random() % 4 == 0) plan.inner = 2;
  std::vector<T> x;
  const auto keys = static_cast<Keys>(random() % static_cast<int>(Keys::count));
  for (uint64_t row = 0; row < plan.inner; ++row)
    for (const T value : row_of<T>(keys, length, random)) x.push_back(value);
  const Results<T> want = expected(plan, x);
  for (const VectorKind kind : kinds_of_vectors()) {
    const HostSort host{type, 1, length, plan.inner, plan.descending, kind};
    Results<T> got{std::vector<T>(x.size()), std::vector<int64_t>(x.size())};
    sort_on_host(host, x.data(), got.values.data(), got.places.data());
    EXPECT_TRUE(same(got.values, want.values) && got.places == want.places)
        << name_of(type) << ", a row of " << length << ", vectors " << static_cast<int>(kind);
    std::vector<T> values(x.size());
    sort_on_host(host, x.data(), values.data(), nullptr);
    EXPECT_TRUE(same(values, want.values) && (plan.inner > 1 || zeros_are_in_order(values, plan.descending)))
        << name_of(type) << ", a row of " << length << ", vectors " << static_cast<int>(kind)
        << ", without places";
    got.places.assign(x.size(), -1);
    sort_on_host(host, x.data(), nullptr, got.places.data());
    EXPECT_EQ(got.places, want.places) << name_of(type) << ", a row of " << length << ", without values";
  }
}

// Lengths around those of networks, blocks of registers and pieces of threads.
template <class T>
void sort_single_rows(DType type) {
  std::mt19937_64 random(11);
  for (uint64_t length = 1; length < 600; length += length < 280 ? 1 : 7) sort_a_row<T>(type, length, random);
  for (const uint64_t length :
       {1023, 1025, 2047, 2048, 2999, 3001, 8191, 32767, 32768, 32769, 65536, 65537, 70001, 200003})
    sort_a_row<T>(type, length, random);
  for (int round = 0; round < 60; ++round) sort_a_row<T>(type, 1 + random() % 6000, random);
}

TEST(SortsOnTheHost, RowsByEveryKindOfVectors) {
  if (test::is_in_share(0, 2)) sort_single_rows<float>(DType::f32);
  if (test::is_in_share(1, 2)) sort_single_rows<double>(DType::f64);
  if (test::is_in_share(2, 2)) sort_single_rows<int64_t>(DType::i64);
  if (test::is_in_share(3, 2)) sort_single_rows<uint32_t>(DType::u32);
  if (test::is_in_share(4, 2)) sort_single_rows<int16_t>(DType::i16);
  if (test::is_in_share(5, 2)) sort_single_rows<uint8_t>(DType::u8);
}

// Guards on both sides stay what they are.
template <class K>
void split_and_sort(VectorKind kind) {
  const VectorSort<K> by = vector_sort<K>(kind);
  if (!by.sort) return;
  std::mt19937_64 random(5);
  constexpr K guard = 77;
  for (uint64_t count = 256; count < 1300; ++count) {
    std::vector<K> keys(count + 64, guard);
    for (uint64_t i = 0; i < count; ++i) keys[i + 32] = static_cast<K>(random() % (count % 3 ? 1000 : 3));
    const K pivot = keys[32 + random() % count];
    std::vector<K> want = keys;
    const uint64_t below = by.split(keys.data() + 32, count, pivot);
    for (uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(keys[i + 32] < pivot, i < below) << count << ", vectors " << static_cast<int>(kind);
    std::sort(want.begin() + 32, want.end() - 32);
    by.sort(keys.data() + 32, count);
    ASSERT_EQ(keys, want) << count << ", vectors " << static_cast<int>(kind);
  }
}

TEST(SortsOnTheHost, NothingBesideARowIsWritten) {
  for (const VectorKind kind : kinds_of_vectors()) {
    split_and_sort<uint32_t>(kind);
    split_and_sort<uint64_t>(kind);
  }
}

}  // namespace
}  // namespace adit::ops
