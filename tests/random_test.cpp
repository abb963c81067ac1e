// Random numbers: the answers that Nx documents, published answers of Philox, and distributions by their
// moments and by the distance from the exact distribution function.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <adit/random.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

class Random : public OnDevice {
 protected:
  void SetUp() override { set_default_device(Device::open(GetParam())); }
  bool is_slow() { return on().info().kind == DeviceKind::software; }
  int64_t many() { return is_slow() ? 2000 : 20000; }
};
INSTANTIATE_TEST_SUITE_P(Devices, Random, testing::ValuesIn(device_ids()), test_name);

using Words = std::vector<uint32_t>;

void expect_near(const Tensor& x, const std::vector<double>& want, double relative) {
  const auto got = as_type(x, DType::f64).to_vector<double>();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], std::fabs(want[i]) * relative) << i;
}

TEST_P(Random, Keys) {
  EXPECT_EQ(random::key(12).to_vector<uint32_t>(), (Words{0, 12}));
  EXPECT_EQ(random::key(999999999999).to_vector<uint32_t>(), (Words{232, 3567587327}));
  EXPECT_EQ(random::split(random::key(1701)).to_vector<uint32_t>(),
            (Words{56197195, 1801093307, 961309823, 1704866707}));
  EXPECT_EQ(
      random::split(random::key(1701), 4).to_vector<uint32_t>(),
      (Words{4000152724, 2030591747, 2287976877, 2598630646, 2426625787, 580268518, 3136765380, 433355682}));
  EXPECT_EQ(random::fold_in(random::key(42), 99).to_vector<uint32_t>(), (Words{2015327502, 1351855566}));
  const Tensor data = tensor<int64_t>({{1, 99}, {1234, 13}});
  const Tensor folded = random::fold_in(random::key(42), data);
  EXPECT_EQ(folded.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(folded.to_vector<uint32_t>(), (Words{64467757, 2916123636, 2015327502, 1351855566, 1356445167,
                                                 2917756949, 3514951389, 229662949}));
}

Tensor drawn(uint64_t seed, const std::function<Tensor(Tensor)>& f) {
  return random::draw(random::key(seed), f).value;
}

TEST_P(Random, UniformAsInNx) {
  EXPECT_FLOAT_EQ(drawn(12, [](Tensor k) { return random::uniform(k, {}); }).item<float>(), 0.7691127f);
  EXPECT_FLOAT_EQ(drawn(1701, [](Tensor k) { return random::uniform(k, {}); }).item<float>(), 0.9728644f);
  const Tensor halves = drawn(1701, [](Tensor k) { return random::uniform(k, {3, 2}, 0, 1, DType::f16); });
  expect_near(halves, {0.754, 0.6484, 0.7295, 0.2148, 0.09766, 0.06934}, 5e-4);
  const Tensor pairs = drawn(1701, [](Tensor k) { return random::uniform(k, {2, 2}, 0, 1, DType::c64); });
  expect_near(real(pairs), {0.18404806, 0.55259156, 0.6074585, 0.2476865}, 1e-6);
  expect_near(imag(pairs), {0.65464616, 0.11568141, 0.81043756, 0.2197547}, 1e-6);
  // an odd count
  expect_near(random::uniform(random::key(2299922948), {5}),
              {0.40235483, 0.86897706, 0.87899947, 0.98497891, 0.83098864}, 1e-6);
  const Tensor key = random::key(44);
  EXPECT_FLOAT_EQ(random::uniform(key, {}, 0, 100).item<float>(), 0.9405970573425293f);
  EXPECT_EQ(random::uniform(key, {}, 0, 100, DType::f64).item<double>(), 49.70372348385783);
  // 0.4296875 * 100 = 42.96875; Nx's own backend cuts the product to 42.75, XLA and we round it.
  expect_near(random::uniform(key, {}, 0, 100, DType::bf16), {43}, 0);
}

TEST_P(Random, NormalAsInNx) {
  EXPECT_FLOAT_EQ(drawn(42, [](Tensor k) { return random::normal(k, {}); }).item<float>(), 1.3694695f);
  const Tensor halves = drawn(42, [](Tensor k) { return random::normal(k, {3, 2}, 0, 1, DType::f16); });
  expect_near(halves, {-0.3257, -0.772, 0.392, 0.534, 0.2708, -2.08}, 2e-3);
  const Tensor pairs = drawn(42, [](Tensor k) { return random::normal(k, {2, 2}, 0, 1, DType::c64); });
  expect_near(real(pairs), {-0.7632761, -0.1428289, 0.6784615, -2.2695384}, 1e-6);
  expect_near(imag(pairs), {0.86611277, -0.7384796, 0.41183108, -0.3689095}, 1e-6);
  const Tensor key = random::key(44);
  EXPECT_FLOAT_EQ(random::normal(key, {}, 0, 100).item<float>(), -234.9235382080078f);
  // 100 sqrt(2) erfinv(-0.005925530322843264) by mpmath; Nx's own backend, with a short erf_inv:
  // -0.74266187285.
  EXPECT_NEAR(random::normal(key, {}, 0, 100, DType::f64).item<double>(), -0.74266191929380767, 1e-15);
  expect_near(random::normal(key, {}, 0, 100, DType::bf16), {-17.625}, 8e-3);
  expect_near(random::normal(key, {}, 0, 100, DType::f16), {-17.15625}, 1e-3);
  const Tensor thousand = drawn(1337, [](Tensor k) { return random::normal(k, {1000}, 10, 5); });
  EXPECT_NEAR(mean(thousand).item<float>(), 9.700222f, 1e-4);
}

TEST_P(Random, WholeNumbersAsInNx) {
  EXPECT_EQ(drawn(1701, [](Tensor k) { return random::randint(k, {}, 1, 100); }).item<int32_t>(), 91);
  EXPECT_EQ(drawn(1701,
                  [](Tensor k) {
                    return random::randint(k, {3, 2}, 1, 100, DType::u32);
                  })
                .to_vector<uint32_t>(),
            (Words{9, 20, 19, 6, 71, 15}));
  const Tensor key = random::key(44);
  EXPECT_EQ(random::randint(key, {}, 0, 100, DType::u8).item<uint8_t>(), 12);
  EXPECT_EQ(random::randint(key, {}, 0, 100, DType::u64).item<uint64_t>(), 10u);
  EXPECT_EQ(random::randint(key, {}, 0, 100, DType::i64).item<int64_t>(), 10);
  EXPECT_EQ(random::randint(random::key(2274429428), {5}, 0, 10).to_vector<int32_t>(),
            (std::vector<int32_t>{1, 1, 4, 1, 9}));
  for (const int8_t v : random::randint(key, {500}, -100, 27, DType::i8).to_vector<int8_t>()) {
    EXPECT_GE(v, -100);
    EXPECT_LT(v, 27);
  }
}

TEST_P(Random, GumbelAsInNx) {
  EXPECT_NEAR(drawn(1, [](Tensor k) { return random::gumbel(k, {}); }).item<float>(), -0.729461f, 1e-6);
  expect_near(drawn(1,
                    [](Tensor k) {
                      return random::gumbel(k, {2, 3});
                    }),
              {0.6247938, -0.21740718, 0.76783276, 0.77784044, 4.0895305, 0.30290902}, 4e-6);
}

TEST_P(Random, PhiloxAsPublished) {
  const uint32_t zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int word = 0; word < 4; ++word)
    EXPECT_EQ(random::stream(0, 0, {1}, word).item<uint32_t>(), zeros[word]);
  const auto some = random::stream(7, 9, {10}).to_vector<uint32_t>();
  const auto more = random::stream(7, 9, {3, 5}).to_vector<uint32_t>();
  EXPECT_TRUE(std::equal(some.begin(), some.end(), more.begin())) << "a place depends on the shape";
  EXPECT_NE(random::stream(7, 10, {10}).to_vector<uint32_t>(), some);
  EXPECT_NE(random::stream(8, 9, {10}).to_vector<uint32_t>(), some);
}

// The largest distance from the distribution function, in units of 1 / sqrt(n); above 1.95 once in a
// thousand.
double distance(std::vector<double> x, const std::function<double(double)>& below) {
  std::sort(x.begin(), x.end());
  const auto n = static_cast<double>(x.size());
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double p = below(x[i]), at = static_cast<double>(i);
    largest = std::max({largest, p - at / n, (at + 1) / n - p});
  }
  return largest * std::sqrt(n);
}

std::vector<double> doubles(const Tensor& x) { return as_type(x, DType::f64).to_vector<double>(); }

// The regularised lower incomplete gamma function: a series, or a continued fraction beyond the mean.
double gamma_below(double a, double x) {
  if (x <= 0) return 0;
  const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (int n = 1; n < 1000; ++n) sum += term *= x / (a + n);
    return front * sum;
  }
  double fraction = 0;
  for (int n = 300; n > 0; --n) fraction = n * (n - a) / (x + 2 * n + 1 - a - fraction);
  return 1 - front / (x + 1 - a - fraction);
}

TEST_P(Random, DistributionsFollowTheirFunctions) {
  const Tensor key = random::key(2024);
  const Shape shape{many()};
  EXPECT_LT(distance(doubles(random::uniform(key, shape, -2, 3)), [](double x) { return (x + 2) / 5; }),
            1.95);
  EXPECT_LT(distance(doubles(random::normal(key, shape, 1, 2)),
                     [](double x) { return 0.5 * std::erfc((1 - x) / std::sqrt(8.0)); }),
            1.95);
  EXPECT_LT(
      distance(doubles(random::exponential(key, shape, 3)), [](double x) { return 1 - std::exp(-3 * x); }),
      1.95);
  EXPECT_LT(distance(doubles(random::gumbel(key, shape)), [](double x) { return std::exp(-std::exp(-x)); }),
            1.95);
  // It can fail: the wrong deviation is far off.
  EXPECT_GT(distance(doubles(random::normal(key, shape)), [](double x) { return 0.5 * std::erfc(-x / 2); }),
            1.95);
}

TEST_P(Random, GammaFollowsItsFunction) {
  for (const double alpha : {0.3, 1.0, 1.7, 40.0}) {
    const Tensor draws = random::gamma(random::key(5), full({}, alpha, DType::f32), {many()});
    const auto x = doubles(draws);
    EXPECT_LT(distance(x, [&](double v) { return gamma_below(alpha, v); }), 1.95) << alpha;
    const double average = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
    EXPECT_NEAR(average, alpha, 4 * std::sqrt(alpha / static_cast<double>(x.size()))) << alpha;
  }
  const Tensor alphas = tensor<double>({0.5, 1000.0});
  const Tensor both = random::gamma(random::key(6), alphas, {3, 2});
  EXPECT_EQ(both.dtype(), DType::f64);
  EXPECT_EQ(both.shape(), (Shape{3, 2}));
}

TEST_P(Random, CategoricalAndBernoulliCount) {
  const Tensor key = random::key(77);
  const int64_t n = many();
  const Tensor logits = broadcast_to(log(tensor<float>({0.1f, 0.2f, 0.7f})), {n, 3});
  const auto picks = doubles(random::categorical(key, logits));
  std::array<double, 3> counts{};
  for (const double pick : picks) counts[static_cast<size_t>(pick)] += 1 / static_cast<double>(n);
  const double slack = 4 / std::sqrt(static_cast<double>(n)) / 2;
  EXPECT_NEAR(counts[0], 0.1, slack);
  EXPECT_NEAR(counts[1], 0.2, slack);
  EXPECT_NEAR(counts[2], 0.7, slack);
  const auto heads = doubles(random::bernoulli(key, 0.25, {n}));
  EXPECT_NEAR(std::accumulate(heads.begin(), heads.end(), 0.0) / static_cast<double>(n), 0.25, slack);
}

TEST_P(Random, PermutationsHoldEveryNumberOnce) {
  for (const int64_t n : {0, 1, 2, 17, 300, 5000}) {
    const auto order = random::permutation(random::key(3), n).to_vector<int64_t>();
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(sorted[static_cast<size_t>(i)], i) << n;
    int64_t fixed = 0;
    for (int64_t i = 0; i < n; ++i) fixed += order[static_cast<size_t>(i)] == i;
    EXPECT_LT(fixed, 8);  // one on average
  }
  const Tensor x = tensor<float>({{1, 2}, {3, 4}, {5, 6}});
  const auto rows = random::permutation(random::key(8), x).to_vector<float>();
  for (size_t r = 0; r < 3; ++r) EXPECT_EQ(rows[2 * r] + 1, rows[2 * r + 1]) << "a row came apart";
}

// All six orders of three, about equally often.
TEST_P(Random, OrdersAreEquallyLikely) {
  std::array<int, 27> counts{};
  const int tries = is_slow() ? 120 : 600;
  for (int t = 0; t < tries; ++t) {
    const auto order = random::permutation(random::key(static_cast<uint64_t>(t)), 3).to_vector<int64_t>();
    ++counts[static_cast<size_t>(order[0] * 9 + order[1] * 3 + order[2])];
  }
  double chi_square = 0;
  for (const size_t code : {5u, 7u, 11u, 15u, 19u, 21u})
    chi_square += std::pow(counts[code] - tries / 6.0, 2) / (tries / 6.0);
  EXPECT_LT(chi_square, 20.5);  // five degrees of freedom, once in a thousand
}

TEST_P(Random, EmptyShapesAndErrors) {
  const Tensor key = random::key(1);
  EXPECT_EQ(random::uniform(key, {0, 3}).to_vector<float>().size(), 0u);
  EXPECT_EQ(random::randint(key, {0}, 0, 5).to_vector<int32_t>().size(), 0u);
  const auto message = [](const std::function<Tensor()>& f) -> std::string {
    try {
      f();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([&] { return random::uniform(random::split(key), {2}); }),
            "[uniform] key: expected u32 [2], got u32 [2, 2]");
  EXPECT_EQ(message([&] { return random::uniform(key, {2}, 0, 1, DType::i32); }),
            "[uniform] type: expected a float or complex, got i32");
  EXPECT_EQ(message([&] { return random::randint(key, {2}, 5, 5); }),
            "[randint] high: expected above low, 5, got 5");
  EXPECT_EQ(message([&] { return random::bits(key, {2}, DType::i32); }),
            "[bits] type: expected u8 to u64, got i32");
}

}  // namespace
}  // namespace adit::test
