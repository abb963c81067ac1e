// The kernel of attention with every way to tile it, against plain loops in double.
#include "ops/attention.hpp"

#include <cmath>
#include <random>

#include "devices.hpp"

namespace adit::test {
namespace {

using ops::AttentionShape;
using ops::AttentionTiling;

using Floats = std::vector<float>;

Floats random_floats(uint64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats numbers(count);
  for (float& number : numbers) number = normal(random);
  return numbers;
}

// One query's result, and the largest it could be.
struct Row {
  std::vector<double> result, size;
};

Row expected_row(const AttentionShape& s, const float* query, const float* keys, const float* values,
                 uint64_t number) {
  const uint64_t visible = s.causal ? std::min<uint64_t>(s.keys, number + 1) : s.keys;
  std::vector<double> scores(visible);
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (uint64_t key = 0; key < visible; ++key) {
    for (uint32_t d = 0; d < s.depth; ++d) scores[key] += double{query[d]} * keys[key * s.depth + d];
    top = std::max(top, scores[key]);
  }
  for (double& score : scores) total += score = std::exp(score - top);
  Row row{std::vector<double>(s.width), std::vector<double>(s.width)};
  for (uint64_t key = 0; key < visible; ++key)
    for (uint32_t e = 0; e < s.width; ++e) {
      const double part = scores[key] / total * values[key * s.width + e];
      row.result[e] += part;
      row.size[e] += std::abs(part);
    }
  return row;
}

Buffer upload(Device& device, const Floats& numbers) {
  const Buffer buffer = device.allocate(numbers.size() * 4);
  device.write(buffer, numbers.data(), numbers.size() * 4);
  return buffer;
}

void check(Device& device, const AttentionShape& s, const AttentionTiling& tiling) {
  const Floats queries = random_floats(s.batch * s.groups * s.queries * s.depth, 1),
               keys = random_floats(s.batch * s.keys * s.depth, 2),
               values = random_floats(s.batch * s.keys * s.width, 3);
  Floats result(s.batch * s.groups * s.queries * s.width, NAN);
  const Buffer out = upload(device, result);
  device.run(*device.compile(attention_program(s, tiling)), attention_teams(s, tiling),
             {upload(device, queries), upload(device, keys), upload(device, values), out});
  device.read(out, result.data(), result.size() * 4);
  int wrong = 0;
  for (uint64_t head = 0; head < s.batch * s.groups; ++head)
    for (uint64_t q = 0; q < s.queries; ++q) {
      const uint64_t row = head * s.queries + q, batch = head / s.groups;
      const Row want = expected_row(s, &queries[row * s.depth], &keys[batch * s.keys * s.depth],
                                    &values[batch * s.keys * s.width], q);
      for (uint32_t e = 0; e < s.width; ++e) {
        const double allowed =
            0x1p-24 * (32 + s.depth + std::sqrt(static_cast<double>(s.keys))) * (want.size[e] + 0.01);
        if (!(std::abs(result[row * s.width + e] - want.result[e]) <= allowed)) ++wrong;
      }
    }
  EXPECT_EQ(wrong, 0) << tiling.block << "x" << tiling.tile << ":" << tiling.rows << "x" << tiling.across
                      << (tiling.interleaved ? " interleaved" : "") << (tiling.shuffles ? " by shuffles" : "")
                      << ", " << s.queries << " queries, " << s.keys << " keys of " << s.depth;
}

class AttentionOn : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!on().limits().lanes_by_hand) GTEST_SKIP() << "no kernels by lanes";
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionOn, testing::ValuesIn(device_ids()), test_name);

TEST_P(AttentionOn, EveryTiling) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const Limits& limits = on().limits();
  bool causal = false;
  // Each is a kernel to compile: every size once, both ways to meet.
  for (const AttentionTiling& tiling : {AttentionTiling{32, 32, 4, 8, 16, 32, false, false, false},
                                        AttentionTiling{32, 64, 8, 8, 8, 32, true, false, false},
                                        AttentionTiling{32, 32, 8, 8, 16, 16, false, true, false},
                                        AttentionTiling{64, 64, 8, 16, 8, 64, true, true, false},
                                        AttentionTiling{64, 64, 8, 8, 16, 64, true, true, false},
                                        AttentionTiling{128, 64, 8, 8, 8, 64, true, true, false},
                                        AttentionTiling{32, 64, 4, 16, 8, 16, false, true, false}}) {
    const uint32_t lanes = tiling.block / tiling.rows * tiling.across;
    const bool may_shuffle = limits.subgroup_shuffle &&
                             limits.subgroup_size >= (tiling.interleaved ? 2 : 1) * tiling.across &&
                             lanes % limits.subgroup_size == 0;
    if (lanes > limits.max_lanes || (tiling.shuffles && !may_shuffle)) continue;
    check(on(),
          {.batch = 2, .groups = 2, .queries = 37, .keys = 45, .depth = 12, .width = 40, .causal = causal},
          tiling);
    causal = !causal;
  }
}

// What a large GPU gets: blocks that leave room for several teams on a multiprocessor.
TEST(AttentionTiling, FitsTheDevice) {
  Limits limits;
  limits.lanes_by_hand = limits.subgroup_shuffle = limits.fixed_subgroups = limits.fused_fma = true;
  limits.storage16 = limits.float16 = true;
  limits.max_lanes = 1024, limits.shared_bytes = 48 * 1024, limits.subgroup_size = 32;
  AttentionShape shape{.batch = 128, .queries = 2048, .keys = 2048, .depth = 64, .width = 64};
  const auto usual = attention_tiling(shape, limits);
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->block, 128u);
  EXPECT_EQ(usual->tile, 64u);
  EXPECT_TRUE(usual->shuffles && usual->interleaved && usual->fused);
  EXPECT_EQ(attention_teams(shape, *usual), 128u * 16);
  limits.subgroup_size = 4;
  EXPECT_FALSE(attention_tiling(shape, limits)->shuffles);
  limits.shared_bytes = 16 * 1024;
  EXPECT_LT(attention_tiling(shape, limits)->block, 64u);
  limits.shared_bytes = 8 * 1024;
  EXPECT_FALSE(attention_tiling(shape, limits));  // no room
  limits.shared_bytes = 48 * 1024;
  for (const uint32_t depth : {1u, 40u, 50u, 64u, 80u, 96u, 128u}) {
    shape.depth = shape.width = depth;
    EXPECT_GE(attention_tiling(shape, limits)->block, 64u) << depth;
  }
  shape.width = 64, limits.multiprocessors = 4096;
  EXPECT_EQ(attention_tiling(shape, limits)->block, 64u);  // more teams
  shape.depth = 129, limits.shared_bytes = 1 << 20;
  EXPECT_FALSE(attention_tiling(shape, limits));
  shape.depth = 64, shape.type = kernel::Type::f64;
  EXPECT_FALSE(attention_tiling(shape, limits));
  shape.type = kernel::Type::f32, limits.max_loop_trips = 100;
  EXPECT_FALSE(attention_tiling(shape, limits));
}

}  // namespace
}  // namespace adit::test
