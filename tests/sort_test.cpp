// The kernels of sorting, in every form that a device may need, against std::stable_sort.
#include "ops/sort.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "devices.hpp"
#include "ops/sort_host.hpp"

namespace adit::ops {
namespace {

class Sorts : public test::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Sorts, testing::ValuesIn(test::device_ids()), test::test_name);

struct Results {
  std::vector<int32_t> values;
  std::vector<int64_t> places;
};

Results run(Device& on, const SortPlan& plan, const Limits& limits, const std::vector<int32_t>& x) {
  const Sort made = sort(plan, limits);
  const uint64_t count = x.size();
  std::vector<Buffer> tensors = {on.allocate(count * 4), on.allocate(count * 4), on.allocate(count * 8)};
  for (const uint64_t bytes : made.scratch) tensors.push_back(on.allocate(std::max<uint64_t>(4, bytes)));
  on.write(tensors[0], x.data(), count * 4);
  for (const SortPass& pass : made.passes) {
    std::vector<Argument> arguments;
    for (const uint8_t which : pass.buffers) arguments.emplace_back(tensors[which]);
    for (const uint32_t number : pass.numbers) arguments.emplace_back(number);
    on.run(*on.compile(made.programs[pass.program]), pass.teams, arguments);
  }
  Results found{std::vector<int32_t>(count), std::vector<int64_t>(count)};
  on.read(tensors[1], found.values.data(), count * 4);
  on.read(tensors[2], found.places.data(), count * 8);
  return found;
}

Results expected(const SortPlan& plan, const std::vector<int32_t>& x) {
  Results want{x, std::vector<int64_t>(x.size())};
  for (uint64_t row = 0; row < plan.outer * plan.inner; ++row) {
    const auto at = [&](uint64_t i) {
      return (row / plan.inner * plan.length + i) * plan.inner + row % plan.inner;
    };
    std::vector<int64_t> order(plan.length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const int32_t left = x[at(static_cast<uint64_t>(a))], right = x[at(static_cast<uint64_t>(b))];
      return plan.descending ? left > right : left < right;
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
  Device& on = this->on();
  Limits without = on.limits();
  without.lanes_by_hand = false;
  without.shared_bytes = 0;
  std::mt19937 random(20);
  for (int round = 0; round < 7; ++round) {
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
    const Results want = expected(plan, x);
    Results host{x, std::vector<int64_t>(x.size())};
    sort_on_host({plan.type, plan.outer, plan.length, plan.inner, plan.descending}, x.data(),
                 host.values.data(), host.places.data());
    EXPECT_TRUE(host.values == want.values && host.places == want.places) << "on the host, round " << round;
    const bool is_gpu = on.info().kind != DeviceKind::cpu;
    for (const Limits& limits : {on.limits(), without}) {
      if (!is_gpu && limits.lanes_by_hand) continue;
      const Results got = run(on, plan, limits, x);
      EXPECT_EQ(got.places, want.places) << "round " << round << ", rows of " << plan.length;
      EXPECT_EQ(got.values, want.values) << "round " << round << ", rows of " << plan.length;
    }
  }
}

}  // namespace
}  // namespace adit::ops
